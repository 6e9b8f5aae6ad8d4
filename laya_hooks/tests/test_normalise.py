"""What counts as a hook, and what is refused how."""

from __future__ import annotations

import functools
import math
import types
import unittest.mock

import pytest

from laya_hooks import HOOK_EVENTS, AsyncHook, BaseHook, normalise_hooks, validate_timeout


class Start:
    def on_predict_start(self, ctx): ...


class IterableHook(Start):
    def __iter__(self):
        raise AssertionError("a hook is not iterated over")


def log(ctx): ...


async def log_later(ctx): ...


def test_events_are_named_in_the_order_of_the_protocol():
    assert HOOK_EVENTS == ("on_predict_start", "on_predict_end", "on_route", "on_load", "on_evict", "on_error")


def test_hooks_come_first_then_start_callables_then_end_callables():
    first, second = Start(), BaseHook()
    hooks = normalise_hooks([first, second], [log, log_later], log)
    assert hooks[:2] == [first, second]
    assert [hook.on_predict_start for hook in hooks[2:4]] == [log, log_later]
    assert hooks[4].on_predict_end is log
    assert not hasattr(hooks[4], "on_predict_start")


@pytest.mark.parametrize("hooks", [None, [], ()])
def test_nothing_is_no_hook(hooks):
    assert normalise_hooks(hooks) == []
    assert normalise_hooks(None, hooks, hooks) == []


def test_a_single_hook_a_tuple_and_a_generator_are_taken():
    hook = Start()
    assert normalise_hooks(hook) == normalise_hooks((hook,)) == normalise_hooks(h for h in [hook]) == [hook]


def test_an_iterable_object_with_an_event_is_a_hook():
    hook = IterableHook()
    assert normalise_hooks(hook) == [hook]


def test_a_callable_object_with_an_event_is_a_hook():
    hook = types.SimpleNamespace(on_error=log)
    assert normalise_hooks([hook]) == [hook]


def test_other_attributes_are_not_looked_at():
    hook = Start()
    hook.on_predict_begin = 3
    assert normalise_hooks(hook) == [hook]


def test_a_partial_is_a_start_callable():
    call = functools.partial(log)
    assert normalise_hooks(on_predict_start=call)[0].on_predict_start is call


@pytest.mark.parametrize(
    ("hooks", "message"),
    [
        (Start, r"Start'> is a class; pass an instance: Start\(\)"),
        ([Start(), Start], "is a class"),
        (object(), "is not a hook: it has none of the methods on_predict_start, on_predict_end"),
        ([None], "None is not a hook"),
        (3, "3 is not a hook"),
        ("text", "'text' is not a hook"),
        ({"on_predict_start": log}, "is not a hook"),
        ([[Start()]], "is not a hook"),
        (log, "does not say which event it is for; pass it as on_predict_start= or on_predict_end="),
        ([log], "bare callable"),
        (types.SimpleNamespace(on_route=3), "on_route of .* is 3, which cannot be called"),
        (types.SimpleNamespace(on_load=None, on_route=log), "on_load of .* is None"),
    ],
)
def test_what_is_not_a_hook_is_refused_by_name(hooks, message):
    with pytest.raises(TypeError, match=message):
        normalise_hooks(hooks)


@pytest.mark.parametrize("argument", ["on_predict_start", "on_predict_end"])
def test_what_cannot_be_called_is_refused_by_name(argument):
    with pytest.raises(TypeError, match=f"{argument}= takes callables of the context, not 3"):
        normalise_hooks(**{argument: [log, 3]})
    with pytest.raises(TypeError, match="a hook object belongs in hooks="):
        normalise_hooks(**{argument: Start()})


@pytest.mark.parametrize("hook", [Start, object(), log])
def test_an_async_hook_is_made_of_a_hook(hook):
    with pytest.raises(TypeError):
        AsyncHook(hook)


class Redact:
    def on_predict_start(self, ctx):
        yield


