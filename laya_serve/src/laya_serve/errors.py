"""Refusals and failures as JSON `{"detail": ...}`."""

from __future__ import annotations

import logging

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, ExceptionHandler, Message, Receive, Scope, Send

logger = logging.getLogger("laya.serve")


async def refused(request: Request, error: Exception) -> Response:
    """The answer to a request that cannot be served as it is; the status says why."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"detail": error.detail}, status_code=error.status_code, headers=error.headers)


EXCEPTION_HANDLERS: dict[type[Exception], ExceptionHandler] = {HTTPException: refused}


class ServerErrors:
    """Answers with fixed text when the server is at fault; the cause goes to the log alone."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def noting_start(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, noting_start)
        except Exception:
            logger.exception("inference failed")
            if started:
                raise
            await JSONResponse({"detail": "inference failed"}, status_code=500)(scope, receive, send)
