"""Queue, schedule, run, deliver: requests go in from any thread, the worker's turns answer them."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

from laya_core.decoding import RowScores
from laya_core.prompt import Row
from laya_hooks.errors import QueueFull, RequestCancelled

from .backoff import MemoryBackoff
from .config import ContinuousBatchingConfig
from .errors import EngineCrashed, EngineStopped
from .packing import PassLimits
from .rows import RowRequest, RowTicket
from .runner import Runner
from .scheduler import Scheduler, make_scheduler
from .stats import Counters, Stats
from .worker import PassWorker, join_worker

_log = logging.getLogger(__name__)

State: TypeAlias = Literal["new", "running", "stopping", "stopped"]
_DEFAULT_BUDGET: Final = 2_048


@frozen(eq=False)
class _Pass:
    """Rows that run together; equal rows share a place in the pass."""

    tickets: list[RowTicket]
    rows: list[Row]
    places: list[int]
    inputs: Any


class RowEngine:
    """Scores rows of many requests in shared passes.

    Args:
        runner: runs the passes.
        config: budgets, scheduler and switches.
        collate_ahead: collate the next pass while one runs.
        on_drained: called once the last request before a stop has ended, or after a crash.
    """

    def __init__(
        self,
        runner: Runner,
        config: ContinuousBatchingConfig,
        *,
        collate_ahead: bool = False,
        on_drained: Callable[[], object] = lambda: None,
    ) -> None:
        self._runner: Runner | None = runner
        self._config = config
        self._collate_ahead = collate_ahead
        self._on_drained = on_drained
        self._lock = threading.Lock()  # guards every field below
        self._room = threading.Condition(self._lock)  # a place in the queue is free, or none will be
        self._quiet = threading.Condition(self._lock)  # no pass runs
        self._state: State = "new"
        self._cause: BaseException | None = None
        self._discard_runner = False
        self._scheduler: Scheduler[Any] = make_scheduler(config)
        self._unfinished: dict[int, RowRequest] = {}
        self._queued_requests = 0
        self._counters = Counters()
        self._budget = None if config.max_batch_tokens is None else MemoryBackoff(config.max_batch_tokens)
        self._warm = False
        self._warm_ups: list[threading.Event] = []
        self._pausing: dict[int, int] = {}
        self._in_pass = False
        self._has_turn = False
        self._worker: PassWorker | None = None
        self._drained = threading.Event()
        self._drained.set()
        self._collator: ThreadPoolExecutor | None = None
        self._ended_collator: ThreadPoolExecutor | None = None
        self._ahead: Future[list[_Pass]] | None = None

    @property
    def state(self) -> State:
        """Where it is in its life."""
        return self._state

    @property
    def is_running(self) -> bool:
        """Whether requests are being answered, those of a stop that drains included; not in a forked child."""
        worker = self._worker
        return self._state in ("running", "stopping") and worker is not None and worker.is_alive

    @property
    def takes_requests(self) -> bool:
        """Whether `submit` would accept and answer a request."""
        worker = self._worker
        return self._state == "running" and worker is not None and worker.is_alive

    def start(self) -> None:
        """Begin to answer; nothing happens if it runs.

        Raises:
            RuntimeError: it is being stopped, or its model is gone.
        """
        with self._lock:
            if self._state == "running":
                return
            if self._state == "stopping":
                raise RuntimeError("this engine is stopping; wait for it with stop() before you start it again")
            if self._runner is None:
                raise RuntimeError("this engine was destroyed; make a new one with init_continuous_batching()")
            self._runner.start()
            if self._collate_ahead:
                self._collator = ThreadPoolExecutor(1, "laya-collate")
            self._worker = join_worker()
            self._leaving = weakref.finalize(self, self._worker.leave_later)
            self._leaving.atexit = False
            self._state, self._cause = "running", None
            self._drained.clear()
            self._take_a_turn()

    def submit(self, request: RowRequest, timeout: float | None = None) -> None:
        """Queue the rows of a request; one without rows ends at once.

        Args:
            timeout: seconds to wait for a place in a full queue; None for ever.

        Raises:
            EngineStopped: it was stopped, or has crashed.
            QueueFull: no place came free in time.
            RequestCancelled: the request was cancelled while it waited for a place.
        """
        deadline = None if timeout is None else perf_counter() + timeout
        with self._lock:
            self._check_open()
            while self._is_full() and request.rows and not request.has_ended:
                remaining = None if deadline is None else deadline - perf_counter()
                if (remaining is not None and remaining <= 0) or not self._room.wait(remaining):
                    if not self._is_full():
                        break
                    raise QueueFull(
                        f"the queue holds max_queue_size={self._config.max_queue_size} requests, and none of them left "
                        f"it within {timeout:g} s; send less at once, or raise max_queue_size"
                    )
                self._check_open()
            if request.has_ended:
                raise RequestCancelled("the request was cancelled before it was queued")
            if not request.rows:
                self._end(request, "finished")
                return
            request.queued_at = perf_counter()
            request.tickets = [RowTicket(request, index) for index in range(len(request.rows))]
            request.queued = len(request.tickets)
            self._unfinished[id(request)] = request
            self._queued_requests += 1
            for ticket in request.tickets:
                self._scheduler.add(ticket)
            self._take_a_turn()

    def cancel(self, request: RowRequest, reason: str = "the request was cancelled") -> bool:
        """End a request as cancelled, unless it has ended; what of it is in a pass is dropped on arrival."""
        with self._lock:
            if request.has_ended:
                return False
            self._leave_queue(request)
            self._end(request, "cancelled", RequestCancelled(reason))
            self._room.notify_all()  # it may be waiting there itself
        return True

    def stop(self, *, hard: bool = False, discard_runner: bool = False) -> None:
        """Take no more requests, and end when those that are here are answered, or failed if `hard`; returns at once.

        Args:
            discard_runner: let go of the model, in the thread that ran its passes.

        Raises:
            RuntimeError: this thread holds the engine paused, and it would wait for itself.
        """
        with self._lock:
            if threading.get_ident() in self._pausing:
                raise RuntimeError("stop() inside pause() would wait for itself; leave the block first")
            self._discard_runner = self._discard_runner or discard_runner
            if self._state == "stopped":
                self._let_go_of_the_runner()
                return
            never_ran = self._state == "new"
            self._state = "stopping"
            if hard or never_ran:
                self._fail_everything(lambda: EngineStopped("the engine was stopped before this request was answered"))
            self._room.notify_all()
            if never_ran:
                self._settle()
            else:
                self._take_a_turn()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it has stopped; False after `timeout` seconds."""
        worker = self._worker
        if worker is not None and not worker.is_alive:
            return True  # a forked child
        if not self._drained.wait(timeout):
            return False
        if worker is not None and worker.thread is not threading.current_thread():
            if self._ended_collator is not None:
                self._ended_collator.shutdown()
            if worker.ends:
                worker.thread.join()
        return True

    def warm_up(self, timeout: float | None = None) -> bool:
        """Run what is slow the first time, unless that was done, and wait for it; False after `timeout` seconds."""
        done = threading.Event()
        with self._lock:
            if self._warm:
                return True
            self._check_open()
            self._warm_ups.append(done)
            self._take_a_turn()
        return done.wait(timeout)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Let no pass run inside the block; the queue and the results stay. May be nested, and held by several."""
        thread = threading.get_ident()
        with self._lock:
            self._pausing[thread] = self._pausing.get(thread, 0) + 1
        try:
            with self._lock:
                while self._in_pass:
                    self._quiet.wait()
            yield
        finally:
            with self._lock:
                self._pausing[thread] -= 1
                if not self._pausing[thread]:
                    del self._pausing[thread]
                if not self._pausing:
                    self._take_a_turn()

    def is_paused_by_this_thread(self) -> bool:
        """Whether the calling thread is inside `pause`."""
        return threading.get_ident() in self._pausing

    def stats(self) -> Stats:
        """The counts of this moment."""
        with self._lock:
            budget = None if self._budget is None else self._budget.limit(perf_counter())
            return self._counters.view(budget, len(self._scheduler), self._queued_requests)

    def step(self) -> None:
        """One pass, in the worker's thread."""
        try:
            if self._begin_turn():
                self._warm_up_once()
                for prepared in self._next_pass():
                    self._score(prepared)
                self._end_turn()
        except BaseException as error:  # whatever it is, nobody may be left waiting
            _log.exception("the batching engine failed; its requests are answered with the error")
            self._crash(error)

    def _take_a_turn(self) -> None:
        if not self._has_turn and self._worker is not None and self._state in ("running", "stopping"):
            self._has_turn = True
            self._worker.ready(self)

    def _begin_turn(self) -> bool:
        with self._lock:
            self._has_turn = False
            if self._state not in ("running", "stopping") or self._pausing:
                return False
            if self._has_work() or (self._state == "running" and (self._warm_ups or not self._warm)):
                self._in_pass = True
                return True
            if self._state == "stopping":
                self._settle()
            return False

    def _end_turn(self) -> None:
        with self._lock:
            self._in_pass = False
            self._quiet.notify_all()
            if self._has_work() or self._warm_ups:
                self._take_a_turn()
            elif self._state == "stopping" and not self._pausing:
                self._settle()

    def _has_work(self) -> bool:
        return self._ahead is not None or len(self._scheduler) > 0

    def _settle(self) -> None:
        """Nothing is left to do: stop for good. Holds the lock."""
        self._state = "stopped"
        for done in self._warm_ups:
            done.set()
        self._warm_ups.clear()
        if self._collator is not None:
            self._collator.shutdown(wait=False)
            self._ended_collator, self._collator = self._collator, None
        if self._worker is not None:
            self._leaving.detach()
            self._worker.leave()
            if self._runner is not None:
                self._runner.stop()
        self._let_go_of_the_runner()
        self._on_drained()
        self._drained.set()

    def _let_go_of_the_runner(self) -> None:
        if self._discard_runner:
            self._runner = None

    def _warm_up_once(self) -> None:
        runner = self._runner
        if not self._warm and runner is not None:
            known = self._config.max_batch_tokens
            try:
                budget = runner.warm_up(known)
            except Exception:
                budget = known or _DEFAULT_BUDGET
                _log.warning("the warm-up passes failed; passes get %d tokens", budget, exc_info=True)
            with self._lock:
                if self._budget is None:
                    self._budget = MemoryBackoff(budget)
                self._warm = True
        with self._lock:
            for done in self._warm_ups:
                done.set()
            self._warm_ups.clear()

    def _next_pass(self) -> list[_Pass]:
        ahead, self._ahead = self._ahead, None
        passes = self._prepare_next() if ahead is None else ahead.result()
        with self._lock:
            if self._collator is not None and len(self._scheduler):
                self._ahead = self._collator.submit(self._prepare_next)
        return passes

    def _prepare_next(self) -> list[_Pass]:
        runner = self._runner
        if runner is None:
            return []
        with self._lock:
            groups = self._take_from_queue(runner)
        return [self._prepare(runner, group) for group in groups]

    def _take_from_queue(self, runner: Runner) -> list[list[RowTicket]]:
        now = perf_counter()
        limits = PassLimits(
            _DEFAULT_BUDGET if self._budget is None else self._budget.limit(now),
            self._config.max_requests_per_batch,
            runner.padding_interval,
            runner.group_cost,
        )
        groups: list[list[RowTicket]] = self._scheduler.next_pass(limits, now)
        if not groups and len(self._scheduler):
            raise RuntimeError(f"scheduler {self._config.scheduler_type!r} takes no row although some are queued")
        for group in groups:
            for ticket in group:
                request = ticket.owner
                if request.scheduled_at is None:
                    request.scheduled_at, request.status = now, "running"
                    self._counters.waits.append(now - request.queued_at)
                request.queued -= 1
                if not request.queued:
                    self._queued_requests -= 1
                    self._room.notify()
        return groups

    def _prepare(self, runner: Runner, tickets: list[RowTicket]) -> _Pass:
        rows = [ticket.row for ticket in tickets]
        places = list(range(len(rows)))
        if self._config.allow_block_sharing:
            rows, places = _distinct(rows)
        try:
            inputs = runner.collate(rows)
        except Exception:
            inputs = None  # the pass will meet the error again, and find the row it belongs to
        return _Pass(tickets, rows, places, inputs)

    def _score(self, prepared: _Pass) -> None:
        """Run a pass; one that fails is split until the failing row stands alone."""
        runner = self._runner
        if runner is None:
            return
        waiting = [prepared]
        while waiting:
            current = waiting.pop()
            tickets = self._still_wanted(current.tickets)
            if len(tickets) < len(current.tickets):
                if not tickets:
                    continue
                current = self._prepare(runner, tickets)
            error = self._run(runner, current)
            if error is None:
                continue
            out_of_memory = runner.is_out_of_memory(error)
            self._note_failure(out_of_memory)
            if len(tickets) > 1:
                del error  # with its traceback go the tensors of the pass
                if out_of_memory:
                    runner.release_memory()
                middle = len(tickets) // 2
                waiting += [self._prepare(runner, tickets[middle:]), self._prepare(runner, tickets[:middle])]
            elif out_of_memory:
                self._rescue(runner, tickets[0].owner, error)
            else:
                self._fail(tickets[0].owner, error)

    def _run(self, runner: Runner, current: _Pass) -> Exception | None:
        started = perf_counter()
        try:
            inputs = runner.collate(current.rows) if current.inputs is None else current.inputs
            scores = runner.run(current.rows, inputs)
            if len(scores) != len(current.rows):
                raise RuntimeError(f"a pass gave {len(scores)} scores for {len(current.rows)} rows")
        except Exception as error:
            return error
        self._complete(runner, current, scores, perf_counter() - started)
        return None

    def _complete(self, runner: Runner, current: _Pass, scores: Sequence[RowScores], seconds: float) -> None:
        lengths = list(map(len, current.rows))
        interval = runner.padding_interval
        with self._lock:
            counters = self._counters
            counters.passes += 1
            counters.pass_times.append(seconds)
            counters.rows += len(current.tickets)
            counters.shared_rows += len(current.tickets) - len(lengths)
            counters.real_tokens += sum(lengths)
            counters.padded_tokens += len(lengths) * (-(-max(lengths) // interval) * interval)
            for ticket, place in zip(current.tickets, current.places, strict=True):
                self._settle_row(ticket.owner, ticket.index, scores[place])

    def _settle_row(self, request: RowRequest, index: int, scores: RowScores) -> None:
        """Note the scores of a row, unless its request has ended. Holds the lock."""
        if request.has_ended or request.scores[index] is not None:
            return
        request.scores[index] = scores
        request.left -= 1
        request.on_row(index)
        if not request.left:
            self._end(request, "finished")

    def _rescue(self, runner: Runner, request: RowRequest, error: Exception) -> None:
        with self._lock:
            self._leave_queue(request)
        runner.release_memory()
        try:
            scores = runner.rescue(request.rows, error)
        except Exception as failure:
            self._fail(request, failure)
            return
        with self._lock:
            for index, row_scores in enumerate(scores):
                self._settle_row(request, index, row_scores)

    def _fail(self, request: RowRequest, error: BaseException) -> None:
        with self._lock:
            if not request.has_ended:
                self._leave_queue(request)
                self._end(request, "failed", error)

    def _note_failure(self, out_of_memory: bool) -> None:
        with self._lock:
            self._counters.failed_passes += 1
            if not out_of_memory:
                return
            self._counters.out_of_memory += 1
            if self._budget is None:
                return
            first = not self._budget.is_lowered
            budget = self._budget.halve(perf_counter())
        if first:
            _log.warning("a pass ran out of memory; passes get %d of %d tokens for a while", budget, self._budget.full)

    def _still_wanted(self, tickets: list[RowTicket]) -> list[RowTicket]:
        with self._lock:
            return [ticket for ticket in tickets if not ticket.owner.has_ended]

    def _leave_queue(self, request: RowRequest) -> None:
        """Take the rows of a request that still wait out of the queue. Holds the lock."""
        if request.queued:
            for ticket in request.tickets:
                self._scheduler.remove(ticket)
            request.queued = 0
            self._queued_requests -= 1
            self._room.notify()

    def _end(
        self,
        request: RowRequest,
        status: Literal["finished", "cancelled", "failed"],
        error: BaseException | None = None,
    ) -> None:
        """Give a request its final status, once. Holds the lock."""
        request.status, request.error, request.finished_at = status, error, perf_counter()
        request.tickets = ()
        self._unfinished.pop(id(request), None)
        setattr(self._counters, status, getattr(self._counters, status) + 1)
        request.on_end()

    def _fail_everything(self, error: Callable[[], BaseException]) -> None:
        """Fail every request that has not ended, each with an error of its own. Holds the lock."""
        for request in list(self._unfinished.values()):
            self._leave_queue(request)
            self._end(request, "failed", error())

    def _crash(self, cause: BaseException) -> None:
        def error() -> EngineCrashed:
            crashed = EngineCrashed(f"the batching engine failed: {type(cause).__name__}: {cause}")
            crashed.__cause__ = cause
            return crashed

        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.exception()  # it still uses the scheduler that is replaced below
        with self._lock:
            self._cause = cause
            self._in_pass = False
            self._quiet.notify_all()
            # The scheduler may be what failed, so it is replaced and not asked to remove anything.
            self._scheduler = make_scheduler(self._config)
            self._queued_requests = 0
            for request in self._unfinished.values():
                request.queued = 0
            self._fail_everything(error)
            self._room.notify_all()
            if self._state in ("running", "stopping"):
                self._settle()

    def _is_full(self) -> bool:
        return 0 < self._config.max_queue_size <= self._queued_requests

    def _check_open(self) -> None:
        if self._state in ("new", "running"):
            return
        if self._cause is not None:
            raise EngineStopped(
                f"the engine failed ({type(self._cause).__name__}: {self._cause}) and takes no requests; start it again"
            ) from self._cause
        raise EngineStopped("the engine is stopped and takes no requests; start it again, or make a new one")


def _distinct(rows: Sequence[Row]) -> tuple[list[Row], list[int]]:
    """The rows without repetitions, and the place of each among them."""
    found: dict[object, int] = {}
    kept: list[Row] = []
    places = []
    for row in rows:
        prefix = row.prefix
        key = (tuple(row.ids), prefix.markers, prefix.type_id, prefix.position_ids)
        place = found.setdefault(key, len(kept))
        if place == len(kept):
            kept.append(row)
        places.append(place)
    return kept, places