class RedactLater(AsyncHook):
    async def on_predict_start(self, ctx):
        yield


class RedactInherited(BaseHook):
    def on_error(self, ctx):
        yield


class RedactStatic:
    @staticmethod
    def on_route(ctx):
        yield


class RedactClass:
    @classmethod
    def on_evict(cls, ctx):
        yield


class Called:
    def __call__(self, ctx):
        yield


def generate(ctx):
    yield


async def generate_later(ctx):
    yield


GENERATOR_CALLABLES = [
    generate,
    generate_later,
    Redact().on_predict_start,
    Called(),
    functools.partial(generate),
    functools.partial(functools.partial(generate_later)),
    functools.partial(Called()),
    types.MethodType(functools.partial(generate), object()),
]


@pytest.mark.parametrize(
    ("hook", "event"),
    [
        (Redact(), "on_predict_start"),
        (RedactLater(types.SimpleNamespace(on_route=log)), "on_predict_start"),
        (RedactInherited(), "on_error"),
        (RedactStatic(), "on_route"),
        (RedactClass(), "on_evict"),
        *[(types.SimpleNamespace(on_load=call), "on_load") for call in GENERATOR_CALLABLES],
    ],
)
def test_a_hook_with_a_generator_function_for_an_event_is_refused(hook, event):
    message = f"{event} of .* is a generator function, so calling it would run nothing of its body; leave out its yield"
    for hooks in (hook, [Start(), hook]):
        with pytest.raises(TypeError, match=message):
            normalise_hooks(hooks)
    with pytest.raises(TypeError, match=message):
        AsyncHook(hook)


@pytest.mark.parametrize("call", GENERATOR_CALLABLES)
@pytest.mark.parametrize("argument", ["on_predict_start", "on_predict_end"])
def test_a_generator_function_is_no_callable_of_the_context(argument, call):
    message = f"{argument}=.* is a generator function, so calling it would run nothing of its body"
    for callables in (call, [log, call]):
        with pytest.raises(TypeError, match=message):
            normalise_hooks(**{argument: callables})


@types.coroutine
def awaited(ctx):
    yield


def returns_a_generator(ctx):
    return generate(ctx)


@functools.wraps(generate)
def exhausted(ctx):
    list(generate(ctx))


class MakesCallers:
    """Calling the class makes an object; that the object makes generators is its own affair."""

    def __init__(self, ctx): ...

    def __call__(self, ctx):
        yield


@pytest.mark.parametrize(
    "call",
    [log_later, functools.partial(log_later), awaited, returns_a_generator, exhausted, MakesCallers,
     print, [].append, unittest.mock.MagicMock()],
)  # fmt: skip
def test_what_runs_when_it_is_called_is_no_generator_function(call):
    assert normalise_hooks(on_predict_start=call)[0].on_predict_start is call
    hook = types.SimpleNamespace(on_load=call)
    assert normalise_hooks(hook) == [hook]


class Later(BaseHook):
    async def on_predict_start(self, ctx): ...


@pytest.mark.parametrize("hook", [BaseHook(), Later(), AsyncHook(Later())])
def test_plain_and_async_events_of_the_base_classes_are_taken(hook):
    assert normalise_hooks(hook) == [hook]


@pytest.mark.parametrize("seconds", [True, False, 0, -1, -0.5, math.nan, math.inf, -math.inf, "1", [1]])
def test_a_timeout_is_a_positive_finite_number(seconds):
    with pytest.raises(ValueError, match="hooks_timeout must be a positive finite number"):
        validate_timeout(seconds)


@pytest.mark.parametrize(("seconds", "valid"), [(None, None), (2, 2.0), (0.5, 0.5)])
def test_a_usable_timeout_is_kept(seconds, valid):
    assert validate_timeout(seconds) == valid


def test_a_timeout_of_millennia_can_be_waited_for():
    import threading

    assert threading.Event().wait(0) is False
    assert validate_timeout(1e300) == validate_timeout(10**400) == threading.TIMEOUT_MAX
