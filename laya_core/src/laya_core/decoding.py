"""From option logits to answers: calibrated probabilities, confidences and the fields of each question type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from attrs import frozen

from .config import Temperatures
from .questions import Choice, Question, Score

_PLACES: Final = 4


@frozen
class RowScores:
    """What the model says about one row: a logit per option slot, and the probability of answering."""

    logits: tuple[float, ...]
    act_probability: float


def decode(question: Question, order: Sequence[int], scores: RowScores, temperatures: Temperatures) -> dict[str, Any]:
    """The answer to one question.

    Probabilities are softmax(logits / T) (temperature scaling, Guo et al. 2017), put back from the order of the
    slots into the caller's. `confidence` is 1 - H(p) / log k, for a yes/no question max(p, 1 - p);
    `answer_confidence` is max p. Numbers are rounded to four places.

    Args:
        order: option shown in each slot.
        scores: one logit per slot.
    """
    probabilities = probabilities_of(question, order, scores, temperatures)
    best = max(probabilities)
    rounded = [round(p, _PLACES) for p in probabilities]
    answer: dict[str, Any] = {"type": question.kind}
    if isinstance(question, Choice):
        answer["choice"] = question.labels[probabilities.index(best)]
        answer["probabilities"] = dict(zip(question.labels, rounded, strict=True))
        confidence = certainty(probabilities)
    elif isinstance(question, Score):
        answer["score"] = round(sum(level * p for level, p in enumerate(probabilities)), _PLACES)
        answer["legend"] = {str(level): text for level, text in enumerate(question.levels)}
        answer["probabilities"] = {str(level): p for level, p in enumerate(rounded)}
        confidence = certainty(probabilities)
    else:
        answer["noul"] = rounded[1]
        confidence = best
    answer["confidence"] = round(confidence, _PLACES)
    answer["answer_confidence"] = round(best, _PLACES)
    answer["action"] = {"act_probability": round(scores.act_probability, _PLACES)}
    return answer


def probabilities_of(
    question: Question, order: Sequence[int], scores: RowScores, temperatures: Temperatures
) -> list[float]:
    """The calibrated probability of each option, in the caller's order."""
    shown = softmax(scores.logits, temperatures.of(question.kind, len(order)))
    probabilities = [0.0] * len(order)
    for slot, option in enumerate(order):
        probabilities[option] = shown[slot]
    return probabilities


def softmax(logits: Sequence[float], temperature: float) -> list[float]:
    """softmax(logits / temperature)."""
    highest = max(logits)
    weights = [math.exp((logit - highest) / temperature) for logit in logits]
    total = sum(weights)
    return [weight / total for weight in weights]


def certainty(probabilities: Sequence[float]) -> float:
    """1 - H(p) / log k in [0, 1]; 1.0 when there is only one option."""
    if len(probabilities) < 2:
        return 1.0
    entropy = -sum(p * math.log(p) for p in probabilities if p > 0.0)
    return max(0.0, 1.0 - entropy / math.log(len(probabilities)))
