"""One line of JSON for every call, failed ones included: `python docs/examples/hooks/audit.py`."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any, TextIO

import laya
from laya import BaseHook, PredictContext

QUESTIONS = {
    "team": {
        "type": "choice",
        "instructions": "Which team should answer?",
        "criteria": {"billing": "Payments, invoices, refunds", "technical": "Errors, crashes, outages"},
    }
}


class Audit(BaseHook):
    """Writes who was asked, about what, and what came out; states only as fingerprints, so that no text is kept."""

    def __init__(self, log: TextIO) -> None:
        self._log = log

    def on_predict_end(self, ctx: PredictContext) -> None:
        record = {
            "run": ctx.run_id,
            "model": ctx.model,
            "states": [fingerprint(state) for state in ctx.states],
            "questions": list(ctx.questions),
            "answers": [decided(result) for result in ctx.results or []],
            "error": None if ctx.error is None else type(ctx.error).__name__,
            "ms": round(ctx.elapsed_ms or 0.0, 1),
        }
        self._log.write(json.dumps(record) + "\n")


def fingerprint(state: Any) -> str:
    return hashlib.sha256(json.dumps(state, default=str).encode()).hexdigest()[:12]


def decided(result: dict[str, Any]) -> dict[str, Any]:
    return {question: answer[answer["type"]] for question, answer in result["answers"].items()}


def main() -> None:
    agent = laya.load("mini", hooks=Audit(sys.stdout))
    agent.predict_batch(["I was charged twice", "The app crashes when I log in"], QUESTIONS)
    try:
        agent.predict("Hello", {"team": {"type": "choice", "instructions": "Which team?", "criteria": {}}})
    except ValueError as error:
        print(f"refused: {error}")


if __name__ == "__main__":
    main()
