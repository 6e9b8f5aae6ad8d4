from __future__ import annotations

from typing import Any

import pytest

from laya_hooks import add_default_hook, call_scope
from laya_router import Router

RU = "Здравствуйте, верните деньги"


@pytest.fixture
def router(stub: Any) -> Router:
    router = Router(max_loaded=3)
    for name in ("english", "multilingual", "typed-decisions"):
        router.attach(name, stub(name))
    return router


def agent(router: Router, name: str) -> Any:
    return router.load(name)


def test_the_agent_answers_and_the_result_says_who_and_why(router: Router, questions: Any) -> None:
    result = router.predict(RU, questions)
    assert result["answers"] == {"by": "multilingual", "state": RU}
    assert result["routing"] == router.route(RU, questions)
    assert agent(router, "multilingual").calls == [("system_one", RU, questions, {})]
    assert router.system_one(RU, questions) == result


def test_an_agent_is_asked_for_what_the_caller_set_and_nothing_else(router: Router, questions: Any) -> None:
    router.predict("x", questions, lang="de-AT", max_len=64, head_max_len=32, min_confidence=0.0)
    assert agent(router, "multilingual").calls[0][3] == {
        "lang": "de",
        "max_len": 64,
        "head_max_len": 32,
        "min_confidence": 0.0,
    }


def test_the_hooks_of_the_router_wrap_those_of_the_agent(router: Router, questions: Any, recorder: Any) -> None:
    log: list[Any] = []
    agent(router, "english").add_hook(recorder("agent.", log))
    router.add_hook(recorder("router.", log))
    router.predict("x", questions, hooks=recorder("call.", log))
    assert [entry[0] for entry in log] == [
        "router.on_route",
        "call.on_route",
        "router.on_predict_start",
        "call.on_predict_start",
        "agent.on_predict_start",
        "agent.on_predict_end",
        "router.on_predict_end",
        "call.on_predict_end",
    ]


def test_default_hooks_run_once_and_again_for_an_agent_that_a_hook_calls(
    router: Router, questions: Any, recorder: Any
) -> None:
    default = recorder()
    add_default_hook(default)
    router.predict("x", questions)
    assert default.events == ["on_route", "on_predict_start", "on_predict_end"]
    default.log.clear()

    class AsksAnother:
        def on_predict_start(self, ctx: Any) -> None:
            if ctx.agent.model_id == "english":
                agent(router, "multilingual").system_one("y", questions)

    agent(router, "english").add_hook(AsksAnother())
    router.predict("x", questions)
    assert [entry[1] for entry in default.log] == [None, "english", "multilingual", "multilingual", "english"]


def test_the_context_of_the_router_carries_the_whole_call(router: Router, questions: Any, recorder: Any) -> None:
    hook = recorder()
    result = router.predict("x", questions, max_len=99, hooks=hook)
    route, start, end = hook.contexts
    assert route.run_id == start.run_id and start is end
    assert (route.states, route.questions, route.model, route.agent) == (["x"], questions, None, None)
    assert route.router is router and start.router is router
    assert start.agent is agent(router, "english") and start.model == "english" and start.max_len == 99
    assert end.results == [result] and end.usage == {"input_tokens": 1, "output_tokens": 0}
    assert end.decision is result["routing"] and end.elapsed_ms is not None and end.error is None


def test_the_request_id_of_the_scope_is_the_run_id(router: Router, questions: Any, recorder: Any) -> None:
    hook = recorder()
    with call_scope("req-7"):
        router.predict("x", questions, hooks=hook)
        router.predict_batch([{"state": "x", "questions": questions}] * 2, hooks=hook)
    assert [ctx.run_id for ctx in hook.contexts if ctx.model][:2] == ["req-7", "req-7"]
    assert sorted({ctx.run_id for ctx in hook.contexts}) == ["req-7", "req-7-0", "req-7-1"]


def test_a_route_hook_pins_a_checkpoint_before_any_is_loaded(builds: Any, questions: Any) -> None:
    class Pin:
        def on_route(self, ctx: Any) -> None:
            assert ctx.router.loaded == []
            ctx.decision = {"model": " ML ", "reason": "pinned"}

    router = Router(hooks=Pin())
    result = router.predict("x", questions)
    assert result["routing"] == {"model": "multilingual", "reason": "pinned"}
    assert builds.sources == [("convaiinnovations/laya", "multilingual")]


