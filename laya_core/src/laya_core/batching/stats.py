"""What the engine has done so far, in numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Final

from attrs import define, field, frozen

_REMEMBERED: Final = 1024
PERCENTILES: Final = (50, 95, 99)


@frozen
class Stats:
    """A consistent view of an engine at one moment.

    Args:
        passes: forward passes, retries included.
        rows: rows scored; `shared_rows` of them took the score of an identical row in their pass.
        real_tokens, padded_tokens: tokens of the rows that were computed, and with their padding.
        failed_passes: passes that raised and were split.
        out_of_memory: passes that ran out of memory.
        max_batch_tokens: the token budget at the moment; None before it is known.
        queued_rows, queued_requests: what waits for a pass.
        finished, cancelled, failed: requests by how they ended.
        wait_ms: percentile to milliseconds from being queued to the first pass, over the last 1024 requests.
        pass_ms: percentile to milliseconds of a pass, over the last 1024.
    """

    passes: int
    rows: int
    shared_rows: int
    real_tokens: int
    padded_tokens: int
    failed_passes: int
    out_of_memory: int
    max_batch_tokens: int | None
    queued_rows: int
    queued_requests: int
    finished: int
    cancelled: int
    failed: int
    wait_ms: Mapping[int, float]
    pass_ms: Mapping[int, float]

    @property
    def padding(self) -> float:
        """The share of padding in the tokens that were computed, from 0 to 1."""
        return 1.0 - self.real_tokens / self.padded_tokens if self.padded_tokens else 0.0


@define
class Counters:
    """The engine's own counts; its lock guards them."""

    passes: int = 0
    rows: int = 0
    shared_rows: int = 0
    real_tokens: int = 0
    padded_tokens: int = 0
    failed_passes: int = 0
    out_of_memory: int = 0
    finished: int = 0
    cancelled: int = 0
    failed: int = 0
    waits: deque[float] = field(factory=lambda: deque(maxlen=_REMEMBERED))
    pass_times: deque[float] = field(factory=lambda: deque(maxlen=_REMEMBERED))

    def view(self, max_batch_tokens: int | None, queued_rows: int, queued_requests: int) -> Stats:
        """The counts as they are."""
        return Stats(
            self.passes,
            self.rows,
            self.shared_rows,
            self.real_tokens,
            self.padded_tokens,
            self.failed_passes,
            self.out_of_memory,
            max_batch_tokens,
            queued_rows,
            queued_requests,
            self.finished,
            self.cancelled,
            self.failed,
            _percentiles(self.waits),
            _percentiles(self.pass_times),
        )


def _percentiles(seconds: deque[float]) -> dict[int, float]:
    """Nearest-rank percentiles in milliseconds; none without values."""
    ordered = sorted(seconds)
    return {
        percent: ordered[max(0, -(-len(ordered) * percent // 100) - 1)] * 1000.0 for percent in PERCENTILES if ordered
    }
