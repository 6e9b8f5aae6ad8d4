"""The questions and states of a body: their shape, before the router sees them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from laya_serve.refused import Refused

_NAMED: Final = re.compile(r"question (?P<quote>['\"])(?P<qid>.*?)(?P=quote)", re.DOTALL)


def questions_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The questions of a body.

    Raises:
        Refused: 400, they are missing or not an object.
    """
    if "questions" not in body:
        raise Refused(400, "questions are missing", ["questions"])
    questions = body["questions"]
    if not isinstance(questions, dict):
        raise Refused(400, "questions are not a JSON object of id to question", ["questions"])
    return questions


def state_of(body: Mapping[str, Any]) -> Any:
    """The state of a body.

    Raises:
        Refused: 400, it is missing or null.
    """
    if body.get("state") is None:
        raise Refused(400, "state is missing or null", ["state"])
    return body["state"]


def states_of(body: Mapping[str, Any]) -> list[Any]:
    """The states of a batch.

    Raises:
        Refused: 400, they are not a list, it is empty, or one of them is null.
    """
    states = body.get("states")
    if not isinstance(states, list) or not states:
        raise Refused(400, "states is a list of at least one state", ["states"])
    for index, state in enumerate(states):
        if state is None:
            raise Refused(400, f"states[{index}] is null", ["states", index])
    return states


def refuse_equal_keys(questions: Mapping[str, Any]) -> None:
    """Refuse labels that are different values and the same key of a JSON object, as 1 and "1" are.

    Raises:
        Refused: 422.
    """
    for qid, question in questions.items():
        criteria = question.get("criteria") if isinstance(question, dict) else None
        if not isinstance(criteria, list) or question.get("type") != "choice":
            continue
        labels = [label for label in criteria if isinstance(label, int | float)]
        texts = {label for label in criteria if isinstance(label, str)}
        for label in labels:
            if json.dumps(label) in texts:
                raise Refused(
                    422,
                    f"question {qid!r}: the labels {label!r} and {json.dumps(label)!r} are the same key of an answer",
                    ["questions", qid, "criteria"],
                )


def place_of(message: str, questions: Mapping[str, Any]) -> list[str | int]:
    """Where in the body a message of the router points to, as far as it says."""
    named = _NAMED.search(message)
    if named is None:
        return []
    qid = named["qid"]
    return ["questions", qid] if qid in questions else ["questions"]
