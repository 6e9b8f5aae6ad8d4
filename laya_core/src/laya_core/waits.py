"""How long a caller is willing to wait."""

from __future__ import annotations

from numbers import Real
from threading import TIMEOUT_MAX
from typing import cast


def checked_timeout(seconds: object) -> float | None:
    """A `timeout=` in seconds as the wait functions take it, None for no bound; what is below zero does not wait.

    Raises:
        ValueError: it is no number.
    """
    if seconds is None:
        return None
    number = cast("float", seconds)  # any real number will do; a whole one may be too large for a float
    if isinstance(seconds, bool) or not isinstance(seconds, Real) or number != number:
        raise ValueError(f"timeout must be a number of seconds, or None to wait without a bound, not {seconds!r}")
    return float(min(max(number, 0.0), TIMEOUT_MAX))
