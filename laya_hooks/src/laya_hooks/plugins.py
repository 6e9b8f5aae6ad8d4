"""The plugins of this process, discovered once, at the first moment anything needs them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from .chain import NO_DEFAULTS, DefaultHooks
from .locks import ForkSafeLock

if TYPE_CHECKING:
    from pluggy import PluginManager

    from .discovery import Discovery, PluginRecord


class PluginState:
    """What the process knows about its plugins.

    `manager` is None until discovery is complete; `failure` is what strict mode raises, every time.
    """

    def __init__(self) -> None:
        self.discovery: Discovery | None = None
        self.manager: PluginManager | None = None
        self.hooks: DefaultHooks = NO_DEFAULTS
        self.failure: str | None = None


# Guards the discovery: one thread runs it, the others wait. The thread itself may come back through it.
_discovering: Final = ForkSafeLock()
_state = PluginState()


def plugin_manager() -> PluginManager:
    """Return the pluggy manager with everything that is loaded, named `distribution:entry-point`.

    Raises:
        PluginError: LAYA_PLUGINS_STRICT is set and a plugin cannot be used.
    """
    state = _discovered()
    return state.manager or _manager_so_far(state)


def plugin_records() -> list[PluginRecord]:
    """Return what became of each entry point found, in load order; bad ones raise nothing here."""
    state = _discovered(raising=False)
    return list(state.discovery.records) if state.discovery is not None else []


def plugin_originals() -> list[object]:
    """Return the objects whose events are process-wide hooks, as the entry points brought them."""
    state = _discovered()
    plugins = state.discovery.plugins if state.discovery is not None else []
    return [plugin.original for _, plugin in plugins if plugin.events]


def plugin_hooks() -> tuple[DefaultHooks, bool]:
    """Return the hooks of the plugins, ordered per event, and whether that is all of them."""
    from .discovery import event_hooks

    state = _discovered()
    if state.manager is not None:
        return state.hooks, True
    if state.discovery is None:
        return NO_DEFAULTS, False
    return event_hooks(_manager_so_far(state), state.discovery), False


@contextmanager
def replaced_state(state: PluginState) -> Iterator[None]:
    """Let `state` stand for the plugins of this process during a block; for tests."""
    global _state
    kept, _state = _state, state
    try:
        yield
    finally:
        _state = kept


def _discovered(raising: bool = True) -> PluginState:
    state = _state
    if state.manager is None and not (state.discovery is not None and _inside_an_import()):
        with _discovering:
            if state.discovery is None:
                _discover(state)
    if raising and state.failure is not None:
        from .errors import PluginError

        raise PluginError(state.failure)
    return state


def _discover(state: PluginState) -> None:
    from .discovery import Discovery, event_hooks, installed_entry_points, manager_in_load_order, report
    from .errors import PluginError
    from .selection import Selection

    selection = Selection.from_environment(os.environ)
    discovery = state.discovery = Discovery(selection, installed_entry_points())
    try:
        discovery.run()
        manager = manager_in_load_order(discovery)
        state.hooks = event_hooks(manager, discovery)
        state.manager = manager
    finally:
        if state.manager is None:  # interrupted: the next caller begins anew
            state.discovery = None
    try:
        report(discovery.problems, selection.strict)
    except PluginError as error:
        state.failure = str(error)


def _inside_an_import() -> bool:
    """Whether this thread is importing a module.

    Such a thread may hold the import lock that the discovering thread waits for, so it must not wait for the
    discovery: it sees what is loaded so far.
    """
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


def _manager_so_far(state: PluginState) -> PluginManager:
    """A manager of what is loaded so far, for code that runs inside the discovery."""
    from .discovery import manager_in_load_order, new_manager

    return manager_in_load_order(state.discovery) if state.discovery is not None else new_manager()
