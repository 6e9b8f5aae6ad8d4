"""The confidence gate: which answers fall below the confidence their caller asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from .config import BAND_KEYS, QuestionType, is_number, option_band

_DEFAULT: Final = "default"


@frozen
class ConfidenceGate:
    """Thresholds by `<type>:<band>`; a band that is not named has `otherwise`."""

    thresholds: Mapping[str, float]
    otherwise: float

    @classmethod
    def parse(cls, min_confidence: object) -> ConfidenceGate:
        """Read `min_confidence`: a number in [0, 1], or a map with keys `<type>:<band>` and `default`.

        Raises:
            ValueError: it is neither, or a key or number in it is not usable.
        """
        if not isinstance(min_confidence, Mapping):
            return cls({}, _threshold("min_confidence", min_confidence))
        if not min_confidence:
            raise ValueError("min_confidence is an empty map; name a band or 'default', or leave it out")
        for key in min_confidence:
            if key != _DEFAULT and key not in BAND_KEYS:
                raise ValueError(
                    f"min_confidence: unknown key {key!r}; use 'default' or <type>:<band>, for example 'choice:3-5'"
                )
        thresholds = {key: _threshold(f"min_confidence[{key!r}]", value) for key, value in min_confidence.items()}
        return cls(thresholds, thresholds.pop(_DEFAULT, 0.0))

    def report(self, answer: dict[str, Any], kind: QuestionType, options: int) -> None:
        """Add `abstention` and `abstention_threshold` to an answer, and `low_confidence` when it is below."""
        threshold = self.thresholds.get(f"{kind}:{option_band(options)}", self.otherwise)
        confidence: Any = answer.get("answer_confidence", answer.get("confidence"))
        if not is_number(confidence):
            answer["abstention"] = "unevaluated"
        elif confidence < threshold:
            answer["low_confidence"] = True
            answer["abstention"] = "abstained"
        else:
            answer["abstention"] = "passed"
        answer["abstention_threshold"] = threshold


def _threshold(what: str, value: Any) -> float:
    if not is_number(value) or not 0.0 <= value <= 1.0:
        raise ValueError(f"{what} must be a number from 0 to 1, not {value!r}")
    return float(value)
