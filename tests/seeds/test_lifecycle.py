"""The order of events at every entry point, as the lifecycle page draws it."""

from __future__ import annotations

import re
from typing import Any

import pytest

import laya
from laya.hooks import aggregate_usage

from .blocks import block
from .recording import order, recorder, was_scored

pytestmark = pytest.mark.filterwarnings("ignore:.*temperature_by_options")


def test_installed_hooks_run_before_per_call_ones_in_both_events(agent: Any, questions: dict[str, Any]) -> None:
    text = block("order")
    installed, per_call = (re.findall(r"\w", names) for names in re.findall(r"\[(.*?)\]", text))
    stated = re.findall(r"^(on_\w+):\s+(.+)$", text, re.MULTILINE)
    trace: list[Any] = []
    agent.add_hook([recorder(trace, name) for name in installed])
    agent.predict("Hello", questions, hooks=[recorder(trace, name) for name in per_call])
    assert order(trace) == [f"{name} {event}" for event, names in stated for name in names.split(", ")]
    assert len({id(ctx) for _, _, ctx in trace}) == 1


def test_a_start_hook_may_rewrite_states_questions_and_budgets(agent: Any, questions: dict[str, Any]) -> None:
    def rewrite(ctx: laya.PredictContext) -> None:
        ctx.states = ["another", "one more"]
        ctx.questions = {"urgent": {"type": "noul", "instructions": "Is it urgent?"}}
        ctx.max_len = 256

    results = agent.predict_batch(["Hello"], questions, on_predict_start=rewrite)
    assert [list(result["answers"]) for result in results] == [["urgent"], ["urgent"]]


def test_a_skipped_call_returns_what_the_hook_supplied_and_still_ends(agent: Any, questions: dict[str, Any]) -> None:
    known = agent.predict("Hello", questions)
    trace: list[Any] = []
    result = agent.predict(
        "Good evening", questions, on_predict_start=lambda ctx: ctx.skip([known]), hooks=recorder(trace, "A")
    )
    assert result == known
    assert order(trace) == ["A on_predict_start", "A on_predict_end"]
    assert not was_scored(trace[-1][2])


def test_an_end_hook_sees_results_usage_and_time_and_may_rewrite_the_results(
    agent: Any, questions: dict[str, Any]
) -> None:
    seen: list[Any] = []

    def look(ctx: laya.PredictContext) -> None:
        seen.append((ctx.results, ctx.usage, ctx.elapsed_ms))
        ctx.results = [{"answers": "rewritten"}]

    assert agent.predict_batch(["Hello"], questions, on_predict_end=look) == [{"answers": "rewritten"}]
    ((results, usage, elapsed_ms),) = seen
    assert usage == aggregate_usage(results)
    assert usage["input_tokens"] == results[0]["usage"]["input_tokens"] > 0
    assert elapsed_ms > 0.0


def test_on_error_comes_before_on_predict_end_and_sees_neither_time_nor_usage(
    agent: Any, questions: dict[str, Any]
) -> None:
    trace: list[Any] = []
    at_error: list[Any] = []

    class Refuse:
        def on_predict_start(self, ctx: laya.PredictContext) -> None:
            raise PermissionError("refused")

        def on_error(self, ctx: laya.PredictContext) -> None:
            at_error.append((ctx.elapsed_ms, ctx.usage, ctx.results))

    with pytest.raises(PermissionError) as raised:
        agent.predict("Hello", questions, hooks=[recorder(trace, "A"), Refuse()])
    assert order(trace) == ["A on_predict_start", "A on_error", "A on_predict_end"]
    ctx = trace[-1][2]
    assert at_error == [(None, None, None)]
    assert ctx.error is raised.value
    assert ctx.elapsed_ms >= 0.0
    assert (ctx.results, ctx.usage) == (None, None)


def test_the_routers_hooks_wrap_the_agents_and_routing_comes_before_loading(
    router: laya.Router, questions: dict[str, Any]
) -> None:
    trace: list[Any] = []

    class InstallInside:
        def on_load(self, ctx: laya.PredictContext) -> None:
            ctx.agent.add_hook(recorder(trace, "agent"))

    router.add_hook([recorder(trace, "router"), InstallInside()])
    result = router.predict("Hello there", questions, hooks=recorder(trace, "call"))
    assert order(trace) == [
        "router on_route",
        "call on_route",
        "router on_load",
        "call on_load",
        "router on_predict_start",
        "call on_predict_start",
        "agent on_predict_start",
        "agent on_predict_end",
        "router on_predict_end",
        "call on_predict_end",
    ]
    start = trace[4][2]
    assert result["routing"] == start.decision
    assert (start.model, start.router, start.agent) == ("english", router, router.agents()["english"])
    assert start.run_id == trace[0][2].run_id != trace[6][2].run_id


def test_a_route_hook_pins_a_checkpoint_and_the_other_is_never_loaded(
    router: laya.Router, questions: dict[str, Any]
) -> None:
    class Pin:
        def on_route(self, ctx: laya.PredictContext) -> None:
            ctx.decision = {**ctx.decision, "model": "ml"}

    result = router.predict("Hello there", questions, hooks=Pin())
    assert result["routing"]["model"] == "multilingual"
    assert router.loaded == ["multilingual"]


