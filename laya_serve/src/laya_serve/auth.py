"""The bearer check."""

from __future__ import annotations

import hmac
from collections.abc import Callable

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from laya_serve.refused import Refused


class BearerAuth:
    """Lets requests pass that carry the key, and those that are for anyone.

    Args:
        is_public: whether a request needs no key.
    """

    def __init__(self, app: ASGIApp, key: str, is_public: Callable[[Scope], bool]) -> None:
        self.app = app
        self._key = key
        self._is_public = is_public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not has_key(Headers(scope=scope), self._key) and not self._is_public(scope):
            raise Refused(401, "missing or wrong bearer token", headers={"WWW-Authenticate": "Bearer"})
        await self.app(scope, receive, send)


def has_key(headers: Headers, key: str) -> bool:
    """Whether `Authorization: Bearer` carries the key, compared in constant time."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    # Header values arrive as latin-1 text, whatever the client encoded.
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode("latin-1"), key.encode())
