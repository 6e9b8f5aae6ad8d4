"""Refusals and failures as JSON, in the shape of the wire mode."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from laya_serve.failure_log import log_failure
from laya_serve.json_bytes import JsonResponse
from laya_serve.refused import ClientGone, Refused
from laya_serve.sending import NotingSend
from laya_serve.wire import WireMode

FAILED = "inference failed"


def error_response(wire: WireMode, refused: Refused) -> Response:
    """The response that tells a client what was wrong."""
    status, detail = wire.error(refused)
    return JsonResponse({"detail": detail}, status_code=status, headers=refused.headers)


def http_exception_handler(wire: WireMode) -> Callable[[Request, Exception], Response]:
    """Answers what Starlette itself refuses: unknown routes and wrong methods."""

    def answer(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        message = error.detail or HTTPStatus(error.status_code).phrase
        return error_response(wire, Refused(error.status_code, message, headers=error.headers))

    return answer


class Errors:
    """Turns every error of the application into a response; the cause of a failure goes to the log alone."""

    def __init__(self, app: ASGIApp, wire: WireMode) -> None:
        self.app = app
        self._wire = wire

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sending = NotingSend(send)
        try:
            await self.app(scope, receive, sending)
        except ClientGone:
            return
        except Refused as refused:
            response = error_response(self._wire, refused)
        except Exception as error:
            log_failure(error)
            if sending.started:
                raise
            response = error_response(self._wire, Refused(500, FAILED))
        else:
            return
        await response(scope, receive, send)
