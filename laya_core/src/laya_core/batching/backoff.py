"""The token budget of a pass, lower for a while after the device ran out of memory. Pure: no torch, no clock."""

from __future__ import annotations

from typing import Final

RECOVERY_SECONDS: Final = 30.0


class MemoryBackoff:
    """Halves a budget when memory runs out, and doubles it again after every `recovery` seconds without trouble.

    Args:
        full: padded tokens of a pass when all is well.
        recovery: seconds.
    """

    def __init__(self, full: int, recovery: float = RECOVERY_SECONDS) -> None:
        self.full = full
        self._recovery = recovery
        self._halvings = 0
        self._since = 0.0

    @property
    def is_lowered(self) -> bool:
        """Whether the last known budget is below the full one."""
        return self._halvings > 0

    def limit(self, now: float) -> int:
        """The budget at `now` seconds."""
        recovered = int((now - self._since) // self._recovery) if self._halvings else 0
        if recovered > 0:
            self._halvings = max(0, self._halvings - recovered)
            self._since = now
        return max(1, self.full >> self._halvings)

    def halve(self, now: float) -> int:
        """Note that memory ran out at `now`, and return the budget from then on."""
        if self.limit(now) > 1:
            self._halvings += 1
        self._since = now
        return max(1, self.full >> self._halvings)
