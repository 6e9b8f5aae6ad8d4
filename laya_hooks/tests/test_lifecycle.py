"""Start, inference, error and end of one call, and of several that run together."""

from __future__ import annotations

from asyncio import CancelledError

import pytest

from laya_hooks import HookChain, HookedCall, PredictContext, fail_all, run_call, succeed_all
from laya_hooks.testing import FakeAgent, Recorder, made_up_answer, raising

QUESTIONS = {"q": {"type": "noul", "instructions": "?"}}
SUCCESS = ["on_predict_start", "on_predict_end"]
FAILURE = ["on_predict_start", "on_error", "on_predict_end"]


def chained(error):
    links = []
    while error is not None:
        links.append(error)
        error = error.__context__
    return links


def test_a_call_starts_infers_and_ends_with_results_usage_and_time():
    hook = Recorder()
    result = FakeAgent(hooks=[hook]).predict("two words", QUESTIONS)
    start, end = hook.trace
    assert hook.events == SUCCESS
    assert (start.results, start.usage, start.elapsed_ms, start.error) == (None, None, None, None)
    assert end.results == (result,)
    assert end.usage == {"input_tokens": 2, "output_tokens": 0}
    assert end.elapsed_ms >= 0
    assert start.run_id == end.run_id


def test_hooks_may_rewrite_states_and_questions_before_inference_and_results_after():
    def rewrite(ctx):
        ctx.states, ctx.questions = ["redacted"], {}

    def replace(ctx):
        ctx.results = [{"replaced": ctx.results[0]["answers"]}]

    assert FakeAgent().predict("secret", QUESTIONS, on_predict_start=rewrite, on_predict_end=replace) == {
        "replaced": {}
    }


def test_a_skip_leaves_inference_out_and_the_rest_of_the_call_as_it_is():
    later = Recorder()

    def infer(state, questions):
        raise AssertionError("no inference")

    agent = FakeAgent(
        answer=infer, hooks=[Recorder(acts={"on_predict_start": lambda ctx: ctx.skip([{"cached": 1}])}), later]
    )
    assert agent.predict("x", QUESTIONS) == {"cached": 1}
    assert later.events == SUCCESS
    assert [seen.results for seen in later.trace] == [({"cached": 1},), ({"cached": 1},)]


def test_results_set_by_hand_in_a_start_hook_are_a_skip():
    def answer(ctx):
        ctx.results = [{"mine": 1}]

    assert FakeAgent().predict("x", QUESTIONS, on_predict_start=answer) == {"mine": 1}


def test_one_result_for_several_states_fails_the_call():
    hook = Recorder(acts={"on_predict_start": lambda ctx: ctx.skip([{}])})
    with pytest.raises(ValueError, match="1 results for 2 states"):
        FakeAgent(hooks=[hook]).predict_batch(["x", "y"], QUESTIONS)
    assert hook.events == FAILURE


def test_a_failed_inference_runs_error_then_end_hooks_without_results():
    error = OSError("inference")
    hook = Recorder()

    def infer(state, questions):
        raise error

    with pytest.raises(OSError, match="inference") as raised:
        FakeAgent(answer=infer, hooks=[hook]).predict("x", QUESTIONS)
    assert raised.value is error
    assert hook.events == FAILURE
    assert [(seen.error, seen.results, seen.usage) for seen in hook.trace[1:]] == [(error, None, None)] * 2
    assert hook.trace[1].elapsed_ms is None
    assert hook.trace[2].elapsed_ms >= 0


def test_a_failure_after_a_skip_keeps_the_skipped_results():
    hooks = [
        Recorder(acts={"on_predict_start": lambda ctx: ctx.skip([{"usage": {"input_tokens": 5}}])}),
        Recorder("b", acts={"on_predict_start": raising(ValueError("no"))}),
        seen := Recorder("c"),
    ]
    with pytest.raises(ValueError, match="no"):
        FakeAgent(hooks=hooks).predict("x", QUESTIONS)
    error, end = seen.trace
    assert error.results == end.results == ({"usage": {"input_tokens": 5}},)
    assert error.usage is None
    assert end.usage == {"input_tokens": 5, "output_tokens": 0}


def test_an_end_hook_that_fails_after_success_reaches_the_caller_without_an_error_event():
    hook, later = Recorder(acts={"on_predict_end": raising(ValueError("end"))}), Recorder()
    with pytest.raises(ValueError, match="end"):
        FakeAgent(hooks=[hook, later]).predict("x", QUESTIONS)
    assert hook.events == SUCCESS
    assert later.events == ["on_predict_start"]


