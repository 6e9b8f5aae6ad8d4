"""Which rows go next. Pure: no torch, no threads and no clock; whoever owns a scheduler guards it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from .config import ContinuousBatchingConfig
from .packing import PassLimits, QueuedRow, pack

R = TypeVar("R", bound=QueuedRow)


class Scheduler(Protocol[R]):
    """A queue of rows that decides which of them share the next pass."""

    def add(self, row: R) -> None:
        """Queue a row behind those that are there."""

    def remove(self, row: R) -> bool:
        """Take a row out of the queue; False if it is not in it. O(1)."""

    def next_pass(self, limits: PassLimits, now: float) -> list[list[R]]:
        """Take the rows of the next pass out of the queue, as groups that run one after the other.

        Args:
            now: the time, on the clock of `row.arrived`.
        """

    def __len__(self) -> int:
        """Rows in the queue."""


SchedulerFactory: TypeAlias = "Callable[[ContinuousBatchingConfig], Scheduler[QueuedRow]]"


class FifoScheduler(Generic[R]):
    """Rows leave in the order in which they came."""

    def __init__(self) -> None:
        # A plain dictionary takes half the memory of an ordered one, but keeps the gaps of what was removed and gets
        # slow at the front; it is made anew when the gaps are as many as the rows.
        self._rows: dict[R, None] = {}
        self._gaps = 0

    def add(self, row: R) -> None:
        self._rows[row] = None

    def remove(self, row: R) -> bool:
        if row not in self._rows:
            return False
        del self._rows[row]
        self._gaps += 1
        if self._gaps > len(self._rows):
            self._rows, self._gaps = dict.fromkeys(self._rows), 0
        return True

    def next_pass(self, limits: PassLimits, now: float) -> list[list[R]]:
        groups = pack(self._rows, limits)
        for group in groups:
            for row in group:
                self.remove(row)
        return groups

    def __len__(self) -> int:
        return len(self._rows)


class ShortestScheduler(Generic[R]):
    """Short rows first, so that rows of like length meet; a row that waited long enough is no longer overtaken.

    Args:
        max_overtake_seconds: from this wait on, a row goes before every row that came after it.
    """

    def __init__(self, max_overtake_seconds: float) -> None:
        self._patience = max_overtake_seconds
        self._arrivals: OrderedDict[R, None] = OrderedDict()
        self._by_length: dict[int, OrderedDict[R, None]] = {}

    def add(self, row: R) -> None:
        self._arrivals[row] = None
        self._by_length.setdefault(row.length, OrderedDict())[row] = None

    def remove(self, row: R) -> bool:
        if row not in self._arrivals:
            return False
        del self._arrivals[row]
        alike = self._by_length[row.length]
        del alike[row]
        if not alike:
            del self._by_length[row.length]
        return True

    def next_pass(self, limits: PassLimits, now: float) -> list[list[R]]:
        groups = pack(self._in_order(now), limits)
        for group in groups:
            for row in group:
                self.remove(row)
        return groups

    def __len__(self) -> int:
        return len(self._arrivals)

    def _in_order(self, now: float) -> Iterator[R]:
        def is_overdue(row: R) -> bool:
            return now - row.arrived >= self._patience

        yield from takewhile(is_overdue, self._arrivals)
        for length in sorted(self._by_length):
            yield from (row for row in self._by_length[length] if not is_overdue(row))


_factories: Final[dict[str, SchedulerFactory]] = {
    "fifo": lambda config: FifoScheduler(),
    "shortest": lambda config: ShortestScheduler(config.max_overtake_seconds),
}


def register_scheduler(name: str, factory: SchedulerFactory) -> None:
    """Make a scheduler available as `scheduler_type=name`.

    Args:
        factory: makes an empty scheduler for one engine from its config.

    Raises:
        ValueError: the name is taken.
    """
    if name in _factories:
        raise ValueError(f"there is a scheduler {name!r} already; choose another name")
    _factories[name] = factory


def make_scheduler(config: ContinuousBatchingConfig) -> Scheduler[QueuedRow]:
    """The scheduler that `config` names.

    Raises:
        ValueError: there is none of that name.
    """
    factory = _factories.get(config.scheduler_type)
    if factory is None:
        raise ValueError(
            f"scheduler_type={config.scheduler_type!r}: must be one of {', '.join(map(repr, sorted(_factories)))}"
        )
    return factory(config)
