"""The endpoint of a decision: body in, answer out, the work on a thread."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from laya_hooks.scope import CallScope, current_scope
from laya_serve.body import read_body
from laya_serve.calls import Calls
from laya_serve.replies import Reply


class DecisionRoute:
    """Reads a body and answers it on a thread.

    Args:
        answer: from the bytes of a body to the reply.
        most: bytes a body may have.
        seconds: how long a client has to deliver it.
    """

    def __init__(self, answer: Callable[[bytes], Reply], calls: Calls, most: int, seconds: float) -> None:
        self._answer = answer
        self._calls = calls
        self._most = most
        self._seconds = seconds

    async def respond(self, request: Request) -> Response:
        """Answer one request."""
        raw = await read_body(request.scope, request.receive, self._most, self._seconds)
        scope = current_scope() or CallScope()
        reply = await self._calls.run(partial(self._answer, raw), request.receive, scope)
        return Response(reply.body, headers=reply.headers, media_type="application/json")
