"""Admission: how many decision requests are served at once, and none while the server drains."""

from __future__ import annotations

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from laya_serve.refused import busy, shutting_down


class Slots:
    """The places for requests, counted on the event loop alone.

    A request takes a slot before a byte of its body is read and gives it back when its response begins: a client
    that reads slowly keeps nothing from others. `running` counts until the response is sent.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.taken = 0
        self.running = 0
        self.draining = False
        self._nothing_runs = asyncio.Event()
        self._nothing_runs.set()

    def take(self) -> None:
        """Take a slot.

        Raises:
            Refused: 503, all are taken or the server drains.
        """
        if self.draining:
            raise shutting_down()
        if self.taken >= self.capacity:
            raise busy(f"the server answers {self.capacity} requests at once and has no room; try again")
        self.taken += 1
        self.running += 1
        self._nothing_runs.clear()

    def give_back(self) -> None:
        """Make room for the next request."""
        self.taken -= 1

    def finish(self) -> None:
        """Note that a response is sent, or will never be."""
        self.running -= 1
        if self.running == 0:
            self._nothing_runs.set()

    def drain(self) -> None:
        """Admit nothing more."""
        self.draining = True

    async def nothing_runs(self) -> None:
        """Wait until every admitted request is done."""
        await self._nothing_runs.wait()


class Admission:
    """Serves a request of the wrapped application only if it gets a slot."""

    def __init__(self, app: ASGIApp, slots: Slots) -> None:
        self.app = app
        self._slots = slots

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._slots.take()
        holds_slot = True

        def give_back() -> None:
            nonlocal holds_slot
            if holds_slot:
                holds_slot = False
                self._slots.give_back()

        async def send_and_give_back(message: Message) -> None:
            give_back()
            await send(message)

        try:
            await self.app(scope, receive, send_and_give_back)
        finally:
            give_back()
            self._slots.finish()
