"""Continuous batching of text: requests in from many threads, outputs out to each of them."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

from laya_core.waits import checked_timeout
from laya_hooks import HookedCall, PredictContext, require_one_result_per_state

from .loop import EngineLoop
from .mailbox import Handler, Mailbox
from .output import TextOutput, supplied
from .prompts import encode_all
from .requests import TextRequest
from .settings import Settings

if TYPE_CHECKING:
    from .agent import TextAgent


class TextBatchingManager:
    """A running engine of transformers, with hooks around every request and results by request.

    Made by `TextAgent.init_continuous_batching`; its methods are those of transformers' `ContinuousBatchingManager`.
    Start hooks run in the thread that adds a request. End hooks run on the delivery thread, in a copy of that
    thread's context variables; they are done before the last output is handed out.
    """

    def __init__(self, agent: TextAgent, engine: Any, settings: Settings, capacity: int | None) -> None:
        self.settings = settings
        self.loop = EngineLoop(engine)
        self._agent = agent
        self._engine = engine
        self._capacity = capacity
        self._mailbox = Mailbox()
        self._public: dict[str, TextRequest] = {}
        self._numbers = count()
        self._destroyed = False
        self._pausing: dict[int, int] = {}

    def add_request(
        self,
        input_ids: str | Sequence[int],
        request_id: str | None = None,
        max_new_tokens: int | None = None,
        streaming: bool = False,
        record_timestamps: bool = False,
        eos_token_id: int | list[int] | None = None,
        **logit_processor_kwargs: Any,
    ) -> str:
        """Add a prompt; the hooks run as for any call, around this one request.

        Args:
            input_ids: the prompt, as token ids or as text.
            request_id: an id of your own; None makes one.
            max_new_tokens: None takes that of the generation settings.
            streaming: give an output after every token.
            record_timestamps: note when each token was generated.
            eos_token_id: tokens that end the generation.
            logit_processor_kwargs: settings of this request's processors, with `per_request_processors`.

        Returns:
            The id of the request.

        Raises:
            TypeError, ValueError: the prompt cannot be read or does not fit, or the id is that of a live request.
            QueueFull: `max_queue_size` requests wait, and still did after ten seconds.
            RuntimeError: the manager was stopped.
        """
        self.loop.require_open()
        if request_id is None:
            request_id = f"req_{next(self._numbers)}"
        self._mailbox.expect(request_id)
        try:
            options = {"streaming": streaming, "record_timestamps": record_timestamps, "eos_token_id": eos_token_id}
            self._begin(request_id, input_ids, max_new_tokens, {**options, **logit_processor_kwargs})
        except BaseException:
            self._mailbox.forget(request_id)
            raise
        return request_id

    def add_requests(
        self,
        inputs: Sequence[str | Sequence[int]],
        max_new_tokens: int | None = None,
        streaming: bool = False,
        record_timestamps: bool = False,
        **logit_processor_kwargs: Any,
    ) -> list[str]:
        """Add several prompts and return their ids, in order; see `add_request`."""
        return [
            self.add_request(
                prompt,
                max_new_tokens=max_new_tokens,
                streaming=streaming,
                record_timestamps=record_timestamps,
                **logit_processor_kwargs,
            )
            for prompt in inputs
        ]

    def cancel_request(self, request_id: str) -> None:
        """End a request; whoever waits for it gets an output with `cancelled` set. Of no effect once it is done."""
        request = self._public.get(request_id)
        if request is not None:
            self.loop.cancel(request)

    def get_result(self, request_id: str | None = None, timeout: float | None = None) -> TextOutput | None:
        """The next output of a request, or of any.

        Returns:
            The output; None after `timeout` seconds, or when there will be none: the request is unknown, its last
            output was taken, or, without an id, nothing is left to wait for.

        Raises:
            ValueError: `timeout` is no number.
        """
        timeout = checked_timeout(timeout)
        if request_id is None:
            return self._mailbox.take_any(timeout)
        return self._mailbox.take(request_id, timeout)

    def request_id_iter(self, request_id: str) -> Iterator[TextOutput]:
        """Iterate over the outputs of one request, up to the last."""
        while (output := self._mailbox.take(request_id)) is not None:
            yield output
            if output.is_finished():
                return

    def __iter__(self) -> Iterator[TextOutput]:
        """Iterate over outputs as they come, until nothing is left to wait for."""
        while (output := self._mailbox.take_any()) is not None:
            yield output

    def register_result_handler(self, request_id: str, callback: Handler) -> None:
        """Call `callback` on the running event loop with every output of a request, those that wait included.

        Raises:
            RuntimeError: this thread runs no event loop.
        """
        self._mailbox.register(request_id, callback)

    def start(self) -> None:
        """Start the engine and the delivery thread; of no effect while they run.

        Raises:
            RuntimeError: the manager was destroyed.
        """
        if self._destroyed:
            raise RuntimeError("this manager was destroyed; make another with init_continuous_batching")
        self.loop.start()

    def is_running(self) -> bool:
        """Whether the engine was started and still runs."""
        return bool(self._engine.is_running())

    def is_open(self) -> bool:
        """Whether it runs and takes requests."""
        return self.loop.is_open() and self.is_running()

    def warmup(self) -> None:
        """Capture CUDA graphs ahead of the first request."""
        self._engine.warmup()

    def switch_to_cb_friendly_attn(self, model: Any, auto_switch_to_flash: bool = True) -> None:
        """Give the model an attention implementation that the engine can use; the engine does so by itself."""
        self._engine.switch_to_cb_friendly_attn(model, auto_switch_to_flash)

    @contextmanager
    def pause(self) -> Iterator[None]:
        """No step runs inside the block; requests and their cache are kept. Several threads may hold it.

        Raises:
            RuntimeError: the engine does not run.
        """
        thread = threading.get_ident()
        with self._engine.pause():
            self._pausing[thread] = self._pausing.get(thread, 0) + 1
            try:
                yield
            finally:
                self._pausing[thread] -= 1
                if not self._pausing[thread]:
                    del self._pausing[thread]

    def stop(
        self,
        block: bool = True,
        timeout: float | None = None,
        keep_for_next_session: bool = False,
        hard_stop: bool = False,
    ) -> None:
        """Take no more requests, finish those in flight, and end the threads. May be repeated.

        Args:
            block: wait for the end, at most `timeout` seconds.
            keep_for_next_session: the agent keeps this manager for the next `init_continuous_batching` that asks for
                its settings.
            hard_stop: fail what is in flight instead of finishing it.

        Raises:
            RuntimeError: this thread holds `pause`, so the requests in flight could never finish.
            ValueError: `timeout` is no number; nothing is stopped then.
        """
        timeout = checked_timeout(timeout)
        self._refuse_inside_pause()
        self.loop.close(hard_stop)
        self._agent.managers.stopped(self, keep=keep_for_next_session and not self._destroyed)
        if block:
            self.loop.join(timeout)

    def join(self, stop_trigger_time: float = 0.0, timeout: float | None = None) -> None:
        """Wait for the threads to end after `stop`, at most `timeout` seconds."""
        self.loop.join(checked_timeout(timeout))

    def destroy(self) -> None:
        """Stop at once and free what the engine holds; the manager cannot be started again. May be repeated."""
        self._refuse_inside_pause()
        already, self._destroyed = self._destroyed, True
        self.stop(hard_stop=True)
        if not already:
            self._engine.destroy()

    def submit(self, request: TextRequest, max_new_tokens: int | None, options: dict[str, Any]) -> None:
        """Give a request to the engine; its `finish` or `fail` will be called, once.

        Raises:
            ValueError: the prompt does not fit.
            QueueFull, RuntimeError: as in `add_request`.
        """
        length = len(request.prompt_ids)
        new_tokens = self.settings.new_tokens(length, max_new_tokens)
        if self._capacity is not None and length + new_tokens - 1 > self._capacity:
            raise ValueError(
                f"a prompt of {length} tokens and {new_tokens} new ones do not fit the cache of {self._capacity} "
                "tokens; shorten the prompt, lower max_new_tokens, or raise num_blocks"
            )
        self.loop.submit(request, new_tokens, options)

    def _begin(
        self, request_id: str, prompt: str | Sequence[int], max_new_tokens: int | None, options: dict[str, Any]
    ) -> None:
        """Run the start hooks of a request, then submit it or, if one of them skipped, finish it."""
        agent = self._agent
        chain = agent.hook_chain()
        call = HookedCall(chain, PredictContext([prompt], {}, model=agent.model_id, agent=agent))
        try:
            call.start()
            if call.skipped:
                self._finish_skipped(request_id, call)
            else:
                (tokens,) = encode_all(agent.prompts, _one_state(call.ctx), call.ctx)
                if isinstance(tokens, Exception):
                    raise tokens
                request = TextRequest(request_id, tokens, self._hand_out, agent.prompts)
                if not chain.is_empty:
                    request.call, request.context = call, contextvars.copy_context()
                self._public[request_id] = request
                self.submit(request, max_new_tokens, options)
        except BaseException as error:
            self._public.pop(request_id, None)
            failure = call.fail(error)
            if failure is not error:
                raise failure from None
            raise

    def _finish_skipped(self, request_id: str, call: HookedCall) -> None:
        (state,) = _one_state(call.ctx)
        require_one_result_per_state(call.ctx)
        values: list[Any] = call.ctx.results or []
        output = supplied(values[0], request_id, state, self._agent.prompts)
        call.ctx.results = [output]
        TextRequest(request_id, output.prompt_ids, self._hand_out, self._agent.prompts, call).finish(output)

    def _hand_out(self, output: TextOutput) -> None:
        if output.is_finished():
            self._public.pop(output.request_id, None)
        self._mailbox.put(output)

    def _refuse_inside_pause(self) -> None:
        if threading.get_ident() in self._pausing:
            raise RuntimeError("stop() inside pause() would wait for itself; leave the block first")


def _one_state(ctx: PredictContext) -> list[Any]:
    if len(ctx.states) != 1:
        raise ValueError(f"a start hook left {len(ctx.states)} prompts; add_request has exactly one")
    return ctx.states
