"""Threads that compute on one core each, for the parts of a pass.

Parts that run side by side meet once, at the end of the pass. In one pass that is spread over the same cores the
threads meet in every operation, and wait for the slowest in each.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence, Sized
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Final, TypeVar

import torch

_LEAST_TOKENS: Final = 96
_MOST_UNEVEN: Final = 1.15

P = TypeVar("P")
R = TypeVar("R")
S = TypeVar("S", bound=Sized)


class ComputeThreads:
    """`count` threads in which torch uses one core; elsewhere it goes on using as many as it did."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._pool = ThreadPoolExecutor(count, "laya-pass-part", initializer=_use_one_core)
        cores = torch.get_num_threads()
        all_there = threading.Barrier(count)
        list(self._pool.map(lambda _: all_there.wait(), range(count)))
        torch.set_num_threads(cores)  # what a thread sets for itself becomes the default of threads that begin later

    def map(self, function: Callable[[P], R], parts: Iterable[P]) -> list[R]:
        """The results for all parts, in order; the first error is raised once every part has ended."""
        futures = [self._pool.submit(function, part) for part in parts]
        for future in futures:
            future.exception()
        return [future.result() for future in futures]

    def shutdown(self) -> None:
        """End the threads; parts that run come to their end first."""
        self._pool.shutdown()


def parts_of(rows: Sequence[S], count: int) -> list[Sequence[S]]:
    """Rows, whose sizes are their tokens, as `count` runs of about as many; all in one where that is not worth it.

    It is not where the parts would be small, or so uneven that threads would wait for the largest.
    """
    lengths = list(map(len, rows))
    share = sum(lengths) / count
    if len(rows) < count or share < _LEAST_TOKENS:
        return [rows]
    ends = [0]
    taken = 0.0
    for number, length in enumerate(lengths):
        # A row goes where the greater half of it belongs.
        while len(ends) < count and taken + length / 2 > share * len(ends):
            ends.append(number)
        taken += length
    ends += [len(rows)] * (count + 1 - len(ends))
    parts = [rows[start:end] for start, end in pairwise(ends)]
    largest = max(sum(map(len, part)) for part in parts)
    return parts if all(parts) and largest <= _MOST_UNEVEN * share else [rows]


def _use_one_core() -> None:
    torch.get_num_threads()  # sets this thread up, which would undo what comes next
    torch.set_num_threads(1)
