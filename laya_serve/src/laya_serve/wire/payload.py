"""The default mode: the router's result as it is."""

from __future__ import annotations

from typing import Any

import attrs

from laya_hooks.protocols import Questions, Result
from laya_serve.wire.confidence import jev_confidence
from laya_serve.wire.mode import WireMode


@attrs.frozen
class FullPayload(WireMode):
    """Laya's payload, with TypeSafe's confidence beside Laya's own where it is asked for."""

    adds_jev_confidence: bool = False

    def result(self, result: Result, questions: Questions) -> dict[str, Any]:
        if not self.adds_jev_confidence:
            return result
        answers = {qid: _with_jev_confidence(answer) for qid, answer in result["answers"].items()}
        return {**result, "answers": answers}


def _with_jev_confidence(answer: dict[str, Any]) -> dict[str, Any]:
    confidence = jev_confidence(answer)
    return answer if confidence is None else {**answer, "x_jev_confidence": confidence}
