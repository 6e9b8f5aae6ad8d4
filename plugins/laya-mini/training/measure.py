"""What a model answers to labelled rows, and how good that is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from laya_core.model import DecisionModel
from training.examples import Example
from training.rows import LabelledRow, RowEncoder

_BATCH_ROWS = 32
_BINS = 10


@torch.inference_mode()
def answers(model: DecisionModel, encoder: RowEncoder, rows: Sequence[LabelledRow]) -> list[Tensor]:
    """The option logits of every row, in order."""
    torch.set_num_threads(2)  # nothing else runs meanwhile
    model.eval()
    order = sorted(range(len(rows)), key=lambda i: len(rows[i].row))
    logits: list[Tensor] = [torch.empty(0)] * len(rows)
    for start in range(0, len(order), _BATCH_ROWS):
        indices = order[start : start + _BATCH_ROWS]
        scores, _ = model(**encoder.batch([rows[i] for i in indices]).inputs)
        for i, row_scores in zip(indices, scores, strict=True):
            logits[i] = row_scores[: len(rows[i].target)]
    return logits


def accuracies(examples: Sequence[Example], logits: Sequence[Tensor]) -> dict[str, float]:
    """The share of right answers: `all`, and by question type."""
    hits: dict[str, list[bool]] = defaultdict(list)
    for example, scores in zip(examples, logits, strict=True):
        hit = int(scores.argmax()) == example.target
        hits["all"].append(hit)
        hits[example.type].append(hit)
    return {name: sum(values) / len(values) for name, values in hits.items()}


@dataclass(frozen=True, slots=True)
class Judged:
    """One answer: how sure the model was, and whether it was right."""

    confidence: float
    right: bool


def expected_calibration_error(judged: Sequence[Judged]) -> float:
    """Expected calibration error over ten bins of equal width (Guo et al., 2017, arXiv:1706.04599)."""
    bins: dict[int, list[Judged]] = defaultdict(list)
    for answer in judged:
        bins[min(int(answer.confidence * _BINS), _BINS - 1)].append(answer)
    gaps = (abs(sum(a.confidence for a in b) - sum(a.right for a in b)) for b in bins.values())
    return sum(gaps) / len(judged)
