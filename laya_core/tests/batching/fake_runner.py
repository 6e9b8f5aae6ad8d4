"""The one fake of the batching tests: a runner that makes scores up, and fails when it is told to."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from laya_core.decoding import RowScores
from laya_core.prompt import Row


class FakeOutOfMemory(RuntimeError):
    """What a pass with too many rows raises."""


class Poisoned(ValueError):
    """What a pass with a bad row raises."""


def made_up(row: Row) -> RowScores:
    """Scores that tell rows apart."""
    weight = sum(place * token for place, token in enumerate(row.ids, start=1)) % 997
    return RowScores(tuple((weight * (slot + 1)) % 7 / 3.0 for slot in range(len(row.prefix.markers))), weight / 997)


class FakeRunner:
    """Scores rows by `made_up`.

    Args:
        poison: a token; passes with a row that holds it fail.
        capacity: rows a pass may have before memory runs out; None for any number.
        rescues: whether rows that do not fit even alone are scored elsewhere.
    """

    group_cost = 64
    padding_interval = 1

    def __init__(self, poison: int = -1, capacity: int | None = None, rescues: bool = False) -> None:
        self.poison = poison
        self.capacity = capacity
        self.rescues = rescues
        self.failures: list[BaseException] = []
        """What the next passes raise."""
        self.open = threading.Event()
        """Passes wait until it is set."""
        self.open.set()
        self.entered = threading.Semaphore(0)
        """Released by every pass that begins."""
        self.paused = threading.Event()
        """Set by a test while no pass may run."""
        self.wrongs: list[str] = []
        self.passes: list[list[Row]] = []
        self.threads: set[int] = set()
        self.started = 0
        self.budget = 256
        self._one_at_a_time = threading.Lock()

    def padded_tokens(self, lengths: Sequence[int]) -> int:
        return len(lengths) * max(lengths)

    def start(self) -> None:
        self.started += 1

    def stop(self) -> None:
        self.started -= 1

    def warm_up(self, max_tokens: int | None) -> int:
        return max_tokens or self.budget

    def collate(self, rows: Sequence[Row]) -> Any:
        return [row.ids for row in rows]

    def run(self, rows: Sequence[Row], inputs: Any) -> list[RowScores]:
        if not self._one_at_a_time.acquire(blocking=False):
            self.wrongs.append("two passes at once")
            raise AssertionError
        try:
            self.threads.add(threading.get_ident())
            if self.paused.is_set():
                self.wrongs.append("a pass inside pause()")
            if [row.ids for row in rows] != inputs:
                self.wrongs.append("tensors of other rows")
            self.entered.release()
            self.open.wait()
            self.passes.append(list(rows))
            if self.failures:
                raise self.failures.pop()
            if self.capacity is not None and len(rows) > self.capacity:
                raise FakeOutOfMemory(f"{len(rows)} rows")
            if any(self.poison in row.ids for row in rows):
                raise Poisoned("a poisoned row")
            return [made_up(row) for row in rows]
        finally:
            self._one_at_a_time.release()

    def is_out_of_memory(self, error: Exception) -> bool:
        return isinstance(error, FakeOutOfMemory)

    def release_memory(self) -> None: ...

    def rescue(self, rows: Sequence[Row], error: Exception) -> list[RowScores]:
        if not self.rescues:
            raise error
        return [made_up(row) for row in rows]
