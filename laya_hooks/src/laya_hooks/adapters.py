"""What an entry point brings, made fit for pluggy, with its events and providers checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any, Final

from . import spec
from .errors import PluginError
from .events import HOOK_EVENTS, BaseHook, Event
from .normalise import CallableHook, generator_problem, implemented_events, makes_generator

MARK: Final = f"{spec.PROJECT}_impl"
_SPEC_MARK: Final = f"{spec.PROJECT}_spec"
PROVIDERS: Final = tuple(
    name for name, member in vars(spec).items() if hasattr(member, _SPEC_MARK) and name not in HOOK_EVENTS
)


class Plugin:
    """One object of an entry point, its implementations checked.

    Attributes:
        original: the hook instance or module.
        functions: attribute name to marked function, what pluggy is to see.
        hooks: event function to the object our dispatch calls the event on. That is the original, unless one
            of its functions goes by another name than its event or does without the context.
        events, providers: the names of what it implements.

    Raises:
        PluginError: it implements nothing, or something in it cannot be used; the message says what.
    """

    def __init__(self, original: object) -> None:
        self.original = original
        self.functions: dict[str, Callable[..., Any]] = {}
        self.hooks: dict[Callable[..., Any], object] = {}
        specified = {name: _check_marked(name, function) for name, function in _marked(original)}
        self.functions.update({name: getattr(original, name) for name in specified})
        for event in _unmarked_events(original):
            _check_unmarked(event, getattr(original, event))
            specified[event] = event
            self.functions[event] = spec.hookimpl(_by_name(original, event))
        if not specified:
            raise PluginError(_not_a_hook(original))
        names = set(specified.values())
        self.events = tuple(event for event in HOOK_EVENTS if event in names)
        self.providers = tuple(provider for provider in PROVIDERS if provider in names)
        self._choose_hooks({name: event for name, event in specified.items() if event in HOOK_EVENTS})

    def _choose_hooks(self, events: dict[str, Any]) -> None:
        as_it_is = all(name == event and _takes_context(self.functions[name]) for name, event in events.items())
        for name, event in events.items():
            function = self.functions[name]
            self.hooks[function] = self.original if as_it_is else CallableHook(event, _of_context(function))


class Registration:
    """What pluggy is given of a plugin: some of its functions, as attributes."""

    def __init__(self, plugin: Plugin, functions: dict[str, Callable[..., Any]]) -> None:
        self.plugin = plugin
        vars(self).update(functions)


def plugins_of(loaded: object) -> list[Plugin]:
    """Return the plugins an entry point stands for.

    Args:
        loaded: a hook instance, a class, a factory of a hook or of a list of hooks, or a module.

    Raises:
        PluginError: it is none of these, or one of its hooks cannot be used.
    """
    return [Plugin(original) for original in _originals(loaded)]


def _originals(loaded: object) -> list[object]:
    if isinstance(loaded, ModuleType):
        return [loaded]
    if isinstance(loaded, type):
        return [loaded()]
    if hasattr(loaded, MARK):
        raise PluginError(f"the entry point names the function {_label(loaded)}; it has to name its module")
    if any(hasattr(loaded, event) for event in HOOK_EVENTS) or any(_marked(loaded)):
        return [loaded]
    if not callable(loaded):
        raise PluginError(_not_a_hook(loaded))
    made = loaded()
    listed = list(made) if isinstance(made, (list, tuple)) else [made]
    if not listed:
        raise PluginError(f"the factory {_label(loaded)} returned no hook")
    for hook in listed:
        if isinstance(hook, type):
            raise PluginError(f"the factory {_label(loaded)} returned the class {hook.__name__}, not an instance")
    return listed


def _marked(original: object) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the methods and functions that carry `@hookimpl`, without running any property."""
    for name in dir(original):
        static = inspect.getattr_static(original, name, None)
        function = getattr(static, "__func__", static)  # staticmethod, classmethod, bound method
        if inspect.isroutine(function) and (hasattr(static, MARK) or hasattr(function, MARK)):
            yield name, getattr(original, name)


