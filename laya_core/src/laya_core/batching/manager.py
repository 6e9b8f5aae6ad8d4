"""The manager: requests in from any thread, outputs out by id, in order of arrival or by callback."""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import copy_context
from functools import partial
from itertools import count
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from laya_core.prepared import PreparedCall
from laya_core.prompt import Row
from laya_core.questions import Question
from laya_core.waits import checked_timeout
from laya_hooks import RequestCancelled, current_scope
from laya_hooks.lifecycle import HookedCall, require_one_result_per_state
from laya_hooks.protocols import CallablesArgument, HooksArgument, MinConfidence, Questions

from .config import ContinuousBatchingConfig
from .decision_request import DecisionRequest
from .delivery import Delivery
from .errors import EngineStopped
from .inputs import check_request
from .model_runner import ModelRunner
from .outputs import OutputStore
from .request import DecisionOutput
from .row_engine import RowEngine
from .rows import AwaitedRows, RowRequest, ScoredRows
from .runner import Runner
from .stats import Stats

if TYPE_CHECKING:
    from laya_core.agent import Agent

_log = logging.getLogger(__name__)

QUEUE_SECONDS: Final = 10.0
"""How long a call waits for a place in a full queue unless it says otherwise."""


class ContinuousBatchingManager:
    """Answers requests in shared passes, in the background. Thread-safe.

    Made by `Agent.init_continuous_batching`, `Agent.continuous_batching_context_manager` or `Agent.generate_batch`.

    Args:
        agent: whose checkpoint and hooks it uses.
        config: budgets, scheduler and switches.
        runner: what runs the passes; None for the agent's model.

    Raises:
        ValueError: the config cannot be used for decisions, or not on this device.
    """

    def __init__(self, agent: Agent, config: ContinuousBatchingConfig, runner: Runner | None = None) -> None:
        config.check_for_decisions()
        self.config = config
        self._agent = agent
        self._runner: Runner | None = runner or ModelRunner(agent.engine, config)
        ahead = config.use_async_batching
        self._outputs: OutputStore[DecisionOutput, DecisionRequest | None] = OutputStore()
        self._delivery = Delivery(self._outputs)  # type: ignore[arg-type]
        self._engine = RowEngine(
            self._runner,
            config,
            collate_ahead=agent.engine.device.type != "cpu" if ahead is None else ahead,
            on_started=self._delivery.start,
            on_drained=self._delivery.finish,
        )
        self._ids = count()
        self._prefix = f"{id(self):x}"
        self._last_questions: Mapping[Any, Question] = {}
        self._destroyed = False
        weakref.finalize(self, self._delivery.events.put, None).atexit = False

    # Life

    def start(self) -> None:
        """Begin to answer in the background. Nothing happens if it does.

        Raises:
            RuntimeError: it is being stopped, or was destroyed.
        """
        self._engine.start()

    def is_running(self) -> bool:
        """Whether the background thread has been started and still runs."""
        return self._engine.is_running

    @property
    def takes_requests(self) -> bool:
        """Whether it runs and is not being stopped."""
        return self._engine.takes_requests

    def stop(
        self,
        block: bool = True,
        timeout: float | None = None,
        keep_for_next_session: bool = False,
        hard_stop: bool = False,
    ) -> None:
        """Take no more requests; answer those that are here, and end. May be repeated.

        Args:
            block: wait until it has ended.
            timeout: seconds to wait at most; None for no bound.
            keep_for_next_session: the agent's next `init_continuous_batching` with an equal config takes this manager.
            hard_stop: fail the requests that are here with `EngineStopped` instead.

        Raises:
            RuntimeError: called inside `pause()` of this thread.
        """
        timeout, triggered = checked_timeout(timeout), perf_counter()
        self._engine.stop(hard=hard_stop)
        self._agent._keep_manager(self, keep_for_next_session and not self._destroyed)
        if block:
            self.join(triggered, timeout)

    def join(self, stop_trigger_time: float, timeout: float | None = None) -> None:
        """Wait until the background threads have ended.

        Args:
            stop_trigger_time: when the stop was asked for, in `time.perf_counter()` seconds; for the log.
            timeout: seconds to wait at most; None for no bound.
        """
        timeout = checked_timeout(timeout)
        deadline = None if timeout is None else perf_counter() + timeout
        ended = self._engine.wait(timeout)
        if ended:
            rest = None if deadline is None else max(0.0, deadline - perf_counter())
            ended = self._delivery.wait(rest)
        if ended:
            _log.debug("stopped %.3f s after it was asked to", perf_counter() - stop_trigger_time)
        else:
            _log.warning("not stopped within %g s; it goes on in the background", timeout)

    def destroy(self) -> None:
        """Stop hard and let go of the model. May be repeated; it cannot be started again.

        Raises:
            RuntimeError: called inside `pause()` of this thread.
        """
        self.refuse_if_paused("destroy")
        self._destroyed = True
        self._runner = None
        self._engine.stop(hard=True, discard_runner=True)
        self._agent._keep_manager(self, False)
        self.join(perf_counter())

    def retire(self) -> None:
        """Answer what is queued, then let go of the model in the thread of the passes; wait for that, not for hooks.

        For `Agent.close`: end hooks may be what closes the agent, so it must not wait for them.
        """
        self._destroyed = True
        self._runner = None
        self._engine.stop(discard_runner=True)
        self._engine.wait()

    def warmup(self) -> None:
        """Run what is slow the first time and wait for it; starts the manager if it was never started.

        Raises:
            RuntimeError: this thread holds the manager paused, and would wait for ever.
        """
        self.refuse_if_paused("warmup")
        if self._engine.state == "new":
            self.start()
        self._engine.warm_up()

    def pause(self) -> AbstractContextManager[None]:
        """Let no pass run inside the block, so that the caller can use or change the model.

        The queue and the results stay; several threads may hold it, and one thread several times. Calls of the agent's
        `predict*` by a thread inside the block run in that thread.
        """
        return self._engine.pause()

    def switch_to_cb_friendly_attn(self, model: Any = None, auto_switch_to_flash: bool = True) -> None:
        """Make passes use the fastest attention there is for them, until the manager stops. May be repeated.

        Args:
            model: for the signature of transformers; it is always the agent's own.
            auto_switch_to_flash: flash attention where it is installed, for 16-bit weights and sequential options.
        """
        runner = self._runner
        if isinstance(runner, ModelRunner):
            with self.pause():
                runner.switch_attention(auto_switch_to_flash)

    def stats(self) -> Stats:
        """What it has done so far: a consistent view."""
        return self._engine.stats()

    # Requests

    def add_request(
        self,
        state: Any,
        questions: Questions,
        request_id: str | None = None,
        streaming: bool = False,
        record_timestamps: bool = False,
        max_len: int | None = None,
        head_max_len: int | None = None,
        *,
        min_confidence: MinConfidence | None = None,
        lang: str | None = None,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        timeout: float | None = QUEUE_SECONDS,
    ) -> str:
        """Queue questions about one state; start hooks, checks and tokenisation happen here, in the caller's thread.

        Args:
            request_id: an id of the caller's; None makes one.
            streaming: one output per question as soon as it is answered, then the finished one.
            record_timestamps: the output tells when each question was answered.
            timeout: seconds to wait for a place in a full queue; None for no bound.

        Other arguments are those of `Agent.predict`. End hooks run on the delivery thread, in a copy of the caller's
        contextvars.

        Returns:
            The id.

        Raises:
            ValueError, TypeError: the request is refused, as in `Agent.predict`, or its id is in use.
            laya_hooks.QueueFull: the queue stayed full.
            EngineStopped: (a `RuntimeError`) the manager was stopped.
        """
        agent = self._agent
        self._check_open()
        if request_id is None:
            request_id = f"{self._prefix}-{next(self._ids)}"
        elif not isinstance(request_id, str):
            raise TypeError(f"request_id must be a string, not {request_id!r}")
        timeout = checked_timeout(timeout)
        chain = agent.hook_chain(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout)
        context = agent._context([state], questions, max_len, head_max_len)
        self._outputs.open(request_id, None)
        call = HookedCall(chain, context)
        try:
            call.start()
            if call.skipped:
                require_one_result_per_state(context)
                prepared = None
            else:
                prepared = agent._prepare(agent.engine, context, min_confidence, lang)
                self._share_questions(prepared)
            request = DecisionRequest(
                request_id,
                call,
                prepared,
                copy_context(),
                self._delivery.events,
                streaming=streaming,
                record_timestamps=record_timestamps,
                with_log_probs=self.config.return_logprobs,
            )
            self._outputs.bind(request_id, request)
            self._submit(request, timeout)
        except BaseException as error:
            self._outputs.discard(request_id)
            failure = call.fail(error)
            if failure is error:
                raise
            raise failure from error
        return request_id

    def add_requests(self, inputs: Sequence[Mapping[str, Any]], **arguments: Any) -> list[str]:
        """Add requests in order: mappings with `state`, `questions` and further arguments of `add_request`.

        Args:
            arguments: for every request that does not say otherwise.

        Returns:
            Their ids, in order.

        Raises:
            ValueError, TypeError: as `add_request`; the requests before the refused one stay added.
        """
        return [self.add_request(**{**arguments, **check_request(request)}) for request in inputs]

    def cancel_request(self, request_id: str) -> bool:
        """End a request: queued rows leave the queue, the output says "cancelled". False if it has ended already."""
        request = self._outputs.request(request_id)
        return request is not None and self._engine.cancel(request)

    # Outputs

    def get_result(self, request_id: str | None = None, timeout: float | None = None) -> DecisionOutput | None:
        """The next output, of any request or of one; each is given once.

        Returns:
            None after `timeout` seconds, or as soon as none will come: the id is not live, or the manager has stopped.
        """
        timeout = checked_timeout(timeout)
        if request_id is None:
            return self._outputs.get(timeout)
        return self._outputs.get_of(request_id, timeout)

    def request_id_iter(self, request_id: str) -> Iterator[DecisionOutput]:
        """The outputs of one request as they come, the final one last."""
        while True:
            output = self._outputs.get_of(request_id)
            if output is None:
                return
            yield output
            if output.is_finished():
                return

    def __iter__(self) -> Iterator[DecisionOutput]:
        """Outputs of all requests as they come, until the manager has stopped and all are taken."""
        while (output := self._outputs.get()) is not None:
            yield output

    def register_result_handler(self, request_id: str, callback: Callable[[DecisionOutput], object]) -> None:
        """Call `callback` with every output of a request, on the running event loop of the caller.

        Outputs that are here already are delivered at once; none of them goes to `get_result` any more.

        Raises:
            RuntimeError: no event loop runs in this thread.
            ValueError: the id is not live.
        """
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError("register_result_handler() needs a running event loop to call back on") from None
        self._outputs.add_handler(request_id, loop, callback)

    # For the agent

    def score(self, rows: Sequence[Row]) -> ScoredRows | None:
        """Score the rows of a call that waits for them; None if the caller has to run them itself.

        Raises:
            laya_hooks.QueueFull: the queue stayed full.
            laya_hooks.RequestCancelled: the call's scope was cancelled.
        """
        if not self._engine.takes_requests or self._engine.is_paused_by_this_thread():
            return None
        request = AwaitedRows(rows)
        try:
            self._submit(request, QUEUE_SECONDS)
        except EngineStopped:
            return None
        try:
            scores = request.wait()
        except BaseException:
            self._engine.cancel(request)  # of a caller that was interrupted
            raise
        scheduled, finished = request.scheduled_at or request.queued_at, request.finished_at or request.queued_at
        return ScoredRows(scores, scheduled - request.queued_at, finished - scheduled)

    def _share_questions(self, prepared: PreparedCall) -> None:
        """Let a request hold the questions of the one before it if they are the same: many wait with the same."""
        last = self._last_questions
        # By their texts, because 1, 1.0 and True are equal, but not the same label.
        if repr(last) == repr(prepared.questions):
            prepared.questions = last
        else:
            self._last_questions = prepared.questions

    def refuse_if_paused(self, method: str) -> None:
        """Raise a `RuntimeError` inside `pause()` of this thread, where `method` would wait for ever."""
        if self._engine.is_paused_by_this_thread():
            raise RuntimeError(f"{method}() inside pause() would wait for itself; leave the block first")

    def _submit(self, request: RowRequest, timeout: float | None) -> None:
        scope = current_scope()
        if scope is not None:
            if scope.cancelled:
                raise RequestCancelled("the request was cancelled before its rows were scored")
            scope.on_cancel(partial(_cancel_weakly, weakref.ref(self._engine), weakref.ref(request)))
        self._engine.submit(request, timeout)

    def _check_open(self) -> None:
        if self._engine.state in ("stopping", "stopped"):
            raise EngineStopped("the manager is stopped and takes no requests; start it again, or make a new one")


def _cancel_weakly(engine: weakref.ref[RowEngine], request: weakref.ref[RowRequest]) -> None:
    found, rows = engine(), request()
    if found is not None and rows is not None:
        found.cancel(rows, "the request was cancelled before all of its rows were scored")
