"""Hooks on the real agent: order, skips, rewrites, failures."""

from __future__ import annotations

from threading import Event
from typing import Any

import pytest

from laya_core import Agent
from laya_hooks import PredictContext, add_default_hook, set_default_hooks

QUESTION: dict[str, Any] = {"q": {"type": "noul", "instructions": "Is it a refund?"}}
OTHER: dict[str, Any] = {"c": {"type": "choice", "instructions": "Which?", "criteria": ["a", "b"]}}


class Named:
    """Writes its name and the event into a shared list; fails in the events it is told to."""

    def __init__(self, name: str, trace: list[str], failing: str = "") -> None:
        self.name = name
        self.trace = trace
        self.failing = failing.split()

    def _event(self, event: str) -> None:
        self.trace.append(f"{self.name} {event}")
        if event in self.failing:
            raise LookupError(f"{self.name} {event}")

    def on_predict_start(self, ctx: PredictContext) -> None:
        self._event("start")

    def on_predict_end(self, ctx: PredictContext) -> None:
        self._event("end")

    def on_error(self, ctx: PredictContext) -> None:
        self._event("error")


@pytest.fixture
def trace(no_default_hooks: None) -> list[str]:
    return []


def test_defaults_then_installed_then_per_call_in_every_event(agent: Agent, trace: list[str]) -> None:
    set_default_hooks(hooks=[Named("default", trace)])
    add_default_hook(Named("default 2", trace))
    order = ["default", "default 2", "installed", "scoped", "call", "callable"]

    def callable_start(ctx: PredictContext) -> None:
        trace.append("callable start")

    def callable_end(ctx: PredictContext) -> None:
        trace.append("callable end")

    with agent.hooks_installed(Named("installed", trace)), agent.hooks_installed(Named("scoped", trace)):
        agent.predict(
            "text",
            QUESTION,
            hooks=Named("call", trace),
            on_predict_start=callable_start,
            on_predict_end=callable_end,
        )
    assert trace == [f"{name} start" for name in order] + [f"{name} end" for name in order]
    assert agent.hooks == []


@pytest.mark.parametrize("call", ["predict", "predict_batch", "predict_long"])
def test_a_failed_call_goes_through_error_and_end_once(agent: Agent, trace: list[str], call: str) -> None:
    state: Any = ["text"] if call == "predict_batch" else "text"
    with pytest.raises(ValueError, match="question 'q'"):
        getattr(agent, call)(state, {"q": {"type": "noul"}}, hooks=Named("h", trace))
    assert trace == ["h start", "h error", "h end"]


def test_the_context_of_a_call(agent: Agent, no_default_hooks: None) -> None:
    contexts: list[PredictContext] = []
    started: list[Any] = []

    def start(ctx: PredictContext) -> None:
        contexts.append(ctx)
        started.append((ctx.states, ctx.questions, ctx.max_len, ctx.head_max_len, ctx.results, ctx.elapsed_ms))

    states = ["a", "b"]
    results = agent.predict_batch(
        states, QUESTION, max_len=100, head_max_len=80, on_predict_start=start, on_predict_end=contexts.append
    )
    [begun, ended] = contexts
    assert begun is ended
    assert started == [(["a", "b"], QUESTION, 100, 80, None, None)]
    assert (ended.agent, ended.model, ended.router, ended.decision) == (agent, agent.model_id, None, None)
    assert ended.results is results
    assert ended.usage is not None
    assert ended.usage["input_tokens"] == sum(result["usage"]["input_tokens"] for result in results)
    assert ended.elapsed_ms is not None and ended.elapsed_ms > 0 and ended.error is None


def test_a_rewritten_call_is_what_inference_sees(agent: Agent) -> None:
    def rewrite(ctx: PredictContext) -> None:
        ctx.states = ["another text, longer than the first"]
        ctx.questions = OTHER
        ctx.max_len = 40

    expected = agent.predict("another text, longer than the first", OTHER, max_len=40)
    assert agent.predict("text", QUESTION, on_predict_start=rewrite) == expected


def _drop_states(ctx: PredictContext) -> None:
    ctx.states = []


def _drop_results(ctx: PredictContext) -> None:
    ctx.results = []