def _check_marked(name: str, function: Callable[..., Any]) -> str:
    """Return the event or provider that `function` implements."""
    options = getattr(function, MARK)
    specified: str = options.get("specname") or name
    if specified not in HOOK_EVENTS and specified not in PROVIDERS:
        if options.get("optionalhook"):
            return specified
        raise PluginError(f"{specified} is no event and no provider{_suggestion(specified)}")
    if specified in HOOK_EVENTS:
        if options.get("wrapper") or options.get("hookwrapper"):
            raise PluginError(
                f"{name} is marked as a wrapper, but events cannot be wrapped, because each hook has an "
                "error policy, a lock and a timeout of its own; implement on_predict_start and on_predict_end"
            )
        _refuse_generator(name, function)
    _refuse_unknown_parameters(name, function, getattr(spec, specified))
    return specified


def _refuse_unknown_parameters(name: str, function: Callable[..., Any], specification: Callable[..., Any]) -> None:
    signature = inspect.signature(function)
    allowed = list(inspect.signature(specification).parameters)
    unknown = [parameter for parameter in signature.parameters if parameter not in allowed]
    if unknown:
        raise PluginError(
            f"{name}{signature} asks for {', '.join(unknown)}; a @hookimpl function of it takes "
            f"{', '.join(allowed) or 'nothing'} by name, or leaves it out"
        )


def _unmarked_events(original: object) -> list[Event]:
    marked = {name for name, _ in _marked(original)}
    try:
        found = implemented_events(original)
    except TypeError as error:
        raise PluginError(str(error)) from error
    return [event for event in found if event not in marked and not _is_empty(original, event)]


def _is_empty(original: object, event: Event) -> bool:
    """Whether the event is the empty one inherited from `BaseHook`."""
    return getattr(getattr(original, event), "__func__", None) is getattr(BaseHook, event)


def _check_unmarked(event: Event, method: Callable[..., Any]) -> None:
    _refuse_generator(event, method)
    try:
        signature = inspect.signature(method)
    except ValueError:  # a builtin without one
        return
    try:
        signature.bind(object())
    except TypeError:
        raise PluginError(
            f"{event}{signature} cannot be called with the context as its one positional argument"
        ) from None


def _refuse_generator(name: str, function: Callable[..., Any]) -> None:
    if makes_generator(function):
        raise PluginError(generator_problem(name))


def _by_name(original: object, event: Event) -> Callable[[Any], object]:
    def call(ctx: Any) -> object:
        return getattr(original, event)(ctx)

    return call


def _takes_context(function: Callable[..., Any]) -> bool:
    return "ctx" in inspect.signature(function).parameters


def _of_context(function: Callable[..., Any]) -> Callable[[Any], object]:
    return function if _takes_context(function) else partial(_without_context, function)


def _without_context(function: Callable[[], object], ctx: object) -> object:
    return function()


def _not_a_hook(thing: object) -> str:
    near = [name for name in dir(thing) if name.startswith("on_") and name not in HOOK_EVENTS]
    unknown = "".join(f"; {name} is no event{_suggestion(name)}" for name in near[:3])
    return (
        f"{_label(thing)} is not a hook: it has none of the events {', '.join(HOOK_EVENTS)} "
        f"and no @hookimpl function{unknown}"
    )


def _suggestion(name: str) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, (*HOOK_EVENTS, *PROVIDERS), n=2)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def _label(thing: object) -> str:
    """Name an object for a message, without an address that would differ from run to run."""
    name = getattr(thing, "__qualname__", None) or getattr(thing, "__name__", None)
    if name is None:
        name = type(thing).__qualname__ if type(thing).__repr__ is object.__repr__ else repr(thing)
    return str(name)
