"""`LAYA_JEV_STRICT=contract`: a drop-in for TypeSafe's API as its official clients expect it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final

from laya_serve.refused import Refused, UnknownModel
from laya_serve.wire.confidence import jev_confidence
from laya_serve.wire.projection import Projection

_BODY_STATUSES: Final = frozenset({400, 422})
_ERROR_TYPES: Final[Mapping[int, str]] = MappingProxyType(
    {
        401: "authentication_error",
        404: "not_found",
        405: "method_not_allowed",
        408: "timeout_error",
        413: "request_too_large_error",
        500: "internal_server_error",
        503: "rate_limit_error",
    }
)
_DEFAULT_INSTRUCTIONS: Final = "Does the statement hold?"


class Contract(Projection):
    """The projection, with TypeSafe's confidence, levels as they were sent, and errors in TypeSafe's shapes."""

    request_id_headers: ClassVar[tuple[str, ...]] = ("X-Request-Id", "X-Typesafe-Request-Id")

    def questions(self, questions: dict[str, Any]) -> dict[str, Any]:
        if not questions:
            raise Refused(422, "questions are empty; ask at least one", ["questions"])
        return {qid: _with_instructions(question) for qid, question in questions.items()}

    def check_unknown_model(self, name: str) -> None:
        if name != "jev" and not name.startswith("jev-"):
            raise UnknownModel(400, f"unknown model {name!r}; send jev-latest and the router chooses", ["model"])

    def answer(self, answer: Mapping[str, Any], question: Mapping[str, Any]) -> dict[str, Any]:
        projected = super().answer(answer, question)
        if answer["type"] == "noul":
            return projected
        projected["confidence"] = jev_confidence(answer)
        if answer["type"] == "score":
            projected["legend"] = {str(level): sent for level, sent in enumerate(question["criteria"])}
        if "x_tournament" in answer:
            projected["x_tournament"] = answer["x_tournament"]
        return projected

    def error(self, refused: Refused) -> tuple[int, Any]:
        if isinstance(refused, UnknownModel):
            return refused.status, {"error_type": "api_usage_error", "message": refused.message}
        if refused.status in _BODY_STATUSES:
            return 422, [{"loc": ["body", *refused.where], "msg": refused.message, "type": "value_error"}]
        error_type = _ERROR_TYPES.get(refused.status, "api_error")
        return refused.status, {"error_type": error_type, "message": refused.message}


def _with_instructions(question: Any) -> Any:
    if isinstance(question, dict) and question.get("type") == "noul" and question.get("instructions") is None:
        return {**question, "instructions": _DEFAULT_INSTRUCTIONS}
    return question
