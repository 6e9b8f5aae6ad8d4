"""`LAYA_JEV_STRICT=1`: the keys of the Jev contract and nothing else; no value is computed anew."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from laya_hooks.protocols import Questions, Result
from laya_serve.wire.mode import WireMode

ANSWER_KEYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "choice": ("type", "choice", "probabilities", "confidence"),
        "score": ("type", "score", "probabilities", "confidence", "legend"),
        "noul": ("type", "noul"),
    }
)
USAGE_KEYS: Final = ("input_tokens", "output_tokens")


class Projection(WireMode):
    """Three fields at the root, the contract's keys of each answer, and two token counts."""

    def result(self, result: Result, questions: Questions) -> dict[str, Any]:
        return {
            "model": result["model"],
            "answers": {qid: self.answer(answer, questions[qid]) for qid, answer in result["answers"].items()},
            "usage": self.usage(result.get("usage") or {}),
        }

    def answer(self, answer: Mapping[str, Any], question: Mapping[str, Any]) -> dict[str, Any]:
        """One answer to one question."""
        return {key: answer[key] for key in ANSWER_KEYS[answer["type"]] if key in answer}

    def usage(self, usage: Mapping[str, Any]) -> dict[str, Any]:
        return {key: usage.get(key, 0) for key in USAGE_KEYS}
