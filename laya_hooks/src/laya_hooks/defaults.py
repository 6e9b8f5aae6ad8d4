"""The process-wide hooks: those of plugins, then those added in code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

import attrs

from .chain import NO_DEFAULTS, NO_HOOKS, DefaultHooks, by_event
from .events import HOOK_EVENTS
from .locks import ForkSafeLock
from .normalise import normalise_hooks


@attrs.frozen
class _Choice:
    """What the process has asked for."""

    plugins: bool = True
    added: tuple[Any, ...] = NO_HOOKS


# Guards writes of the two names below. Calls read `_snapshot` once and take no lock.
_writes: Final = ForkSafeLock()
_choice = _Choice()
_snapshot: DefaultHooks | None = None


def set_default_hooks(hooks: object = None, on_predict_start: object = None, on_predict_end: object = None) -> None:
    """Replace the process-wide hooks, those of plugins included; takes the hook arguments of an agent.

    Raises:
        TypeError: something is not a hook; nothing is changed.
    """
    _choose(_Choice(plugins=False, added=tuple(normalise_hooks(hooks, on_predict_start, on_predict_end))))


def add_default_hook(hook: object) -> None:
    """Add a hook, or a sequence of hooks, behind the process-wide ones.

    Raises:
        TypeError: it is not a hook.
    """
    added = tuple(normalise_hooks(hook))
    with _writes:
        _choose(attrs.evolve(_choice, added=_choice.added + added))


def clear_default_hooks() -> None:
    """Remove all process-wide hooks, those of plugins included; their providers stay."""
    _choose(_Choice(plugins=False))


def restore_plugin_hooks() -> None:
    """Bring the hooks of the installed plugins back, before those added in code."""
    with _writes:
        _choose(attrs.evolve(_choice, plugins=True))


def default_hooks() -> list[Any]:
    """Return the process-wide hooks in load order, as the objects that plugins and callers supplied."""
    choice = _choice
    return [*(_plugin_originals() if choice.plugins else ()), *choice.added]


def compose_hooks(hooks: object = None) -> list[Any]:
    """Return the process-wide hooks and then `hooks`, as `dispatch` takes them.

    Raises:
        TypeError: `hooks` holds something that is not a hook.
    """
    return [*current_defaults().hooks, *normalise_hooks(hooks)]


def current_defaults() -> DefaultHooks:
    """Return the process-wide hooks of this moment; the first call discovers the plugins."""
    return _snapshot or _take_snapshot()


class _Mark:
    """Says once that the defaults already run around this call."""

    __slots__ = ("fresh",)

    def __init__(self) -> None:
        self.fresh = True


_already_run: Final[ContextVar[_Mark | None]] = ContextVar("laya_defaults_already_run", default=None)


@contextmanager
def defaults_already_run() -> Iterator[None]:
    """Let the one agent call made in the block leave the defaults out, because its router runs them.

    The mark is used up by that call: calls that its hooks make in turn get the defaults again.
    """
    mark = _Mark()
    token = _already_run.set(mark)
    try:
        yield
    finally:
        mark.fresh = False
        _already_run.reset(token)


def defaults_for_call() -> DefaultHooks:
    """Return the defaults a call that starts now has to run, and use up the mark of a router around it."""
    mark = _already_run.get()
    if mark is not None and mark.fresh:
        mark.fresh = False
        return NO_DEFAULTS
    return _snapshot or _take_snapshot()


@contextmanager
def replaced_choice() -> Iterator[None]:
    """Start from the plugins alone for a block, and bring back what was chosen before; for tests."""
    kept = _choice
    _choose(_Choice())
    try:
        yield
    finally:
        _choose(kept)


def _choose(choice: _Choice) -> None:
    global _choice, _snapshot
    with _writes:
        _choice = choice
        _snapshot = None


def _take_snapshot() -> DefaultHooks:
    global _snapshot
    choice = _choice
    discovered, complete = (NO_DEFAULTS, True) if not choice.plugins else _plugin_hooks()
    taken = _joined(discovered, choice.added)
    with _writes:
        if complete and _choice is choice:
            _snapshot = taken
    return taken


def _joined(discovered: DefaultHooks, added: tuple[Any, ...]) -> DefaultHooks:
    implementing = by_event(added)
    orders = {
        event: discovered.by_event.get(event, NO_HOOKS) + implementing.get(event, NO_HOOKS) for event in HOOK_EVENTS
    }
    return DefaultHooks(discovered.hooks + added, {event: order for event, order in orders.items() if order})


def _plugin_hooks() -> tuple[DefaultHooks, bool]:
    from .plugins import plugin_hooks

    return plugin_hooks()


def _plugin_originals() -> list[Any]:
    from .plugins import plugin_originals

    return plugin_originals()
