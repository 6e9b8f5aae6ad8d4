"""Asking the installed packages for what one of them provides; nothing is found by trying an import."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .errors import ProviderMissing
from .plugins import plugin_manager, plugin_records

if TYPE_CHECKING:
    from .protocols import AgentLike, LoadOptions, RouterLike, RouterOptions, Source

T = TypeVar("T")


def load_agent(source: Source, options: LoadOptions | None = None) -> AgentLike:
    """Load a checkpoint with the first runtime that takes it.

    Args:
        source: a directory, a Hub id, a known name, or (repository, subfolder); runtimes look names up with
            `resolve_checkpoint`, so that an agent knows the name it was asked for.
        options: how to load it; see `LoadOptions`.

    Raises:
        ProviderMissing: no installed distribution loads it.
    """
    return cast(
        "AgentLike",
        _first("laya_load_agent", "laya-core", f"to load {source!r}", source=source, options=options or {}),
    )


def make_router(options: RouterOptions | None = None) -> RouterLike:
    """Build a router.

    Raises:
        ProviderMissing: no installed distribution provides one.
    """
    return cast("RouterLike", _first("laya_make_router", "laya-router", "to build a router", options=options or {}))


def named_checkpoints() -> dict[str, Source]:
    """Return the checkpoints that packages and plugins name; of two equal names the first loaded wins."""
    return _by_name(plugin_manager().hook.laya_checkpoints())


def checkpoint_descriptions() -> dict[str, str]:
    """Return what the named checkpoints are for, as far as anybody says; of two equal names the first loaded wins."""
    return _by_name(plugin_manager().hook.laya_checkpoint_descriptions())


def proper_names() -> list[str]:
    """Return the names of `named_checkpoints` without those that stand for a source which an earlier one names."""
    first: dict[str, str] = {}
    for name, source in named_checkpoints().items():
        first.setdefault(repr(source), name)
    return list(first.values())


def installed_checkpoint() -> str | None:
    """Return the first named checkpoint that is a directory on this machine, and so needs no download."""
    return next((name for name, source in named_checkpoints().items() if is_directory(source)), None)


def described(name: str) -> str:
    """Return a checkpoint's name for a message, with what it is for where anybody says."""
    description = checkpoint_descriptions().get(name)
    return f"{name!r} ({description})" if description else repr(name)


def is_directory(source: Source | None) -> bool:
    """Whether a checkpoint source is a directory on this machine."""
    return isinstance(source, str | os.PathLike) and os.path.isdir(source)


def resolve_checkpoint(source: Source) -> Source:
    """Return what a checkpoint name stands for, and anything that is not a known name as it is."""
    if not isinstance(source, str):
        return source
    return named_checkpoints().get(source.strip().lower(), source)


def extra_routes(router: RouterLike) -> list[Any]:
    """Return the HTTP routes that plugins add to the server."""
    return [route for routes in plugin_manager().hook.laya_routes(router=router) for route in routes]


def add_commands(cli: Any) -> None:
    """Let every package and plugin add its sub-commands to `cli`, a click group.

    One that fails is left out with a `RuntimeWarning`, so that the command line works without it.
    """
    # pluggy calls the last implementation first.
    for implementation in reversed(plugin_manager().hook.laya_commands.get_hookimpls()):
        try:
            implementation.function(*[cli][: len(implementation.argnames)])
        except Exception as error:
            warnings.warn(
                f"the commands of {implementation.plugin_name} are left out: {type(error).__name__}: {error}",
                RuntimeWarning,
                stacklevel=2,
            )


def _by_name(brought: Iterable[Mapping[str, T]]) -> dict[str, T]:
    merged: dict[str, T] = {}
    for values in brought:
        for name, value in values.items():
            merged.setdefault(name.strip().lower(), value)
    return merged


def _first(provider: str, distribution: str, purpose: str, **arguments: Any) -> object:
    caller: Callable[..., object] = getattr(plugin_manager().hook, provider)
    provided = caller(**arguments)
    if provided is None:
        raise ProviderMissing(_missing(provider, distribution, purpose))
    return provided


def _missing(provider: str, distribution: str, purpose: str) -> str:
    for record in plugin_records():
        if record.distribution == distribution and record.status != "loaded":
            installed = f"{distribution} {record.version} is installed {purpose}"
            return f"{installed}, but it is {record.status}: {record.reason}"
    asked = [record.qualified_name for record in plugin_records() if provider in record.providers]
    if asked:
        return f"none of the installed plugins is able {purpose} (asked: {', '.join(asked)})"
    return f"no installed package is able {purpose}; install {distribution}: pip install {distribution}"
