"""The requests of an engine: which wait, which run, how they end, and the counts of all that. No lock of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Literal

from laya_core.decoding import RowScores

from .backoff import MemoryBackoff
from .config import ContinuousBatchingConfig
from .packing import PassLimits
from .rows import RowRequest, RowTicket
from .runner import Runner
from .scheduler import Scheduler, make_scheduler
from .stats import Counters, Stats

_DEFAULT_BUDGET = 2_048


class RequestQueue:
    """State of an engine, guarded by the engine's lock.

    Args:
        config: scheduler and budgets.

    Raises:
        ValueError: it names no scheduler there is.
    """

    def __init__(self, config: ContinuousBatchingConfig) -> None:
        self._config = config
        self._scheduler: Scheduler[Any] = make_scheduler(config)
        self._unfinished: dict[int, RowRequest] = {}
        self._waiting = 0
        self._budget = None if config.max_batch_tokens is None else MemoryBackoff(config.max_batch_tokens)
        self.counters = Counters()

    @property
    def has_rows(self) -> bool:
        """Whether rows wait for a pass."""
        return len(self._scheduler) > 0

    @property
    def is_full(self) -> bool:
        """Whether as many requests wait as may."""
        return 0 < self._config.max_queue_size <= self._waiting

    def add(self, request: RowRequest) -> None:
        """Queue the rows of a request; one without rows ends at once."""
        if not request.rows:
            self.end(request, "finished")
            return
        request.queued_at = perf_counter()
        request.tickets = tuple(RowTicket(request, index) for index in range(len(request.rows)))
        request.queued = len(request.tickets)
        self._unfinished[id(request)] = request
        self._waiting += 1
        for ticket in request.tickets:
            self._scheduler.add(ticket)

    def take(self, runner: Runner) -> list[list[RowTicket]]:
        """Take the rows of the next pass, in the groups in which they run."""
        now = perf_counter()
        limits = PassLimits(
            _DEFAULT_BUDGET if self._budget is None else self._budget.limit(now),
            self._config.max_requests_per_batch,
            runner.padding_interval,
            runner.group_cost,
        )
        groups: list[list[RowTicket]] = self._scheduler.next_pass(limits, now)
        if not groups and self.has_rows:
            raise RuntimeError(f"scheduler {self._config.scheduler_type!r} takes no row although some are queued")
        for group in groups:
            for ticket in group:
                request = ticket.owner
                if request.scheduled_at is None:
                    request.scheduled_at, request.status = now, "running"
                    self.counters.waits.append(now - request.queued_at)
                request.queued -= 1
                self._waiting -= not request.queued
        return groups

    def leave(self, request: RowRequest) -> None:
        """Take the rows of a request that still wait out of the queue."""
        if request.queued:
            for ticket in request.tickets:
                self._scheduler.remove(ticket)
            request.queued = 0
            self._waiting -= 1

    def settle_row(self, request: RowRequest, index: int, scores: RowScores) -> None:
        """Note the scores of a row, unless its request has ended."""
        if request.has_ended:
            return
        found = request.scores
        if not isinstance(found, list):
            found = request.scores = [None] * len(request.rows)
        if found[index] is not None:
            return
        found[index] = scores
        request.left -= 1
        request.on_row(index)
        if not request.left:
            self.end(request, "finished")

    def end(
        self,
        request: RowRequest,
        status: Literal["finished", "cancelled", "failed"],
        error: BaseException | None = None,
    ) -> None:
        """Give a request its final status, unless it has one."""
        if request.has_ended:
            return
        self.leave(request)
        request.status, request.error, request.finished_at = status, error, perf_counter()
        request.tickets = ()
        self._unfinished.pop(id(request), None)
        setattr(self.counters, status, getattr(self.counters, status) + 1)
        request.on_end()

    def fail_all(self, error: Callable[[], BaseException]) -> None:
        """Fail every request that has not ended, each with an error of its own."""
        for request in list(self._unfinished.values()):
            self.end(request, "failed", error())

    def start_over(self) -> None:
        """Empty the queue without asking the scheduler, as that may be what failed."""
        self._scheduler = make_scheduler(self._config)
        self._waiting = 0
        for request in self._unfinished.values():
            request.queued = 0

    def note_pass(self, rows: int, lengths: Sequence[int], padded: int, seconds: float) -> None:
        """Count a pass of rows of these lengths, `padded` tokens with padding, that stood for `rows` rows."""
        counters = self.counters
        counters.passes += 1
        counters.pass_times.append(seconds)
        counters.rows += rows
        counters.shared_rows += rows - len(lengths)
        counters.real_tokens += sum(lengths)
        counters.padded_tokens += padded

    def note_failure(self, out_of_memory: bool) -> tuple[int, int] | None:
        """Count a pass that failed.

        Returns:
            The lowered and the full token budget, when it is lowered for the first time in a while.
        """
        self.counters.failed_passes += 1
        if not out_of_memory:
            return None
        self.counters.out_of_memory += 1
        if self._budget is None:
            self._budget = MemoryBackoff(_DEFAULT_BUDGET)
        first = not self._budget.is_lowered
        lowered = self._budget.halve(perf_counter())
        return (lowered, self._budget.full) if first else None

    def set_budget(self, tokens: int) -> None:
        """Give passes a token budget, unless they have one."""
        if self._budget is None:
            self._budget = MemoryBackoff(tokens)

    def stats(self) -> Stats:
        """The counts as they are."""
        budget = None if self._budget is None else self._budget.limit(perf_counter())
        return self.counters.view(budget, len(self._scheduler), self._waiting)
