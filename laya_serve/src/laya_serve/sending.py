"""Sending a response, and knowing whether it has begun."""

from __future__ import annotations

from starlette.types import Message, Send


class NotingSend:
    """Sends messages; `started` tells whether any was: what has begun cannot become another response."""

    def __init__(self, send: Send) -> None:
        self.started = False
        self._send = send

    async def __call__(self, message: Message) -> None:
        self.started = True
        await self._send(message)
