"""Queue, schedule, run, deliver: requests go in from any thread, the worker's turns answer them."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Final, Literal, TypeAlias

from laya_hooks.errors import QueueFull, RequestCancelled

from .collation import Collator
from .config import ContinuousBatchingConfig
from .errors import EngineCrashed, EngineStopped
from .request_queue import RequestQueue
from .rows import RowRequest, RowTicket
from .runner import Runner
from .scoring import Failed, PreparedPass, Scored, prepare, score
from .stats import Stats
from .worker import PassWorker, join_worker

_log = logging.getLogger(__name__)

State: TypeAlias = Literal["new", "running", "stopping", "stopped"]
_FALLBACK_BUDGET: Final = 2_048


class RowEngine:
    """Scores rows of many requests in shared passes.

    Args:
        runner: runs the passes.
        config: budgets, scheduler and switches.
        collate_ahead: collate the next pass while one runs.
        on_started: called when it begins to run.
        on_drained: called once the last request before a stop has ended, or after a crash.
    """

    def __init__(
        self,
        runner: Runner,
        config: ContinuousBatchingConfig,
        *,
        collate_ahead: bool = False,
        on_started: Callable[[], object] = lambda: None,
        on_drained: Callable[[], object] = lambda: None,
    ) -> None:
        self._runner: Runner | None = runner
        self._config = config
        self._on_started, self._on_drained = on_started, on_drained
        self._lock = threading.Lock()  # guards every field below
        self._room = threading.Condition(self._lock)  # a place in the queue is free, or none will be
        self._quiet = threading.Condition(self._lock)  # no pass runs
        self._state: State = "new"
        self._cause: BaseException | None = None
        self._discard_runner = False
        self._queue = RequestQueue(config)
        self._warm = False
        self._warm_ups: list[threading.Event] = []
        self._pausing: dict[int, int] = {}
        self._in_pass = False
        self._has_turn = False
        self._worker: PassWorker | None = None
        self._drained = threading.Event()
        self._drained.set()
        self._collator = Collator(collate_ahead)

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
            self._collator.start()
            self._worker = join_worker()
            self._leaving = weakref.finalize(self, self._worker.leave_later)
            self._leaving.atexit = False
            self._state, self._cause = "running", None
            self._drained.clear()
            self._on_started()
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
            while request.rows and self._queue.is_full and not request.has_ended:
                self._wait_for_room(timeout, deadline)
                self._check_open()
            if request.has_ended:
                raise RequestCancelled("the request was cancelled before it was queued")
            self._queue.add(request)
            self._take_a_turn()

    def cancel(self, request: RowRequest, reason: str = "the request was cancelled") -> bool:
        """End a request as cancelled, unless it has ended; what of it is in a pass is dropped on arrival."""
        with self._lock:
            if request.has_ended:
                return False
            self._queue.end(request, "cancelled", RequestCancelled(reason))
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
                self._queue.fail_all(lambda: EngineStopped("the engine was stopped before this request was answered"))
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
            self._collator.join()
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
            return self._queue.stats()

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
        return self._collator.has_pass or self._queue.has_rows

    def _settle(self) -> None:
        """Nothing is left to do: stop for good. Holds the lock."""
        self._state = "stopped"
        for done in self._warm_ups:
            done.set()
        self._warm_ups.clear()
        self._collator.end()
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
                budget = known or _FALLBACK_BUDGET
                _log.warning("the warm-up passes failed; passes get %d tokens", budget, exc_info=True)
            with self._lock:
                self._queue.set_budget(budget)
                self._warm = True
        with self._lock:
            for done in self._warm_ups:
                done.set()
            self._warm_ups.clear()

    def _next_pass(self) -> list[PreparedPass]:
        passes = self._collator.next_pass(self._prepare_next)
        with self._lock:
            if self._queue.has_rows:
                self._collator.prepare_ahead(self._prepare_next)
        return passes

    def _prepare_next(self) -> list[PreparedPass]:
        runner = self._runner
        if runner is None:
            return []
        with self._lock:
            groups = self._queue.take(runner)
            self._room.notify_all()
        return [prepare(runner, group, self._config.allow_block_sharing) for group in groups]

    def _score(self, prepared: PreparedPass) -> None:
        runner = self._runner
        if runner is None:
            return
        for outcome in score(runner, prepared, self._config.allow_block_sharing, self._still_wanted):
            if isinstance(outcome, Scored):
                self._note_scores(outcome, runner)
            else:
                self._note_failure(outcome)
                if outcome.ticket is not None and outcome.error is not None:
                    self._lose(runner, outcome.ticket.owner, outcome.error, outcome.out_of_memory)

    def _still_wanted(self, tickets: list[RowTicket]) -> list[RowTicket]:
        with self._lock:
            return [ticket for ticket in tickets if not ticket.owner.has_ended]

    def _note_scores(self, scored: Scored, runner: Runner) -> None:
        prepared = scored.prepared
        lengths = list(map(len, prepared.rows))
        padded = runner.padded_tokens(lengths)
        with self._lock:
            self._queue.note_pass(len(prepared.tickets), lengths, padded, scored.seconds)
            for ticket, place in zip(prepared.tickets, prepared.places, strict=True):
                self._queue.settle_row(ticket.owner, ticket.index, scored.scores[place])

    def _note_failure(self, failed: Failed) -> None:
        with self._lock:
            lowered = self._queue.note_failure(failed.out_of_memory)
        if lowered is not None:
            _log.warning("a pass ran out of memory; passes get %d of %d tokens for a while", *lowered)

    def _lose(self, runner: Runner, request: RowRequest, error: Exception, out_of_memory: bool) -> None:
        """Fail a request because of one of its rows, unless the runner can score it elsewhere."""
        scores = None
        if out_of_memory:
            with self._lock:
                self._queue.leave(request)
            runner.release_memory()
            try:
                scores = runner.rescue(request.rows, error)
            except Exception as failure:
                error = failure
        with self._lock:
            if scores is None:
                self._queue.end(request, "failed", error)
            else:
                for index, row_scores in enumerate(scores):
                    self._queue.settle_row(request, index, row_scores)
            self._room.notify_all()

    def _crash(self, cause: BaseException) -> None:
        def error() -> EngineCrashed:
            crashed = EngineCrashed(f"the batching engine failed: {type(cause).__name__}: {cause}")
            crashed.__cause__ = cause
            return crashed

        self._collator.drop()  # it may still use the scheduler that is replaced below
        with self._lock:
            self._cause = cause
            self._in_pass = False
            self._quiet.notify_all()
            self._queue.start_over()
            self._queue.fail_all(error)
            self._room.notify_all()
            if self._state in ("running", "stopping"):
                self._settle()

    def _wait_for_room(self, timeout: float | None, deadline: float | None) -> None:
        """Wait for a change of the full queue. Holds the lock."""
        remaining = None if deadline is None else deadline - perf_counter()
        if (remaining is None or remaining > 0) and self._room.wait(remaining):
            return
        if self._queue.is_full:
            raise QueueFull(
                f"the queue holds max_queue_size={self._config.max_queue_size} requests, and none of them left it "
                f"within {timeout:g} s; send less at once, or raise max_queue_size"
            )

    def _check_open(self) -> None:
        if self._state in ("new", "running"):
            return
        if self._cause is not None:
            raise EngineStopped(
                f"the engine failed ({type(self._cause).__name__}: {self._cause}) and takes no requests; start it again"
            ) from self._cause
        raise EngineStopped("the engine is stopped and takes no requests; start it again, or make a new one")
