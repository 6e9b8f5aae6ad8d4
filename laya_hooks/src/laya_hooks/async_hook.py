"""A hook whose events are coroutines."""

from __future__ import annotations

from functools import update_wrapper
from inspect import isawaitable
from typing import TYPE_CHECKING, Any

from .coroutines import run_coroutine_sync
from .normalise import require_hook

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from .context import PredictContext
    from .events import Event, PredictHook


class AsyncHook:
    """Run the `async def` events of `hook` to completion from the synchronous core.

    Args:
        hook: the hook to wrap; events of it that are not async run as they are.
        loop: a running loop of another thread for the coroutines; by default see `run_coroutine_sync`.

    Raises:
        TypeError: `hook` is a class, or has no event, or one that is a generator function.
    """

    def __init__(self, hook: object, loop: AbstractEventLoop | None = None) -> None:
        self.hook = hook
        self.loop = loop
        for event in require_hook(hook):
            setattr(self, event, self._completing(event))

    def _completing(self, event: Event) -> PredictHook:
        def call(ctx: PredictContext) -> None:
            returned: Any = getattr(self.hook, event)(ctx)
            if isawaitable(returned):
                run_coroutine_sync(returned, self.loop)

        # The name for messages, and the marker of a plugin's method.
        return update_wrapper(call, getattr(self.hook, event))

    def __repr__(self) -> str:
        return f"AsyncHook({self.hook!r})"