@pytest.mark.parametrize("call", ["predict", "predict_long"])
@pytest.mark.parametrize("hook", [{"on_predict_start": _drop_states}, {"on_predict_end": _drop_results}])
def test_a_hook_that_leaves_nothing_to_return_is_refused(agent: Agent, call: str, hook: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a hook left no"):
        getattr(agent, call)("a text", {"q": {"type": "noul", "instructions": "Is it a text?"}}, **hook)


def test_rewriting_the_states_leaves_the_list_of_the_caller_alone(agent: Agent) -> None:
    states = ["secret", "b"]

    def redact(ctx: PredictContext) -> None:
        ctx.states[0] = "[redacted]"

    agent.predict_batch(states, QUESTION, on_predict_start=redact)
    assert states == ["secret", "b"]


def test_a_bad_rewrite_is_refused_like_a_bad_call(agent: Agent) -> None:
    def no_list(ctx: PredictContext) -> None:
        ctx.states = "text"  # type: ignore[assignment]

    with pytest.raises(TypeError, match="states must be a list"):
        agent.predict("text", QUESTION, on_predict_start=no_list)
    with pytest.raises(TypeError, match="states must be a list"):
        agent.predict_long("text " * 3000, QUESTION, on_predict_start=no_list)


@pytest.mark.parametrize("states", [["a"], ["a", "b", "c"]])
def test_skipping_returns_the_given_results_without_a_pass(
    agent: Agent, states: list[str], monkeypatch: pytest.MonkeyPatch, trace: list[str]
) -> None:
    monkeypatch.setattr(type(agent.engine), "score", None)
    cached = [{"answers": {}, "usage": {"input_tokens": number, "output_tokens": 0}} for number in range(len(states))]
    ended: list[PredictContext] = []
    results = agent.predict_batch(
        states,
        QUESTION,
        hooks=Named("h", trace),
        on_predict_start=lambda ctx: ctx.skip(cached),
        on_predict_end=ended.append,
    )
    assert results == cached
    assert ended[0].results == cached
    assert trace == ["h start", "h end"]


def test_skipping_needs_no_valid_question(agent: Agent) -> None:
    assert agent.predict("a", {"q": {}}, on_predict_start=lambda ctx: ctx.skip([{"answers": {}}])) == {"answers": {}}


@pytest.mark.parametrize("count", [0, 1, 3])
def test_skipping_with_another_number_of_results_is_refused(agent: Agent, count: int) -> None:
    ended: list[PredictContext] = []
    with pytest.raises(ValueError, match="results"):
        agent.predict_batch(
            ["a", "b"],
            QUESTION,
            on_predict_start=lambda ctx: ctx.skip([{"answers": {}}] * count),
            on_predict_end=ended.append,
        )
    assert isinstance(ended[0].error, ValueError)


def test_a_failing_start_hook_aborts_before_inference(
    agent: Agent, trace: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(agent.engine), "score", None)
    with pytest.raises(LookupError, match="a start"):
        agent.predict("text", QUESTION, hooks=[Named("a", trace, "start"), Named("b", trace)])
    assert trace == ["a start", "a error", "b error", "a end", "b end"]


def test_results_are_withdrawn_from_the_context_of_a_failed_call(agent: Agent) -> None:
    seen: list[Any] = []

    class Watch:
        def on_error(self, ctx: PredictContext) -> None:
            seen.append((ctx.results, ctx.usage, ctx.elapsed_ms, type(ctx.error)))

        def on_predict_end(self, ctx: PredictContext) -> None:
            seen.append((ctx.results, ctx.usage, ctx.elapsed_ms is not None, type(ctx.error)))

    with pytest.raises(TypeError):
        agent.predict_batch(["fine", None], QUESTION, hooks=Watch())
    assert seen == [(None, None, None, TypeError), (None, None, True, TypeError)]


def test_a_failing_end_hook_reaches_the_caller_or_warns(agent: Agent, trace: list[str]) -> None:
    with pytest.raises(LookupError, match="h end"):
        agent.predict("text", QUESTION, hooks=Named("h", trace, "end"))
    with pytest.warns(RuntimeWarning, match="h end"):
        result = agent.predict("text", QUESTION, hooks=Named("h", trace, "end"), hooks_raise=False)
    assert result == agent.predict("text", QUESTION)


def test_an_end_hook_may_change_the_results(agent: Agent) -> None:
    def mark(ctx: PredictContext) -> None:
        assert ctx.results is not None
        ctx.results = [{**result, "marked": True} for result in ctx.results]

    assert agent.predict("text", QUESTION, on_predict_end=mark)["marked"] is True


def test_empty_calls_run_hooks_too(agent: Agent, trace: list[str]) -> None:
    ended: list[PredictContext] = []
    agent.predict_batch([], QUESTION, hooks=Named("h", trace), on_predict_end=ended.append)
    agent.predict("text", {}, hooks=Named("h", trace), on_predict_end=ended.append)
    assert trace == ["h start", "h end"] * 2
    assert ended[0].results == [] and len(ended[1].results or []) == 1


def test_a_hook_may_call_its_agent(agent: Agent, trace: list[str]) -> None:
    set_default_hooks(hooks=[Named("default", trace)])
    inner: list[Any] = []

    def ask_again(ctx: PredictContext) -> None:
        if ctx.states == ["outer"]:
            inner.append(ctx.agent.predict("inner", QUESTION))

    result = agent.predict("outer", QUESTION, on_predict_end=ask_again)
    assert inner == [agent.predict("inner", QUESTION)]
    assert result == agent.predict("outer", QUESTION)
    assert trace[:4] == ["default start", "default end", "default start", "default end"]


def test_a_hook_that_takes_too_long_is_given_up(agent: Agent) -> None:
    released = Event()
    try:
        with pytest.raises(TimeoutError):
            agent.predict("text", QUESTION, on_predict_start=lambda ctx: released.wait(30), hooks_timeout=0.01)
    finally:
        released.set()
