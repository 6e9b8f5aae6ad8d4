"""Runs the work of requests away from the event loop, on a bounded number of threads."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, TypeVar

from starlette.types import Receive

from laya_hooks.scope import CallScope
from laya_serve.refused import ClientGone

T = TypeVar("T")


class Calls:
    """Threads for calls of the router, each call inside the context of its request.

    Args:
        threads: how many calls run at once; a call whose client has left keeps its thread until it returns.
    """

    def __init__(self, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="laya-call")

    async def run(self, call: Callable[[], T], receive: Receive, scope: CallScope) -> T:
        """The result of a call for a client that waits for it.

        Raises:
            ClientGone: the client left; the scope is cancelled, and nobody waits for the call any longer.
        """
        future = self._threads.submit(copy_context().run, call)
        running = asyncio.wrap_future(future)
        leaving = asyncio.ensure_future(_left(receive))
        try:
            either: set[asyncio.Future[Any]] = {running, leaving}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if running.done():
                return running.result()
            raise ClientGone
        finally:
            leaving.cancel()
            if not running.done():
                scope.cancel()
                future.cancel()
                running.add_done_callback(_look_at)

    def start(self, call: Callable[[], T]) -> asyncio.Future[T]:
        """Begin a call nobody may leave."""
        return asyncio.wrap_future(self._threads.submit(copy_context().run, call))

    def close(self) -> None:
        """Take no more calls; those that run go on."""
        self._threads.shutdown(wait=False, cancel_futures=True)


async def _left(receive: Receive) -> None:
    """Return when the client leaves; the body has been read, so nothing else can arrive."""
    while (await receive())["type"] != "http.disconnect":
        pass


def _look_at(abandoned: asyncio.Future[T]) -> None:
    # asyncio reports an error that nobody has looked at.
    if not abandoned.cancelled():
        abandoned.exception()
