"""The result payload of one state: answers and what they were read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import asdict

from .confidence_gate import ConfidenceGate
from .config import Temperatures
from .decoding import RowScores, decode
from .prompt import Row
from .questions import Question

MODEL_NAME: Final = "laya-rl-agent"


def build_result(
    questions: Mapping[Any, Question],
    rows: Sequence[Row],
    scores: Sequence[RowScores],
    temperatures: Temperatures,
    gate: ConfidenceGate | None,
) -> dict[str, Any]:
    """The result of one state from its rows and their scores, one of each per question, in order."""
    answers = {}
    for (qid, question), row, row_scores in zip(questions.items(), rows, scores, strict=True):
        order = row.prefix.order
        answers[qid] = decode(question, order, row_scores, temperatures)
        if gate is not None:
            gate.report(answers[qid], question.kind, len(order))
    return {"model": MODEL_NAME, "answers": answers, "usage": _usage(list(questions), rows)}


def empty_result() -> dict[str, Any]:
    """The result of a state about which nothing was asked."""
    return {"model": MODEL_NAME, "answers": {}, "usage": {"input_tokens": 0, "output_tokens": 0}}


def _usage(qids: Sequence[Any], rows: Sequence[Row]) -> dict[str, Any]:
    truncated = [qid for qid, row in zip(qids, rows, strict=True) if row.state_tokens_dropped]
    usage: dict[str, Any] = {
        "input_tokens": sum(map(len, rows)),
        "output_tokens": 0,
        "state_tokens": rows[0].state_tokens,
        "state_tokens_dropped": max(row.state_tokens_dropped for row in rows),
        "truncated": bool(truncated),
        "truncated_questions": truncated,
    }
    cut = {qid: asdict(row.prefix.cut) for qid, row in zip(qids, rows, strict=True) if row.prefix.cut is not None}
    return {**usage, "options": cut} if cut else usage