def test_errors_of_error_and_end_hooks_hang_on_the_original_one():
    original, in_error, in_end = OSError("original"), ValueError("error hook"), ValueError("end hook")
    hook = Recorder(
        acts={"on_predict_start": raising(original), "on_error": raising(in_error), "on_predict_end": raising(in_end)}
    )
    with pytest.raises(OSError, match="original") as raised:
        FakeAgent(hooks=[hook]).predict("x", QUESTIONS)
    assert chained(raised.value) == [original, in_error, in_end]
    assert hook.events == FAILURE


def test_ignored_errors_of_error_and_end_hooks_are_warnings_and_hang_nowhere():
    original = OSError("original")

    def infer(state, questions):
        raise original

    hook = Recorder(
        acts={"on_error": raising(ValueError("error hook")), "on_predict_end": raising(ValueError("end hook"))}
    )
    with pytest.warns(RuntimeWarning) as caught, pytest.raises(OSError, match="original") as raised:
        FakeAgent(answer=infer, hooks=[hook], hooks_raise=False).predict("x", QUESTIONS)
    assert chained(raised.value) == [original]
    assert [str(warning.message).rsplit(": ")[-1] for warning in caught] == ["error hook", "end hook"]


@pytest.mark.parametrize("fatal", [KeyboardInterrupt, SystemExit, CancelledError])
@pytest.mark.parametrize("event", FAILURE)
def test_a_process_level_error_propagates_after_error_and_end_events(fatal, event):
    interrupt = fatal()
    first = Recorder(acts={event: raising(interrupt)})
    last = Recorder("last", events=["on_predict_end"])

    def infer(state, questions):
        raise OSError("inference")

    with pytest.raises(fatal) as raised:
        FakeAgent(answer=infer, hooks=[first, last], hooks_raise=False).predict("x", QUESTIONS)
    assert raised.value is interrupt
    assert first.events == FAILURE
    assert last.events == ([] if event == "on_predict_end" else ["on_predict_end"])
    if event != "on_predict_start":
        assert [str(error) for error in chained(interrupt)[1:]] == ["inference"]


def test_a_skip_refused_inside_the_hook_fails_the_call_like_any_error_of_a_hook():
    hook = Recorder(acts={"on_predict_start": lambda ctx: ctx.skip([{}, {}, {}])})
    with pytest.raises(ValueError, match="3 results for 2 states"):
        FakeAgent(hooks=[hook]).predict_batch(["x", "y"], QUESTIONS)
    assert hook.events == FAILURE


@pytest.mark.parametrize(("states", "questions"), [([], QUESTIONS), (["x", "y"], {})])
def test_hooks_see_empty_calls_too(states, questions):
    hook = Recorder()
    assert FakeAgent(hooks=[hook]).predict_batch(states, questions) == list(hook.trace[-1].results)
    assert hook.events == SUCCESS
    assert len(hook.trace[-1].results) == len(states)


def test_the_caller_gets_the_list_that_end_hooks_left():
    ctx = PredictContext(["x"], {})
    results = run_call(HookChain(), ctx, lambda ctx: [made_up_answer("x", {})])
    assert results is ctx.results


def test_calls_that_ran_together_end_in_reverse_before_the_first_error_is_raised():
    ended = []

    def end(ctx):
        ended.append(ctx.states[0])
        raise ValueError(ctx.states[0])

    chain = HookChain(hooks=(Recorder(acts={"on_predict_end": end}),))
    calls = [HookedCall(chain, PredictContext([state], {})) for state in "abc"]
    with pytest.raises(ValueError, match="c") as raised:
        succeed_all(calls)
    assert ended == ["c", "b", "a"]
    assert [str(error) for error in chained(raised.value)] == ["c", "b", "a"]


def test_calls_that_ran_together_fail_in_reverse_with_one_error():
    hook = Recorder(events=["on_error", "on_predict_end"])
    calls = [HookedCall(HookChain(hooks=(hook,)), PredictContext([state], {})) for state in "ab"]
    error = ValueError("shared")
    assert fail_all(calls, error) is error
    assert [(seen.event, seen.states[0], seen.error) for seen in hook.trace] == [
        ("on_error", "b", error),
        ("on_predict_end", "b", error),
        ("on_error", "a", error),
        ("on_predict_end", "a", error),
    ]
