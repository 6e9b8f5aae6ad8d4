"""The six events of a call, and the types a hook is written against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, Protocol, TypeAlias

from .context import PredictContext

Event: TypeAlias = Literal["on_predict_start", "on_predict_end", "on_route", "on_load", "on_evict", "on_error"]

HOOK_EVENTS: Final[tuple[Event, ...]] = (
    "on_predict_start",
    "on_predict_end",
    "on_route",
    "on_load",
    "on_evict",
    "on_error",
)

PredictHook: TypeAlias = Callable[[PredictContext], object]
"""What `on_predict_start=` and `on_predict_end=` take: a callable, or an `async def`, of the context."""


class Hook(Protocol):
    """Any object with one or more of these methods is a hook; the missing ones are skipped."""

    def on_predict_start(self, ctx: PredictContext) -> None: ...
    def on_predict_end(self, ctx: PredictContext) -> None: ...
    def on_route(self, ctx: PredictContext) -> None: ...
    def on_load(self, ctx: PredictContext) -> None: ...
    def on_evict(self, ctx: PredictContext) -> None: ...
    def on_error(self, ctx: PredictContext) -> None: ...


class BaseHook:
    """Every event with an empty body: a base to inherit from and to call `super()` on."""

    def on_predict_start(self, ctx: PredictContext) -> None:
        """Called before inference; may rewrite the context or `ctx.skip(results)`."""

    def on_predict_end(self, ctx: PredictContext) -> None:
        """Called once per started call, after success and after failure."""

    def on_route(self, ctx: PredictContext) -> None:
        """Called when a router has decided; may replace `ctx.decision`."""

    def on_load(self, ctx: PredictContext) -> None:
        """Called after a router has built a checkpoint."""

    def on_evict(self, ctx: PredictContext) -> None:
        """Called after a router has freed a checkpoint."""

    def on_error(self, ctx: PredictContext) -> None:
        """Called when a started call fails, before `on_predict_end`."""