def test_a_route_hook_that_changes_the_model_in_place_keeps_the_repo_true(router: Router) -> None:
    class Pin:
        def on_route(self, ctx: Any) -> None:
            ctx.decision["model"] = "typed"

    decision = router.route("x", hooks=Pin())
    assert (decision.model, decision["repo"]) == ("typed-decisions", "convaiinnovations/laya/typed-decisions")


@pytest.mark.parametrize(("left", "error"), [(None, TypeError), ({}, ValueError), ({"model": "nobody"}, ValueError)])
def test_a_route_hook_that_leaves_no_decision_stops_the_call(
    router: Router, questions: Any, recorder: Any, left: Any, error: type[Exception]
) -> None:
    class Break:
        def on_route(self, ctx: Any) -> None:
            ctx.decision = left

    hook = recorder()
    with pytest.raises(error):
        router.predict("x", questions, hooks=[Break(), hook])
    assert hook.events == ["on_route"]


def test_an_error_in_a_route_hook_is_raised_without_an_error_event(builds: Any, questions: Any, recorder: Any) -> None:
    class Break:
        def on_route(self, ctx: Any) -> None:
            raise LookupError("no route")

    hook = recorder()
    router = Router(hooks=[hook, Break()])
    with pytest.raises(LookupError):
        router.predict("x", questions)
    assert hook.events == ["on_route"] and builds.sources == []
    with pytest.warns(RuntimeWarning, match="no route"):
        assert router.route("x", hooks_raise=False).model == "english"


def test_a_failing_agent_gets_error_and_end_events_and_no_results(
    router: Router, questions: Any, recorder: Any
) -> None:
    hook = recorder()
    agent(router, "english").failure = LookupError("broken")
    with pytest.raises(LookupError, match="broken") as caught:
        router.predict("x", questions, hooks=hook)
    assert hook.events == ["on_route", "on_predict_start", "on_error", "on_predict_end"]
    end = hook.contexts[-1]
    assert end.error is caught.value and end.results is None and end.usage is None


def test_a_skipped_call_gets_the_routing_and_reaches_no_agent(router: Router, questions: Any) -> None:
    cached = {"answers": {"refund": {"noul": 1.0}}}
    result = router.predict("x", questions, on_predict_start=lambda ctx: ctx.skip([cached]))
    assert result["routing"].model == "english"
    assert "routing" not in cached
    own = {"answers": {}, "routing": {"model": "cache"}}
    assert router.predict("x", questions, on_predict_start=lambda ctx: ctx.skip([own]))["routing"] == {"model": "cache"}
    assert agent(router, "english").calls == []


def test_what_start_hooks_leave_is_what_the_agent_gets(router: Router, questions: Any) -> None:
    other = {"urgent": {"type": "noul", "instructions": "Is it urgent?"}}

    def rewrite(ctx: Any) -> None:
        ctx.states, ctx.questions, ctx.max_len = ["y"], other, 32

    router.predict("x", questions, on_predict_start=rewrite, max_len=64)
    assert agent(router, "english").calls == [("system_one", "y", other, {"max_len": 32})]


@pytest.mark.parametrize("states", [[], ["a", "b"]])
def test_a_start_hook_cannot_make_one_state_none_or_two(router: Router, questions: Any, states: list[str]) -> None:
    with pytest.raises(ValueError, match=f"left {len(states)} states"):
        router.predict("x", questions, on_predict_start=lambda ctx: setattr(ctx, "states", states))


@pytest.mark.parametrize(
    ("state", "questions", "error"), [(None, {}, TypeError), ("x", None, TypeError), ("x", [1], TypeError)]
)
def test_a_request_that_cannot_be_read_loads_nothing(
    builds: Any, state: Any, questions: Any, error: type[Exception]
) -> None:
    with pytest.raises(error):
        Router().predict(state, questions)
    assert builds.sources == []


def test_predict_long_scans_on_the_routed_agent(router: Router, questions: Any, recorder: Any) -> None:
    hook = recorder()
    result = router.predict_long("x", questions, lang="de", window=128, stride=64, batch_size=8, hooks=hook)
    assert result["routing"].model == "multilingual"
    assert agent(router, "multilingual").calls == [
        (
            "predict_long",
            "x",
            questions,
            {"aggregate": "auto", "window": 128, "stride": 64, "batch_size": 8, "lang": "de"},
        )
    ]
    assert hook.events == ["on_route", "on_predict_start", "on_predict_end"]


def test_a_budget_that_a_start_hook_sets_reaches_a_scan(router: Router, questions: Any) -> None:
    router.predict_long("x", questions, on_predict_start=lambda ctx: setattr(ctx, "max_len", 77))
    assert agent(router, "english").budgets == (77, None)
