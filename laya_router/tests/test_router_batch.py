from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laya_router import Router
from laya_router.calls import freeze

RU = "Здравствуйте, верните деньги"


@pytest.fixture
def router(stub: Any) -> Router:
    router = Router(max_loaded=3)
    for name in ("english", "multilingual"):
        router.attach(name, stub(name))
    return router


def agent(router: Router, name: str) -> Any:
    return router.load(name)


def requests(*states: str, **more: Any) -> list[dict[str, Any]]:
    return [{"state": state, "questions": {"q": {"type": "noul", "instructions": "?"}}, **more} for state in states]


def test_results_come_in_request_order_whatever_checkpoint_answers(router: Router) -> None:
    results = router.predict_batch(requests("a", RU, "b"))
    assert [result["answers"]["state"] for result in results] == ["a", RU, "b"]
    assert [result["routing"].model for result in results] == ["english", "multilingual", "english"]
    assert [call[1] for call in agent(router, "english").calls] == [["a", "b"]]


def test_an_empty_batch_is_an_empty_list(builds: Any) -> None:
    assert Router().predict_batch([]) == []
    assert builds.sources == []


def test_checkpoints_are_taken_in_order_of_first_appearance(builds: Any, recorder: Any) -> None:
    hook = recorder()
    Router(max_loaded=1, hooks=hook).predict_batch(requests(RU, "a"))
    assert hook.log == [
        ("on_route", None, RU),
        ("on_route", None, "a"),
        ("on_load", "multilingual", None),
        ("on_predict_start", "multilingual", RU),
        ("on_predict_end", "multilingual", RU),
        ("on_evict", "multilingual", None),
        ("on_load", "english", None),
        ("on_predict_start", "english", "a"),
        ("on_predict_end", "english", "a"),
    ]


def test_all_starts_come_before_the_pass_and_the_ends_in_reverse(router: Router, recorder: Any) -> None:
    log: list[Any] = []
    agent(router, "english").add_hook(recorder("agent.", log))
    hook = recorder("", log)
    router.predict_batch(requests("a", "b", "c"), hooks=hook)
    assert [(entry[0], entry[2]) for entry in log[3:]] == [
        ("on_predict_start", "a"),
        ("on_predict_start", "b"),
        ("on_predict_start", "c"),
        ("agent.on_predict_start", "a"),
        ("agent.on_predict_end", "a"),
        ("on_predict_end", "c"),
        ("on_predict_end", "b"),
        ("on_predict_end", "a"),
    ]
    ends = [ctx for ctx in hook.contexts if ctx.elapsed_ms is not None]
    assert len({ctx.run_id for ctx in ends}) == 3
    assert all(ctx.usage == {"input_tokens": 1, "output_tokens": 0} for ctx in ends)


def test_passes_are_shared_by_equal_questions_in_equal_order_budgets_and_language(router: Router) -> None:
    one = {"q": {"type": "choice", "instructions": "?", "criteria": {"a": None, "b": None}}}
    equal = {"q": {"type": "choice", "instructions": "?", "criteria": {"a": None, "b": None}}}
    other_order = {"q": {"type": "choice", "instructions": "?", "criteria": {"b": None, "a": None}}}
    router.predict_batch(
        [
            {"state": "0", "questions": one},
            {"state": "1", "questions": other_order},
            {"state": "2", "questions": equal},
            {"state": "3", "questions": one, "max_len": 64},
            {"state": "4", "questions": one, "lang": "en"},
            {"state": "5", "questions": one, "lang": "en_US", "max_len": None},
            {"state": "6", "questions": one, "head_max_len": 32},
        ],
        batch_size=4,
        sort_by_length=True,
        min_confidence=0.5,
    )
    calls = agent(router, "english").calls
    assert [call[1] for call in calls] == [["0", "2"], ["1"], ["3"], ["4", "5"], ["6"]]
    shared = {"batch_size": 4, "sort_by_length": True, "min_confidence": 0.5}
    assert [call[3] for call in calls] == [
        shared,
        shared,
        {**shared, "max_len": 64},
        {**shared, "lang": "en"},
        {**shared, "head_max_len": 32},
    ]


def test_a_start_hook_changes_its_own_request_before_passes_are_formed(router: Router) -> None:
    def widen(ctx: Any) -> None:
        if ctx.states == ["b"]:
            ctx.max_len = 256

    router.predict_batch(requests("a", "b", "c", max_len=64), on_predict_start=widen)
    calls = agent(router, "english").calls
    assert [(call[1], call[3]) for call in calls] == [(["a", "c"], {"max_len": 64}), (["b"], {"max_len": 256})]


