"""Runs the router away from the event loop."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, TypeVar

import anyio
import anyio.to_thread
from starlette.exceptions import HTTPException

from laya_hooks.errors import Draining, QueueFull
from laya_hooks.protocols import RouterLike

T = TypeVar("T")


class InferenceWorker:
    """Calls the router in worker threads, one call at a time."""

    def __init__(self, router: RouterLike) -> None:
        self.router = router
        self._limiter = anyio.CapacityLimiter(1)

    async def predict(self, state: Any, questions: dict[str, Any], controls: dict[str, Any]) -> tuple[Any, float]:
        """The router's result and the milliseconds it took.

        Raises:
            HTTPException: 422, the router or the checkpoint refuses the request; 503, there is no room for it.
        """
        return await self._run(lambda: self.router.predict(state, questions, **controls))

    async def _run(self, call: Callable[[], T]) -> tuple[T, float]:
        def timed() -> tuple[T, float]:
            started = perf_counter()
            return call(), (perf_counter() - started) * 1000

        try:
            return await anyio.to_thread.run_sync(timed, limiter=self._limiter)
        except (TypeError, ValueError) as error:
            raise HTTPException(422, str(error)) from error
        except (Draining, QueueFull) as error:
            raise HTTPException(503, "the server is busy; try again", headers={"Retry-After": "1"}) from error
