"""One event over a list of hooks."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

from laya_hooks import PredictContext, dispatch, normalise_hooks
from laya_hooks.testing import Recorder, check_hook, raising

LONG = 60.0
SHORT = 0.05

user: ContextVar[str] = ContextVar("user", default="nobody")


@pytest.fixture
def ctx():
    return PredictContext(["a"], {})


@pytest.fixture
def gate():
    """An event hooks may wait for; opened when the test ends, so no thread outlives it for long."""
    gate = threading.Event()
    yield gate
    gate.set()


def names(trace):
    return [seen.hook for seen in trace]


def test_hooks_run_in_order_and_those_without_the_event_are_passed_over(ctx):
    trace = []
    hooks = [Recorder("a", trace), Recorder("b", trace, events=["on_load"]), Recorder("c", trace)]
    dispatch(hooks, "on_predict_end", ctx)
    assert names(trace) == ["a", "c"]


def test_an_unknown_event_is_refused(ctx):
    with pytest.raises(ValueError, match="unknown event 'on_predict_begin'; the events are on_predict_start"):
        dispatch([], "on_predict_begin", ctx)


def test_dispatch_stops_at_the_first_hook_that_raises(ctx):
    trace = []
    error = ValueError("no")
    hooks = [Recorder("a", trace, acts={"on_load": raising(error)}), Recorder("b", trace)]
    with pytest.raises(ValueError, match="no") as raised:
        dispatch(hooks, "on_load", ctx)
    assert raised.value is error
    assert names(trace) == ["a"]


def test_without_raise_errors_an_error_is_a_warning_with_its_cause_and_the_next_hook_runs(ctx):
    trace = []
    error = ValueError("no")
    hooks = [Recorder("a", trace, acts={"on_load": raising(error)}), Recorder("b", trace)]
    with pytest.warns(
        RuntimeWarning, match=r"hook a.on_load failed in on_load and is ignored .* ValueError: no"
    ) as caught:
        dispatch(hooks, "on_load", ctx, raise_errors=False)
    assert names(trace) == ["a", "b"]
    assert caught[0].message.__cause__ is error


def bare(ctx):
    raise TypeError("expected string")


@pytest.mark.parametrize("timeout", [None, LONG])
@pytest.mark.parametrize(
    ("hooks", "name"),
    [
        (normalise_hooks(Recorder("guard", acts={"on_predict_start": bare})), "guard.on_predict_start"),
        (normalise_hooks(on_predict_start=bare), "bare"),
    ],
)
def test_an_error_says_which_hook_raised_it_in_a_note(ctx, hooks, name, timeout):
    with pytest.raises(TypeError) as raised:
        dispatch(hooks, "on_predict_start", ctx, timeout=timeout)
    assert type(raised.value) is TypeError and str(raised.value) == "expected string"
    assert raised.value.__notes__ == [f"raised by hook {name} in on_predict_start"]


def test_an_error_that_crosses_two_hooks_names_both_and_one_that_is_raised_twice_names_its_hook_once(ctx):
    error = ValueError("no")
    inner = Recorder("inner", acts={"on_load": raising(error)})
    outer = Recorder("outer", acts={"on_route": lambda ctx: dispatch([inner], "on_load", ctx)})
    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            dispatch([outer], "on_route", ctx)
    assert error.__notes__ == ["raised by hook inner.on_load in on_load", "raised by hook outer.on_route in on_route"]


class TakesNoNotes(Exception):
    __notes__ = None

    def add_note(self, note):
        raise AttributeError("frozen")


def test_an_error_that_takes_no_notes_is_raised_as_it_is(ctx):
    error = TakesNoNotes()
    with pytest.raises(TakesNoNotes) as raised:
        dispatch([Recorder("a", acts={"on_load": raising(error)})], "on_load", ctx)
    assert raised.value is error


@pytest.mark.parametrize("fatal", [KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("timeout", [None, LONG])
def test_what_is_no_exception_always_propagates(ctx, fatal, timeout):
    trace = []
    hooks = [Recorder("a", trace, acts={"on_load": raising(fatal())}), Recorder("b", trace)]
    with pytest.raises(fatal):
        dispatch(hooks, "on_load", ctx, raise_errors=False, timeout=timeout)
    assert names(trace) == ["a"]


def test_callables_of_one_event_are_called_for_it_alone(ctx):
    seen = []
    hooks = normalise_hooks(
        on_predict_start=lambda ctx: seen.append("start"), on_predict_end=lambda ctx: seen.append("end")
    )
    dispatch(hooks, "on_predict_start", ctx)
    assert seen == ["start"]


def test_without_a_timeout_hooks_share_the_context_and_thread_of_the_caller(ctx):
    seen = []

    def tag(ctx):
        user.set("ada")
        seen.append(threading.get_ident())

    dispatch(normalise_hooks(on_predict_start=tag), "on_predict_start", ctx)
    assert user.get() == "ada"
    assert seen == [threading.get_ident()]
    user.set("nobody")


def test_under_a_timeout_hooks_see_a_copy_of_the_callers_context(ctx):
    seen = []

    def tag(ctx):
        seen.append(user.get())
        user.set("eve")

    token = user.set("ada")
    dispatch(normalise_hooks(on_predict_start=tag), "on_predict_start", ctx, timeout=LONG)
    assert seen == ["ada"]
    assert user.get() == "ada"
    user.reset(token)


@pytest.mark.parametrize("timeout", ["5", float("nan"), 0, -1, True])
def test_a_timeout_that_is_none_is_refused_under_the_name_of_the_argument(ctx, timeout):
    with pytest.raises(ValueError, match=r"^timeout must be a positive finite number of seconds, not "):
        dispatch([], "on_load", ctx, timeout=timeout)
    with pytest.raises(ValueError, match=r"^timeout must be a positive finite number of seconds, not "):
        check_hook(Recorder("a"), timeout=timeout)


def test_a_hook_that_overruns_is_a_timeout_error_that_names_it(ctx, gate):
    def stall(ctx):
        gate.wait(LONG)

    with pytest.raises(TimeoutError, match=r"hook .*stall took longer than hooks_timeout=0.05 s"):
        dispatch(normalise_hooks(on_predict_start=stall), "on_predict_start", ctx, timeout=SHORT)


def test_an_overrun_may_be_a_warning_and_the_next_hook_runs(ctx, gate):
    trace = []
    hooks = [Recorder("slow", trace, acts={"on_load": lambda ctx: gate.wait(LONG)}), Recorder("next", trace)]
    with pytest.warns(RuntimeWarning, match="TimeoutError: hook slow.on_load took longer"):
        dispatch(hooks, "on_load", ctx, raise_errors=False, timeout=SHORT)
    assert names(trace) == ["slow", "next"]


def test_the_error_of_a_hook_under_a_timeout_keeps_its_identity(ctx):
    error = ValueError("no")
    with pytest.raises(ValueError, match="no") as raised:
        dispatch([Recorder(acts={"on_load": raising(error)})], "on_load", ctx, timeout=LONG)
    assert raised.value is error


def test_threads_of_hooks_under_a_timeout_are_daemons(ctx):
    daemons = []
    hook = Recorder(acts={"on_load": lambda ctx: daemons.append(threading.current_thread().daemon)})
    dispatch([hook], "on_load", ctx, timeout=LONG)
    assert daemons == [True]