def test_in_a_batch_all_start_before_any_ends_and_the_ends_come_in_reverse(
    router: laya.Router, questions: dict[str, Any]
) -> None:
    trace: list[Any] = []
    requests = [
        {"state": state, "questions": questions, "model": model}
        for state, model in [("a", "english"), ("b", "multilingual"), ("c", "english"), ("d", "english")]
    ]
    results = router.predict_batch(requests, hooks=recorder(trace, "hook"))
    assert [f"{event} {ctx.states[0] if ctx.states else ctx.model}" for _, event, ctx in trace] == [
        *[f"on_route {state}" for state in "abcd"],
        "on_load english",
        *[f"on_predict_start {state}" for state in "acd"],
        *[f"on_predict_end {state}" for state in "dca"],
        "on_evict english",
        "on_load multilingual",
        "on_predict_start b",
        "on_predict_end b",
    ]
    assert [result["routing"]["model"] for result in results] == [request["model"] for request in requests]
    assert len({ctx.run_id for _, event, ctx in trace if event == "on_predict_start"}) == 4


def test_budgets_of_requests_and_hooks_split_the_shared_pass(router: laya.Router, questions: dict[str, Any]) -> None:
    passes: list[Any] = []

    class CountPasses:
        def on_load(self, ctx: laya.PredictContext) -> None:
            ctx.agent.add_hook(recorder(passes, "agent", "on_predict_start"))

        def on_predict_start(self, ctx: laya.PredictContext) -> None:
            if ctx.states == ["c"]:
                ctx.max_len = 200

    requests: list[dict[str, Any]] = [{"state": state, "questions": questions} for state in "abcd"]
    requests[1]["max_len"] = requests[2]["max_len"] = 300
    router.predict_batch(requests, hooks=CountPasses())
    assert [(ctx.states, ctx.max_len) for _, _, ctx in passes] == [(["a", "d"], None), (["b"], 300), (["c"], 200)]


def test_a_failing_group_fails_every_started_request_of_it_in_reverse(
    router: laya.Router, questions: dict[str, Any]
) -> None:
    trace: list[Any] = []

    class Refuse:
        def on_predict_start(self, ctx: laya.PredictContext) -> None:
            if ctx.states == ["b"]:
                raise PermissionError("refused")

    requests = [{"state": state, "questions": questions} for state in "abc"]
    with pytest.raises(PermissionError) as raised:
        router.predict_batch(
            requests, hooks=[recorder(trace, "hook", "on_predict_start", "on_predict_end", "on_error"), Refuse()]
        )
    assert [f"{event} {ctx.states[0]}" for _, event, ctx in trace] == [
        "on_predict_start a",
        "on_predict_start b",
        "on_error b",
        "on_predict_end b",
        "on_error a",
        "on_predict_end a",
    ]
    assert all(ctx.error is raised.value for _, _, ctx in trace)


def test_evict_comes_before_load_and_hooks_may_call_back_into_the_router(router: laya.Router) -> None:
    seen: list[tuple[str, str, list[str]]] = []

    class Look:
        def on_load(self, ctx: laya.PredictContext) -> None:
            seen.append(("load", ctx.model, ctx.router.loaded))

        def on_evict(self, ctx: laya.PredictContext) -> None:
            seen.append(("evict", ctx.model, ctx.router.loaded))

    router.add_hook(Look())
    router.load("english")
    router.load("english")
    router.load("multilingual")
    router.unload("multilingual")
    assert seen == [
        ("load", "english", ["english"]),
        ("evict", "english", ["multilingual"]),
        ("load", "multilingual", ["multilingual"]),
        ("evict", "multilingual", []),
    ]


def test_an_attached_agent_fires_no_load_event(router: laya.Router, agent: Any) -> None:
    trace: list[Any] = []
    router.add_hook(recorder(trace, "hook"))
    router.attach("mine", agent)
    assert router.load("mine") is agent
    assert order(trace) == []


def test_hooks_see_calls_with_nothing_to_do(agent: Any, questions: dict[str, Any]) -> None:
    trace: list[Any] = []
    agent.add_hook(recorder(trace, "hook"))
    assert agent.predict_batch([], questions) == []
    assert [result["answers"] for result in agent.predict_batch(["a", "b"], {})] == [{}, {}]
    assert agent.system_one("a", {})["answers"] == {}
    assert order(trace) == ["hook on_predict_start", "hook on_predict_end"] * 3
    assert not any(was_scored(ctx) for _, _, ctx in trace)
    assert [len(ctx.results) for _, event, ctx in trace if event == "on_predict_end"] == [0, 2, 1]


def test_a_serialised_hook_may_call_back_into_its_agent(agent: Any, questions: dict[str, Any]) -> None:
    depths: list[int] = []

    class AskAgain:
        def on_predict_start(self, ctx: laya.PredictContext) -> None:
            depths.append(len(ctx.states))
            if len(ctx.states) < 3:
                ctx.agent.predict_batch([*ctx.states, "more"], questions)

    with laya.load(agent.model_id, hooks=AskAgain(), hooks_concurrent=False) as serialised:
        serialised.predict("Hello", questions)
    assert depths == [1, 2, 3]
