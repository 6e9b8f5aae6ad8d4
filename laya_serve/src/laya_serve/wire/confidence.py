"""Confidence as TypeSafe defines it, from the probabilities of an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

_PLACES: Final = 4


def jev_confidence(answer: Mapping[str, Any]) -> float | None:
    """TypeSafe's confidence of an answer in [0, 1]; None for a noul, which has none."""
    if answer.get("type") not in ("choice", "score"):
        return None
    probabilities = list(answer["probabilities"].values())
    if len(probabilities) < 2:
        return 1.0
    confidence = peakedness(probabilities) if answer["type"] == "choice" else concentration(probabilities)
    return round(confidence, _PLACES)


def peakedness(probabilities: Sequence[float]) -> float:
    """(max p - 1/n) / (1 - 1/n): 0 for a uniform distribution, 1 for certainty."""
    uniform = 1 / len(probabilities)
    return min(1.0, max(0.0, (max(probabilities) - uniform) / (1 - uniform)))


def concentration(probabilities: Sequence[float]) -> float:
    """max(0, 1 - sum p |i - mode| / D), where D is that sum for a uniform distribution, whose mode is its middle."""
    mode = probabilities.index(max(probabilities))
    middle = (len(probabilities) - 1) / 2
    spread = sum(p * abs(level - mode) for level, p in enumerate(probabilities))
    uniform = sum(abs(level - middle) for level in range(len(probabilities))) / len(probabilities)
    return max(0.0, 1 - spread / uniform)
