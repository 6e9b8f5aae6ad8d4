"""Plugins and defaults for a test alone: what is installed is out of sight for a block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from importlib.metadata import EntryPoint
from typing import Any, cast

import attrs

from .. import defaults, plugins
from ..discovery import Discovery, PluginRecord, event_hooks, manager_in_load_order, report
from ..selection import Selection


@attrs.frozen
class _Distribution:
    name: str
    version: str = "0"


@attrs.frozen(eq=False)
class _Entry:
    """As much of an `importlib.metadata.EntryPoint` as discovery reads."""

    name: str
    load: Callable[[], Any]
    value: str = "test:object"
    dist: _Distribution = _Distribution("test")


def _itself(entry: object) -> object:
    return entry


@contextmanager
def plugged(*entries: object, strict: bool = True) -> Iterator[list[PluginRecord]]:
    """Make `entries` the only plugins of this process for a block, and start it without code-added defaults.

    Not for use while other threads make calls. Without arguments it hides everything that is process-wide.

    Args:
        entries: what entry points may name (hook, class, factory, module), in load order.
        strict: whether one that cannot be used raises, or warns as in production.

    Yields:
        what became of each entry.

    Raises:
        PluginError: `strict` is set and one of them cannot be used.
    """
    found = [_Entry(f"{place:04}", partial(_itself, entry)) for place, entry in enumerate(entries)]
    discovery = Discovery(Selection(), cast("list[EntryPoint]", found))
    discovery.run()
    report(discovery.problems, strict)
    state = plugins.PluginState()
    state.discovery = discovery
    state.manager = manager_in_load_order(discovery)
    state.hooks = event_hooks(state.manager, discovery)
    with plugins.replaced_state(state), defaults.replaced_choice():
        yield list(discovery.records)
