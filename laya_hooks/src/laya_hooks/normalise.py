"""The hook arguments of every entry point, checked once and flattened into one ordered list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from functools import partial
from inspect import CO_ASYNC_GENERATOR, CO_GENERATOR, CO_ITERABLE_COROUTINE
from math import inf
from numbers import Real
from threading import TIMEOUT_MAX
from types import CodeType, FunctionType, MethodType
from typing import Any, Final, cast

from .events import HOOK_EVENTS, Event

_ABSENT: Final = object()
_GENERATORS: Final = CO_GENERATOR | CO_ASYNC_GENERATOR


class CallableHook:
    """A hook of one event around a plain callable."""

    def __init__(self, event: Event, call: Any) -> None:
        self.event = event
        self.call = call
        setattr(self, event, call)

    def __repr__(self) -> str:
        return f"CallableHook({self.event}={self.call!r})"


def normalise_hooks(hooks: object = None, on_predict_start: object = None, on_predict_end: object = None) -> list[Any]:
    """Flatten the three hook arguments into one list: hooks, then start callables, then end callables.

    Args:
        hooks: a hook, a sequence of hooks, or None.
        on_predict_start, on_predict_end: a callable, a sequence of callables, or None.

    Raises:
        TypeError: something in them is not a hook, not callable, or a generator function; the message names it.
    """
    return [
        *_hook_list(hooks),
        *_callable_hooks("on_predict_start", on_predict_start),
        *_callable_hooks("on_predict_end", on_predict_end),
    ]


def implemented_events(hook: object) -> list[Event]:
    """Return the events `hook` has a method for.

    Raises:
        TypeError: an attribute named like an event cannot be called.
    """
    found: list[Event] = []
    for event in HOOK_EVENTS:
        method = getattr(hook, event, _ABSENT)
        if method is _ABSENT:
            continue
        if not callable(method):
            raise TypeError(f"{event} of {hook!r} is {method!r}, which cannot be called")
        found.append(event)
    return found


def require_hook(hook: object) -> list[Event]:
    """Return the events of `hook`, which must be an instance with at least one of them.

    Raises:
        TypeError: it is a class, a bare callable, or has no event, or one that is a generator function.
    """
    if isinstance(hook, type):
        raise TypeError(f"{hook!r} is a class; pass an instance: {hook.__name__}()")
    events = implemented_events(hook)
    if not events and callable(hook):
        raise TypeError(
            f"{hook!r} is a bare callable and does not say which event it is for; "
            "pass it as on_predict_start= or on_predict_end="
        )
    if not events:
        raise TypeError(f"{hook!r} is not a hook: it has none of the methods {', '.join(HOOK_EVENTS)}")
    for event in events:
        if makes_generator(getattr(hook, event)):
            raise TypeError(generator_problem(f"{event} of {hook!r}"))
    return events


def makes_generator(function: Callable[..., Any]) -> bool:
    """Whether calling `function` makes a generator, sync or async, that nothing would run."""
    # By the flags of its code: this is asked in every call with hooks, and `inspect` takes several times as long.
    code = getattr(function, "__code__", None)  # a bound method shows that of its function
    if isinstance(code, CodeType):
        return code.co_flags & _GENERATORS != 0 and not code.co_flags & CO_ITERABLE_COROUTINE  # types.coroutine
    if isinstance(function, partial):
        return makes_generator(function.func)
    if isinstance(function, MethodType):
        return makes_generator(function.__func__)
    call = type(function).__call__
    return isinstance(call, FunctionType) and makes_generator(call)


def generator_problem(name: str) -> str:
    """Say why the generator function `name` is refused."""
    return f"{name} is a generator function, so calling it would run nothing of its body; leave out its yield"


def validate_timeout(seconds: object, name: str = "hooks_timeout") -> float | None:
    """Return `seconds`, the argument `name`, as a usable timeout; None stays None.

    Raises:
        ValueError: it is not a positive finite number.
    """
    if seconds is None:
        return None
    number = cast("float", seconds)  # any real number will do; a whole one may be too large for a float
    if isinstance(seconds, bool) or not isinstance(seconds, Real) or not 0 < number < inf:
        raise ValueError(f"{name} must be a positive finite number of seconds, not {seconds!r}")
    return float(min(number, TIMEOUT_MAX))


def _hook_list(hooks: object) -> list[object]:
    if hooks is None:
        return []
    listed = _sequence(hooks)
    if listed is None:
        listed = [hooks]
    for hook in listed:
        require_hook(hook)
    return listed


def _callable_hooks(event: Event, callables: object) -> list[CallableHook]:
    if callables is None:
        return []
    listed = None if callable(callables) else _sequence(callables)
    if listed is None:
        listed = [callables]
    for entry in listed:
        if not callable(entry):
            hint = "; a hook object belongs in hooks=" if _has_event(entry) else ""
            raise TypeError(f"{event}= takes callables of the context, not {entry!r}{hint}")
        if makes_generator(entry):
            raise TypeError(generator_problem(f"{event}={entry!r}"))
    return [CallableHook(event, entry) for entry in listed]


def _sequence(value: object) -> list[object] | None:
    """Return the members of an ordered collection; None for what is a hook, iterable or not, or a mistake."""
    if isinstance(value, (type, str, bytes, Mapping, AbstractSet)) or _has_event(value):
        return None
    return list(value) if isinstance(value, Iterable) else None


def _has_event(value: object) -> bool:
    return any(hasattr(value, event) for event in HOOK_EVENTS)
