"""The bearer check."""

from __future__ import annotations

import hmac
from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send


class BearerAuth:
    """Lets requests pass that carry the key, and those for public paths."""

    def __init__(self, app: ASGIApp, key: str, public_paths: Collection[str] = ()) -> None:
        self.app = app
        self._key = key
        self._public_paths = frozenset(public_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._public_paths or has_key(Headers(scope=scope), self._key):
            await self.app(scope, receive, send)
            return
        refusal = JSONResponse(
            {"detail": "missing or wrong bearer token"}, status_code=401, headers={"WWW-Authenticate": "Bearer"}
        )
        await refusal(scope, receive, send)


def has_key(headers: Headers, key: str) -> bool:
    """Whether `Authorization: Bearer` carries the key, compared in constant time."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    # Header values arrive as latin-1 text, whatever the client encoded.
    return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode("latin-1"), key.encode())
