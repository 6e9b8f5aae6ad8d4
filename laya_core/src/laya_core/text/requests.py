"""One request on its way through the engine, and how it ends: hooks first, then whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import Context
from itertools import count
from time import perf_counter
from typing import Final, TypeAlias

import attrs

from laya_hooks import HookedCall, LayaError, RequestCancelled

from .output import TextOutput, failed, supplied
from .prompts import Prompts

_engine_ids: Final = count()

Deliver: TypeAlias = Callable[[TextOutput], object]


class GenerationFailed(LayaError):
    """The engine could not finish a request; what hooks see as `ctx.error`."""


@attrs.define(eq=False)
class TextRequest:
    """A request and where its outputs go.

    Args:
        request_id: the id its caller knows.
        prompt_ids: tokens of the prompt.
        deliver: receives the outputs.
        prompts: makes text of tokens.
        call: the hooked call around it, already started; None if another call embraces it.
        context: the caller's context variables, for the end hooks.
        engine_id: the id the engine knows, never used twice.
    """

    request_id: str
    prompt_ids: list[int]
    deliver: Deliver
    prompts: Prompts
    call: HookedCall | None = None
    context: Context | None = None
    engine_id: str = attrs.field(factory=lambda: f"laya-{next(_engine_ids)}", init=False)
    created: float = attrs.field(factory=perf_counter)
    _generated: list[int] = attrs.field(factory=list, init=False)

    def progress(self, output: TextOutput) -> None:
        """Hand on the output of one step."""
        self._generated = output.generated_tokens
        self.deliver(output)

    def finish(self, output: TextOutput) -> None:
        """Run the end hooks and deliver the last output, as they left it."""
        if self.call is not None:
            output = self._after_hooks(self.call, output)
        self.deliver(output)

    def fail(self, error: str, *, cancelled: bool = False) -> None:
        """End the request without its being finished."""
        self.finish(self._failed(error, cancelled))

    def _after_hooks(self, call: HookedCall, output: TextOutput) -> TextOutput:
        run = self._succeed if output.error is None else self._fail
        try:
            return run(call, output) if self.context is None else self.context.run(run, call, output)
        except BaseException as error:  # of a hook; this thread must go on, and the request must end
            return self._failed(f"{type(error).__name__}: {error}", output.cancelled)

    def _succeed(self, call: HookedCall, output: TextOutput) -> TextOutput:
        ctx = call.ctx
        if not call.skipped:
            ctx.results = [output]
            _record_timings(call, output)
        call.succeed()
        if not ctx.results:
            return self._failed("an end hook left no results", cancelled=False)
        value = ctx.results[0]
        return value if value is output else supplied(value, self.request_id, self.prompt_ids, self.prompts)

    def _fail(self, call: HookedCall, output: TextOutput) -> TextOutput:
        error = RequestCancelled(output.error) if output.cancelled else GenerationFailed(output.error)
        if call.fail(error) is not error:
            raise call.ctx.error or error
        return output

    def _failed(self, error: str, cancelled: bool) -> TextOutput:
        return failed(
            self.request_id,
            self.prompt_ids,
            error,
            created=self.created,
            generated=self._generated,
            cancelled=cancelled,
            prompts=self.prompts,
        )


def _record_timings(call: HookedCall, output: TextOutput) -> None:
    started, finished = output.lifespan
    if started >= 0:
        call.ctx.timings["queue"] = (started - output.created_time) * 1000.0
        call.ctx.timings["inference"] = (finished - started) * 1000.0
