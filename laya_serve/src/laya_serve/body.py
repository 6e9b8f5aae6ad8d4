"""The bytes of a request's body: all of them, in time, and not too many."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.datastructures import Headers
from starlette.types import Receive, Scope

from laya_serve.refused import CLOSE, ClientGone, Refused

_DISCARD_FACTOR: Final = 4


async def read_body(scope: Scope, receive: Receive, most: int, seconds: float) -> bytes:
    """The whole body.

    Args:
        most: bytes it may have.
        seconds: how long the client has to deliver it.

    Raises:
        Refused: 413, it is larger, as declared or as sent; 408, it did not come in time.
        ClientGone: the client left before it was complete.
    """
    headers = Headers(scope=scope)
    declared = _declared_length(headers)
    # What comes after a refusal is still read, within bounds: closing on unread bytes would reset the connection
    # and the client might never see the refusal. A client that waits for a 100 has not begun to send.
    may_discard = declared <= most * _DISCARD_FACTOR and "expect" not in headers
    if declared > most and not may_discard:
        raise _too_large(most)
    try:
        async with asyncio.timeout(seconds):
            return await _read(receive, most)
    except TimeoutError:
        raise Refused(408, f"the body was not delivered within {seconds:g} s", headers=CLOSE) from None


async def _read(receive: Receive, most: int) -> bytes:
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > most * _DISCARD_FACTOR:
            raise _too_large(most)
        if size > most:
            parts.clear()
        else:
            parts.append(part)
        if not message.get("more_body", False):
            if size > most:
                raise _too_large(most)
            return parts[0] if len(parts) == 1 else b"".join(parts)


def _declared_length(headers: Headers) -> int:
    length = headers.get("content-length", "0")
    return int(length) if length.isascii() and length.isdigit() and len(length) < 16 else 0


def _too_large(most: int) -> Refused:
    return Refused(413, f"the body is larger than {most} bytes", headers=CLOSE)
