"""Cutting off: what still runs when the server has to end is answered with 503."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Receive, Scope, Send

from laya_serve.refused import shutting_down
from laya_serve.sending import NotingSend


class Unfinished:
    """The deadlines of the requests that are being served: none, until they are cut off. For the event loop alone."""

    def __init__(self) -> None:
        self._deadlines: set[asyncio.Timeout] = set()

    def add(self, deadline: asyncio.Timeout) -> None:
        """Note a request that begins."""
        self._deadlines.add(deadline)

    def discard(self, deadline: asyncio.Timeout) -> None:
        """Note that a request has ended."""
        self._deadlines.discard(deadline)

    def cut_off(self) -> None:
        """Let the time of all of them be over."""
        now = asyncio.get_running_loop().time()
        while self._deadlines:
            self._deadlines.pop().reschedule(now)


class CutOff:
    """Refuses a request of the wrapped application that is cut off; a response that has begun ends where it is."""

    def __init__(self, app: ASGIApp, unfinished: Unfinished) -> None:
        self.app = app
        self._unfinished = unfinished

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sending = NotingSend(send)
        deadline = asyncio.timeout(None)
        try:
            async with deadline:
                self._unfinished.add(deadline)
                await self.app(scope, receive, sending)
        except TimeoutError:
            if not deadline.expired():
                raise
            if not sending.started:
                raise shutting_down() from None
        finally:
            self._unfinished.discard(deadline)
