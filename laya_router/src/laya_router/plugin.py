"""What this package gives the others: the router, and the names of the published checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from laya_hooks.spec import hookimpl

if TYPE_CHECKING:
    from laya_hooks.protocols import RouterLike, RouterOptions, Source


@hookimpl(trylast=True)
def laya_make_router(options: RouterOptions) -> RouterLike:
    """The router of this package."""
    from laya_router.router import Router

    return Router(**options)


@hookimpl
def laya_checkpoints() -> Mapping[str, Source]:
    """The published checkpoints under their names and aliases."""
    from laya_router.table import ALIASES, published_sources

    sources = published_sources()
    return {**sources, **{alias: sources[name] for alias, name in ALIASES.items() if "/" not in alias}}


@hookimpl
def laya_commands(cli: Any) -> None:
    """`laya predict`, `laya route`, `laya checkpoints` and `laya presets`."""
    from laya_router.commands import add_commands

    add_commands(cli)
