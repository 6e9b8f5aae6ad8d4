"""Loading the entry points of group `laya`, one bad one never in the way of the others."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, Literal, TypeAlias

import attrs
import pluggy

from . import spec
from .adapters import MARK, Plugin, Registration, plugins_of
from .chain import DefaultHooks
from .errors import PluginError
from .events import HOOK_EVENTS, Event
from .selection import Selection, normalised_name

GROUP: Final = "laya"

Status: TypeAlias = Literal["loaded", "blocked", "failed"]


@attrs.frozen
class PluginRecord:
    """What became of one entry point.

    Args:
        distribution, version: what is installed.
        name, value: the entry point, and the object it names.
        events, providers: what it implements; empty unless it is loaded.
        order: its place in the load order, from 0.
        status: loaded, blocked by the environment, or failed.
        reason: why it is blocked or has failed, else None.
    """

    distribution: str
    version: str
    name: str
    value: str
    order: int
    status: Status
    events: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    reason: str | None = None

    @property
    def qualified_name(self) -> str:
        """`distribution:entry-point`, the name it has in the plugin manager."""
        return f"{self.distribution}:{self.name}"


class Discovery:
    """Loads entry points one after another; `records` and `plugins` grow as it goes."""

    def __init__(self, selection: Selection, found: Iterable[EntryPoint]) -> None:
        self.records: list[PluginRecord] = []
        self.plugins: list[tuple[str, Plugin]] = []
        self.problems: list[str] = []
        self._selection = selection
        self._found = sorted(found, key=lambda entry: (_distribution(entry), entry.name, entry.value))
        # Registration checks every implementation against the specification.
        self._checked = new_manager()

    def run(self) -> None:
        """Load what the selection allows; what cannot be used becomes a record and a problem."""
        for order, entry in enumerate(self._found):
            self.records.append(self._load(order, entry))
        named = [(_distribution(entry), entry.name) for entry in self._found]
        for variable, name, meant in self._selection.unmatched(named):
            missing = f"{variable} names {name!r}, but no installed distribution has such a laya plugin"
            self.problems.append(missing + meant)

    def _load(self, order: int, entry: EntryPoint) -> PluginRecord:
        distribution = _distribution(entry)
        record = PluginRecord(distribution, _version(entry), entry.name, entry.value, order, "loaded")
        blocked = self._selection.blocked_because(distribution, entry.name)
        if blocked is not None:
            self._checked.set_blocked(record.qualified_name)
            return attrs.evolve(record, status="blocked", reason=blocked)
        try:
            plugins = plugins_of(entry.load())
            for name, plugin in _named(record.qualified_name, plugins):
                self._checked.register(Registration(plugin, plugin.functions), name)
        except (Exception, SystemExit) as error:
            return self._failed(record, error)
        self.plugins.extend(_named(record.qualified_name, plugins))
        return attrs.evolve(
            record,
            events=_united(plugin.events for plugin in plugins),
            providers=_united(plugin.providers for plugin in plugins),
        )

    def _failed(self, record: PluginRecord, error: BaseException) -> PluginRecord:
        message = " ".join(str(error).split())
        reason = message if isinstance(error, PluginError) else f"{type(error).__name__}: {message}"
        self.problems.append(
            f"the laya plugin {record.name!r} ({record.value}) of {record.distribution} {record.version} "
            f"cannot be used and is skipped: {reason}"
        )
        return attrs.evolve(record, status="failed", reason=reason)


def installed_entry_points() -> list[EntryPoint]:
    """Return the entry points of group `laya` in every distribution on `sys.path`."""
    return list(entry_points(group=GROUP))


def report(problems: list[str], strict: bool) -> None:
    """Warn of each problem.

    Raises:
        PluginError: `strict` is set and there is one.
    """
    if strict and problems:
        raise PluginError("; ".join(problems) + " (LAYA_PLUGINS_STRICT is set)")
    for problem in problems:
        warnings.warn(problem, RuntimeWarning, stacklevel=2)


def new_manager() -> pluggy.PluginManager:
    """Return an empty plugin manager that knows the specification."""
    manager = pluggy.PluginManager(spec.PROJECT)
    manager.add_hookspecs(spec)
    return manager


def manager_in_load_order(discovery: Discovery) -> pluggy.PluginManager:
    """Return a plugin manager that calls what is loaded in load order, tryfirst and trylast aside.

    pluggy calls the last registered first, except among trylast, where it calls the first registered first.
    """
    manager = new_manager()
    for record in discovery.records:
        if record.status == "blocked":
            manager.set_blocked(record.qualified_name)
    for name, plugin in reversed(discovery.plugins):
        manager.register(_registration(plugin, trylast=False), name)
    for name, plugin in discovery.plugins:
        if any(_is_trylast(function) for function in plugin.functions.values()):
            manager.register(_registration(plugin, trylast=True), f"{name} (trylast)")
    return manager


def event_hooks(manager: pluggy.PluginManager, discovery: Discovery) -> DefaultHooks:
    """Return the hooks of the loaded plugins: as a list in load order, and in the order of each event."""
    listed = {id(hook): hook for _, plugin in discovery.plugins for hook in plugin.hooks.values()}
    orders = {event: _event_order(manager, event) for event in HOOK_EVENTS}
    return DefaultHooks(tuple(listed.values()), {event: order for event, order in orders.items() if order})


def _event_order(manager: pluggy.PluginManager, event: Event) -> tuple[object, ...]:
    called_last_first = getattr(manager.hook, event).get_hookimpls()
    return tuple(
        implementation.plugin.plugin.hooks[implementation.function] for implementation in reversed(called_last_first)
    )


def _registration(plugin: Plugin, trylast: bool) -> Registration:
    functions = {name: function for name, function in plugin.functions.items() if _is_trylast(function) == trylast}
    return Registration(plugin, functions)


def _is_trylast(function: Callable[..., Any]) -> bool:
    return bool(getattr(function, MARK).get("trylast"))


def _named(name: str, plugins: list[Plugin]) -> Iterator[tuple[str, Plugin]]:
    for place, plugin in enumerate(plugins, 1):
        yield (name if place == 1 else f"{name}#{place}"), plugin


def _united(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for group in groups for name in group))


def _distribution(entry: EntryPoint) -> str:
    return normalised_name((entry.dist and entry.dist.name) or "unknown")


def _version(entry: EntryPoint) -> str:
    return (entry.dist and entry.dist.version) or "?"
