"""How many lines to answer at once."""

from __future__ import annotations

from typing import Final

from attrs import define

FEWEST: Final = 8
MOST: Final = 256
_SECONDS: Final = 1.0


@define
class Pace:
    """Chunks of about a second: long enough to share passes, short enough to see progress and to lose little."""

    lines: int = FEWEST

    def took(self, lines: int, seconds: float) -> None:
        """Learn from a chunk. The next may have twice as many lines at most; one the input cut short teaches nothing.

        Args:
            lines: how many it had.
        """
        if lines >= self.lines:
            in_time = int(lines * _SECONDS / seconds) if seconds > 0 else MOST
            self.lines = max(FEWEST, min(in_time, 2 * lines, MOST))
