"""The OpenAPI 3.1 document of the server's own routes."""

from __future__ import annotations

from typing import Any, Final

from laya_serve import __version__
from laya_serve.limits import Limits
from laya_serve.openapi.requests import request_schemas
from laya_serve.openapi.responses import response_schemas
from laya_serve.openapi.shapes import reference, text, whole
from laya_serve.settings import Settings

_EXAMPLE_QUESTIONS: Final = {
    "queue": {
        "type": "choice",
        "instructions": "Which team?",
        "criteria": {"billing": "billing and refunds", "tech": "login and app issues", "other": "everything else"},
    },
    "urgency": {"type": "score", "instructions": "How urgent?", "criteria": ["calm", "firm", "angry", "furious"]},
    "refund": {"type": "noul", "instructions": "Is a refund asked for?"},
}
_EXAMPLE_STATE: Final = "I was charged twice this month, I want my money back"

_REFUSALS: Final = {
    400: "The body is not JSON, not an object, lacks a field, or has one of the wrong shape.",
    408: "The body was not delivered in time.",
    413: "A limit was reached; `detail` says which.",
    422: "A question or control that is refused; `detail` says why.",
    500: "The server failed; the cause is in its log.",
    503: "No room, shutting down, or the checkpoint is not on the server and cannot be downloaded.",
}


def openapi_document(settings: Settings, limits: Limits) -> dict[str, Any]:
    """What a server of these settings takes and sends."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Laya",
            "version": __version__,
            "summary": "Typed questions about text or JSON, answered with calibrated probabilities.",
        },
        "servers": [{"url": settings.root_path or "/"}],
        "paths": {
            "/v1/systemone": {
                "post": _decision(
                    "ask",
                    "Answer questions about one state",
                    "SystemOneRequest",
                    "Result",
                    {"state": _EXAMPLE_STATE, "questions": _EXAMPLE_QUESTIONS},
                )
            },
            "/v1/systemone/batch": {
                "post": _decision(
                    "askBatch",
                    "Answer one set of questions about several states",
                    "BatchRequest",
                    "BatchResult",
                    {"states": [_EXAMPLE_STATE, "Thanks, all is well"], "questions": _EXAMPLE_QUESTIONS},
                )
            },
            "/v1/models": {"get": _reading("listModels", "The names that choose a checkpoint", "Models")},
            "/health": {"get": _reading("health", "Whether the server lives, and what it holds", "Health")},
        },
        "components": {"schemas": {**request_schemas(settings, limits), **response_schemas(settings)}},
    }


def _decision(operation: str, summary: str, request: str, response: str, example: dict[str, Any]) -> dict[str, Any]:
    answered = {
        "description": "The answers.",
        "headers": {**_request_id(), **_timings()},
        "content": {"application/json": {"schema": reference(response)}},
    }
    return {
        "operationId": operation,
        "summary": summary,
        "parameters": [_request_id_parameter()],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": reference(request), "example": example}},
        },
        "responses": {
            "200": answered,
            **{str(status): _refusal(status, description) for status, description in _REFUSALS.items()},
        },
    }


def _reading(operation: str, summary: str, response: str) -> dict[str, Any]:
    return {
        "operationId": operation,
        "summary": summary,
        "parameters": [_request_id_parameter()],
        "responses": {
            "200": {
                "description": summary,
                "headers": _request_id(),
                "content": {"application/json": {"schema": reference(response)}},
            },
            "500": _refusal(500, _REFUSALS[500]),
        },
    }


def _refusal(status: int, description: str) -> dict[str, Any]:
    retry = {"Retry-After": {"required": True, "schema": whole("Seconds.", minimum=0)}} if status == 503 else {}
    return {
        "description": description,
        "headers": {**_request_id(), **retry},
        "content": {"application/json": {"schema": reference("Error")}},
    }


def _request_id_parameter() -> dict[str, Any]:
    return {
        "name": "X-Request-Id",
        "in": "header",
        "required": False,
        "description": "An id of your own: printable ASCII, at most 128 characters; it comes back on the response.",
        "schema": text(),
    }


def _request_id() -> dict[str, Any]:
    return {"X-Request-Id": {"required": True, "schema": text(minLength=1, maxLength=128)}}


def _timings() -> dict[str, Any]:
    return {
        "Server-Timing": {"required": True, "schema": text("Milliseconds: queue;dur=…, inference;dur=…")},
        "X-Inference-Time-Ms": {"required": True, "schema": text(pattern=r"^[0-9]+\.[0-9]$")},
        "X-Laya-Model": {"required": False, "schema": text("The checkpoint that answered.")},
        "X-Laya-Route-Reason": {"required": False, "schema": text("Why it was chosen.")},
    }
