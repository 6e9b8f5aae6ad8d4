"""Which rows fit in one pass, and how they are grouped so that little of it is padding. Pure: no torch, no threads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from attrs import frozen


class QueuedRow(Protocol):
    """What a scheduler knows of a row. Rows are hashed and compared by identity."""

    @property
    def length(self) -> int:
        """Tokens of the row."""

    @property
    def owner(self) -> object:
        """The request it belongs to, compared by identity."""

    @property
    def arrived(self) -> float:
        """When it was queued, in seconds."""


R = TypeVar("R", bound=QueuedRow)


@frozen
class PassLimits:
    """What one pass may hold.

    Args:
        max_tokens: padded tokens, summed over the groups of the pass; a longer row runs alone.
        max_requests: requests that share the pass; None for no bound.
        padding_interval: widths are rounded up to a multiple of it.
        group_cost: what one more group costs, in padded tokens.
    """

    max_tokens: int
    max_requests: int | None = None
    padding_interval: int = 1
    group_cost: int = 64

    def width(self, length: int) -> int:
        """The padded width of a row."""
        return -(-length // self.padding_interval) * self.padding_interval

    def padded_tokens(self, group: Sequence[QueuedRow]) -> int:
        """Padded tokens of rows that run together."""
        return len(group) * self.width(max(row.length for row in group))


def pack(candidates: Iterable[R], limits: PassLimits) -> list[list[R]]:
    """Take the longest run of candidates, in order, that fits in one pass; the first always does.

    Returns:
        The rows taken, as groups of like length; no group for no candidates.
    """
    taken = _take(candidates, limits)
    while True:
        groups = group_by_length(taken, limits)
        padded = sum(map(limits.padded_tokens, groups))
        if len(taken) <= 1 or padded <= limits.max_tokens:
            return groups
        del taken[max(1, min(len(taken) - 1, len(taken) * limits.max_tokens // padded)) :]


def group_by_length(rows: Sequence[R], limits: PassLimits) -> list[list[R]]:
    """Split rows into groups, longest rows first, so that padding plus the cost of the groups is least.

    Exact, by dynamic programming over the distinct widths.
    """
    by_width: dict[int, list[R]] = {}
    for row in rows:
        by_width.setdefault(limits.width(row.length), []).append(row)
    widths = sorted(by_width, reverse=True)
    best = [0]
    start_of = [0]
    for end in range(1, len(widths) + 1):
        least, chosen, count = -1, 0, 0
        for start in range(end - 1, -1, -1):
            count += len(by_width[widths[start]])
            cost = best[start] + limits.group_cost + widths[start] * count
            if least < 0 or cost < least:
                least, chosen = cost, start
        best.append(least)
        start_of.append(chosen)
    groups: list[list[R]] = []
    end = len(widths)
    while end:
        start = start_of[end]
        groups.append([row for width in widths[start:end] for row in by_width[width]])
        end = start
    return groups[::-1]


def _take(candidates: Iterable[R], limits: PassLimits) -> list[R]:
    """Candidates up to the budget as if nothing were padded."""
    taken: list[R] = []
    owners: set[int] = set()
    tokens = 0
    for row in candidates:
        tokens += limits.width(row.length)
        owners.add(id(row.owner))
        too_many = limits.max_requests is not None and len(owners) > limits.max_requests
        if taken and (tokens > limits.max_tokens or too_many):
            break
        taken.append(row)
    return taken
