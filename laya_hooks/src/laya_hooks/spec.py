"""What a plugin can do: the six events of a call, and the six providers the packages find each other by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import pluggy

if TYPE_CHECKING:
    from .context import PredictContext
    from .protocols import AgentLike, LoadOptions, RouterLike, RouterOptions, Source

PROJECT: Final = "laya"

hookspec: Final = pluggy.HookspecMarker(PROJECT)
hookimpl: Final = pluggy.HookimplMarker(PROJECT)


@hookspec
def on_predict_start(ctx: PredictContext) -> None:
    """Before inference: rewrite `ctx`, set token budgets, `ctx.skip(results)`, or raise to abort."""


@hookspec
def on_predict_end(ctx: PredictContext) -> None:
    """Once per started call, after success and after failure; `ctx.elapsed_ms` is set."""


@hookspec
def on_route(ctx: PredictContext) -> None:
    """A router has decided; `ctx.decision` may be replaced. No checkpoint is loaded yet."""


@hookspec
def on_load(ctx: PredictContext) -> None:
    """A router has built the checkpoint `ctx.model` as `ctx.agent`."""


@hookspec
def on_evict(ctx: PredictContext) -> None:
    """A router has freed the checkpoint `ctx.model`."""


@hookspec
def on_error(ctx: PredictContext) -> None:
    """A started call has failed with `ctx.error`; `on_predict_end` follows."""


@hookspec(firstresult=True)
def laya_load_agent(source: Source, options: LoadOptions) -> AgentLike | None:
    """Load `source` as an agent, or return None to leave it to another runtime."""


@hookspec(firstresult=True)
def laya_make_router(options: RouterOptions) -> RouterLike | None:
    """Build a router, or return None to leave it to another package."""


@hookspec
def laya_checkpoints() -> Mapping[str, Source] | None:
    """Name the checkpoints this plugin ships or knows: `{name: source}`."""


@hookspec
def laya_checkpoint_descriptions() -> Mapping[str, str] | None:
    """Say in a few words what these checkpoints are for: `{name: description}`."""


@hookspec
def laya_routes(router: RouterLike) -> list[Any] | None:
    """Return Starlette routes the server mounts beside its own."""


@hookspec
def laya_commands(cli: Any) -> None:
    """Add sub-commands to `cli`, the click group of the `laya` command."""
