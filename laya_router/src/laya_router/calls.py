"""From a started call to its results: one agent call for one request, shared agent calls for many."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from laya_hooks.chain import HookChain
from laya_hooks.context import PredictContext
from laya_hooks.defaults import defaults_already_run
from laya_hooks.lifecycle import HookedCall, fail_all, require_one_result_per_state, run_call, succeed_all
from laya_hooks.protocols import AgentLike

Result: TypeAlias = dict[str, Any]


def given(**controls: Any) -> dict[str, Any]:
    """The controls a caller set, so that an agent is asked for nothing beyond them."""
    return {name: value for name, value in controls.items() if value is not None and value is not False}


def answer_one(chain: HookChain, ctx: PredictContext, ask: Callable[[PredictContext], Result]) -> Result:
    """Run one call whose inference is the agent call `ask`, and return its result with the routing."""

    def infer(ctx: PredictContext) -> list[Result]:
        _require_one_state(ctx)
        with defaults_already_run():
            return [_routed(ask(ctx), ctx)]

    return run_call(chain, ctx, infer, _settle_skipped)[0]


@attrs.frozen(eq=False)
class BatchItem:
    """One request of a batch: makes its context when its turn to start comes; `lang` is a primary subtag."""

    context: Callable[[], PredictContext]
    lang: str | None


def answer_together(
    chain: HookChain, items: Sequence[BatchItem], agent: AgentLike, controls: Mapping[str, Any]
) -> list[Result]:
    """Run the calls of one checkpoint: all starts, the shared passes, all ends in reverse.

    Args:
        controls: keyword arguments of every `agent.predict_batch` call.

    Raises:
        BaseException: what failed one of them, after every started call has had its error and end events.
    """
    calls: list[HookedCall] = []
    failure: BaseException | None = None
    try:
        for item in items:
            calls.append(HookedCall(chain, item.context()))
            calls[-1].start()
        _fill_results(zip(calls, items, strict=True), agent, controls)
    except BaseException as error:
        failure = fail_all(calls, error)
        if failure is error:
            raise
    if failure is not None:
        raise failure
    succeed_all(calls)
    return [_result_of(call.ctx) for call in calls]


def _fill_results(
    started: Iterable[tuple[HookedCall, BatchItem]], agent: AgentLike, controls: Mapping[str, Any]
) -> None:
    passes: dict[Hashable, list[PredictContext]] = {}
    langs: dict[Hashable, str | None] = {}
    for call, item in started:
        if call.skipped:
            _settle_skipped(call.ctx)
            continue
        _require_one_state(call.ctx)
        ctx = call.ctx
        key: Hashable = (freeze(ctx.questions), ctx.max_len, ctx.head_max_len, item.lang)
        passes.setdefault(key, []).append(ctx)
        langs[key] = item.lang
    for key, contexts in passes.items():
        _share_a_pass(contexts, agent, {**controls, **given(lang=langs[key])})


def _share_a_pass(contexts: Sequence[PredictContext], agent: AgentLike, controls: Mapping[str, Any]) -> None:
    first = contexts[0]
    with defaults_already_run():
        results = agent.predict_batch(
            [ctx.states[0] for ctx in contexts],
            first.questions,
            **controls,
            **given(max_len=first.max_len, head_max_len=first.head_max_len),
        )
    for ctx, result in zip(contexts, results, strict=True):
        ctx.results = [_routed(result, ctx)]


def freeze(value: object) -> Hashable:
    """A key that is equal for equal questions alone: order and types count; other objects count by identity."""
    if isinstance(value, Mapping):
        return (dict, tuple((freeze(key), freeze(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return (type(value), tuple(map(freeze, value)))
    if value is None or isinstance(value, str | int | float):
        return (type(value), value)
    return (object, id(value))


def _require_one_state(ctx: PredictContext) -> None:
    if len(ctx.states) != 1:
        raise ValueError(f"a start hook left {len(ctx.states)} states; a router's call has exactly one")


def _settle_skipped(ctx: PredictContext) -> None:
    require_one_result_per_state(ctx)
    # A copy, as the hook may hand out the same cached result again under another decision.
    ctx.results = [result if "routing" in result else _routed(result, ctx) for result in ctx.results or ()]


def _routed(result: Result, ctx: PredictContext) -> Result:
    return {**result, "routing": ctx.decision}


def _result_of(ctx: PredictContext) -> Result:
    if not ctx.results:
        raise ValueError("an end hook left no results")
    return ctx.results[0]
