"""The id of a request: the client's own or a new one, on the response and in the call's scope."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from laya_hooks.context import new_run_id
from laya_hooks.scope import call_scope

HEADER: Final = "X-Request-Id"
_USABLE: Final = re.compile(r"[ -~]{1,128}")


class RequestId:
    """Opens a `CallScope` around each request and sends its id back, under each name in `headers`."""

    def __init__(self, app: ASGIApp, headers: Sequence[str] = (HEADER,)) -> None:
        self.app = app
        self._headers = tuple(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        request_id = given if _USABLE.fullmatch(given) else new_run_id()

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name in self._headers:
                    headers[name] = request_id
            await send(message)

        with call_scope(request_id):
            await self.app(scope, receive, send_with_id)
