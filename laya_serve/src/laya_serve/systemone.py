"""POST /v1/systemone: questions about one state."""

from __future__ import annotations

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from laya_hooks.providers import named_checkpoints
from laya_serve.body import json_object
from laya_serve.controls import controls_of
from laya_serve.inference import InferenceWorker


async def systemone(request: Request) -> Response:
    """Answer the questions of one request."""
    worker: InferenceWorker = request.app.state.worker
    body = await json_object(request)
    questions = questions_of(body)
    if body.get("state") is None:
        raise HTTPException(400, "state is missing or null")
    controls = controls_of(body, known_models={*named_checkpoints(), *worker.router.registered()})
    result, milliseconds = await worker.predict(body["state"], questions, controls)
    return JSONResponse(
        result,
        headers={
            "Server-Timing": f"inference;dur={milliseconds:.1f}",
            "X-Inference-Time-Ms": f"{milliseconds:.1f}",
        },
    )


def questions_of(body: dict[str, Any]) -> dict[str, Any]:
    """The questions of a body.

    Raises:
        HTTPException: 400, there are none or they are not an object.
    """
    if "questions" not in body:
        raise HTTPException(400, "questions are missing")
    questions = body["questions"]
    if not isinstance(questions, dict):
        raise HTTPException(400, "questions are not a JSON object")
    return questions
