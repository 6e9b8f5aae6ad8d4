"""What happens around one call: start, inference, error, end. Agents and routers share it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, TypeAlias

from .chain import HookChain
from .context import PredictContext
from .failures import Failures
from .usage import aggregate_usage

Infer: TypeAlias = Callable[[PredictContext], list[dict[str, Any]]]
Settle: TypeAlias = Callable[[PredictContext], object]


def require_one_result_per_state(ctx: PredictContext) -> None:
    """Refuse skipped results that do not match the states.

    Raises:
        ValueError: there are more or fewer results than states.
    """
    if ctx.results is not None and len(ctx.results) != len(ctx.states):
        raise ValueError(f"a start hook skipped with {len(ctx.results)} results for {len(ctx.states)} states")


def run_call(
    chain: HookChain, ctx: PredictContext, infer: Infer, settle_skipped: Settle = require_one_result_per_state
) -> list[dict[str, Any]]:
    """Run one call: start hooks, `infer` unless skipped, end hooks; after a failure error and end hooks.

    Args:
        chain: the hooks of this call.
        ctx: its context; `ctx.results` is what the call returns, end hooks included.
        infer: makes the results from the context as the start hooks left it.
        settle_skipped: checks or completes `ctx.results` when a start hook skipped.

    Raises:
        BaseException: what failed, with the errors of error and end hooks at the end of its context chain.
    """
    if chain.is_empty:
        ctx.results = infer(ctx)
        return ctx.results
    call = HookedCall(chain, ctx)
    failure: BaseException | None = None
    try:
        call.start()
        if call.skipped:
            settle_skipped(ctx)
        else:
            ctx.results = infer(ctx)
    except BaseException as error:
        failure = call.fail(error)
        if failure is error:
            raise
    if failure is not None:
        try:
            raise failure
        finally:
            del failure  # it refers to this frame through its traceback
    call.succeed()
    return ctx.results  # type: ignore[return-value]


class HookedCall:
    """One started call in steps, for callers that run several at once: `start`, then `succeed` or `fail`.

    Exactly one of `succeed` and `fail` is called, once, after `start` was, even if `start` raised.
    """

    __slots__ = ("_chain", "ctx", "skipped")

    def __init__(self, chain: HookChain, ctx: PredictContext) -> None:
        self._chain = chain
        self.ctx = ctx
        self.skipped = False

    def start(self) -> None:
        """Dispatch `on_predict_start`; `skipped` tells afterwards whether a hook supplied the results."""
        try:
            self._chain.dispatch("on_predict_start", self.ctx)
        finally:
            self.skipped = self.ctx.results is not None

    def succeed(self) -> None:
        """Dispatch `on_predict_end` with results, usage and elapsed time; an end hook's error propagates."""
        if self._chain.is_empty:
            return
        self._end()

    def fail(self, error: BaseException) -> BaseException:
        """Dispatch `on_error` and `on_predict_end`, whatever they raise, and return the error to raise.

        That is `error` with what the hooks raised hung onto it, unless a hook raised KeyboardInterrupt,
        SystemExit or CancelledError.
        """
        ctx = self.ctx
        ctx.error = error
        if not self.skipped:
            ctx.results = None
        if self._chain.is_empty:
            return error
        failures = Failures(error)
        failures.attempt(self._chain.dispatch, "on_error", ctx)
        failures.attempt(self._end)
        return failures.error or error

    def _end(self) -> None:
        ctx = self.ctx
        if ctx.results:
            ctx.usage = aggregate_usage(ctx.results)
        ctx.elapsed_ms = (perf_counter() - ctx.started_at) * 1000.0
        self._chain.dispatch("on_predict_end", ctx)


def succeed_all(calls: Sequence[HookedCall]) -> None:
    """End calls that ran together, the last started first; all end before the first error is raised."""
    failures = Failures()
    for call in reversed(calls):
        failures.attempt(call.succeed)
    failures.raise_if_any()


def fail_all(calls: Sequence[HookedCall], error: BaseException) -> BaseException:
    """Fail calls that ran together, the last started first, and return the error to raise."""
    failures = Failures(error)
    for call in reversed(calls):
        failures.add(call.fail(error))
    return failures.error or error