def test_a_skipped_request_leaves_the_pass_and_gets_its_routing(router: Router) -> None:
    cached = {"answers": {}, "usage": {"input_tokens": 5}}

    def skip(ctx: Any) -> None:
        if ctx.states == ["b"]:
            ctx.skip([cached])

    results = router.predict_batch(requests("a", "b"), on_predict_start=skip)
    assert results[1] == {**cached, "routing": results[1]["routing"]}
    assert agent(router, "english").calls[0][1] == ["a"]


def test_two_results_for_one_request_are_refused(router: Router) -> None:
    with pytest.raises(ValueError, match="2 results for 1 states"):
        router.predict_batch(requests("a"), on_predict_start=lambda ctx: setattr(ctx, "results", [{}, {}]))


def test_a_failing_group_fails_every_started_request_in_reverse_order(router: Router, recorder: Any) -> None:
    hook = recorder()
    agent(router, "english").failure = LookupError("broken")
    cached = {"answers": {}}

    class Cache:
        def on_predict_start(self, ctx: Any) -> None:
            if ctx.states == ["b"]:
                ctx.skip([cached])

    with pytest.raises(LookupError, match="broken") as caught:
        router.predict_batch(requests(RU, "a", "b", "c"), hooks=[Cache(), hook])
    assert [(event, state) for event, _, state in hook.log[4:]] == [
        ("on_predict_start", RU),
        ("on_predict_end", RU),
        ("on_predict_start", "a"),
        ("on_predict_start", "b"),
        ("on_predict_start", "c"),
        ("on_error", "c"),
        ("on_predict_end", "c"),
        ("on_error", "b"),
        ("on_predict_end", "b"),
        ("on_error", "a"),
        ("on_predict_end", "a"),
    ]
    failed = {ctx.states[0]: ctx for ctx in hook.contexts if ctx.error is not None}
    assert all(ctx.error is caught.value for ctx in failed.values())
    assert failed["b"].results is not None and failed["a"].results is None and failed["c"].results is None


def test_results_of_an_earlier_pass_are_reset_when_a_later_one_fails(router: Router, recorder: Any) -> None:
    english = agent(router, "english")
    answer = english.predict_batch

    def fail_on_second(states: Any, questions: Any, **controls: Any) -> Any:
        if states == ["b"]:
            raise LookupError("second")
        return answer(states, questions, **controls)

    english.predict_batch = fail_on_second
    hook = recorder()
    with pytest.raises(LookupError, match="second"):
        router.predict_batch([*requests("a"), *requests("b", max_len=9)], hooks=hook)
    assert {ctx.states[0] for ctx in hook.contexts if ctx.error} == {"a", "b"}
    assert all(ctx.results is None for ctx in hook.contexts if ctx.error)


def test_a_start_hook_that_raises_fails_what_has_started_and_nothing_else(router: Router, recorder: Any) -> None:
    def fail(ctx: Any) -> None:
        if ctx.states == ["b"]:
            raise LookupError("start")

    hook = recorder()
    with pytest.raises(LookupError, match="start"):
        router.predict_batch(requests("a", "b", "c"), hooks=hook, on_predict_start=fail)
    assert [(event, state) for event, _, state in hook.log[3:]] == [
        ("on_predict_start", "a"),
        ("on_predict_start", "b"),
        ("on_error", "b"),
        ("on_predict_end", "b"),
        ("on_error", "a"),
        ("on_predict_end", "a"),
    ]
    assert agent(router, "english").calls == []


def test_every_request_ends_before_the_first_end_hook_error_is_raised(router: Router, recorder: Any) -> None:
    hook = recorder()

    def fail(ctx: Any) -> None:
        raise LookupError(ctx.states[0])

    with pytest.raises(LookupError, match="b"):
        router.predict_batch(requests("a", "b", RU), hooks=hook, on_predict_end=fail)
    assert [state for event, _, state in hook.log if event == "on_predict_end"] == ["b", "a"]
    assert agent(router, "multilingual").calls == []


def test_an_agent_that_answers_too_few_states_is_an_error(router: Router) -> None:
    agent(router, "english").predict_batch = lambda *args, **controls: []
    with pytest.raises(ValueError, match="shorter"):
        router.predict_batch(requests("a"))


SCALARS = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0]) | st.text("ab", max_size=2)
QUESTION_LIKE = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner, max_size=3)
)


@given(QUESTION_LIKE, QUESTION_LIKE)
def test_frozen_questions_are_equal_exactly_when_they_are_written_the_same(first: Any, second: Any) -> None:
    assert (freeze(first) == freeze(second)) == (repr(first) == repr(second))
