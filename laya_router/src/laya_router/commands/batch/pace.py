"""How many lines to answer at once."""

from __future__ import annotations

from typing import Final

from attrs import define

FEWEST: Final = 32
MOST: Final = 256
_SECONDS: Final = 5.0


@define
class Pace:
    """Chunks of about five seconds: short enough to see progress and to lose little.

    In a shorter one fewer rows are of a length. On one core with `mini`, chunks of 8, 40, 80 and 200 tickets cost 0.41,
    0.30, 0.29 and 0.28 seconds of computing a ticket.
    """

    lines: int = FEWEST

    def took(self, lines: int, seconds: float) -> None:
        """Learn from a chunk. The next may have twice as many lines at most; one the input cut short teaches nothing.

        Args:
            lines: how many it had.
        """
        if lines >= self.lines:
            in_time = int(lines * _SECONDS / seconds) if seconds > 0 else MOST
            self.lines = max(FEWEST, min(in_time, 2 * lines, MOST))
