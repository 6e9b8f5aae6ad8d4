"""Temperature scaling (Guo et al., 2017, arXiv:1706.04599): one per question type, and per option count."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import torch
from torch import Tensor

from laya_core.config import QUESTION_TYPES, option_band
from training.examples import Example

_COLDEST, _HOTTEST = 0.5, 5.0
_ENOUGH_FOR_A_BAND = 60


def fit_temperatures(examples: Sequence[Example], logits: Sequence[Tensor]) -> tuple[list[float], dict[str, float]]:
    """`temperature` and `temperature_by_options` that make the right answers most likely.

    A band of option counts gets its own temperature where there are at least 60 examples of it.
    """
    by_type: dict[str, list[tuple[Tensor, int]]] = defaultdict(list)
    by_band: dict[str, list[tuple[Tensor, int]]] = defaultdict(list)
    for example, scores in zip(examples, logits, strict=True):
        labelled = (scores, example.target)
        by_type[example.type].append(labelled)
        by_band[f"{example.type}:{option_band(len(scores))}"].append(labelled)
    temperatures = [_fit(by_type[kind]) for kind in QUESTION_TYPES]
    bands = {
        band: _fit(labelled)
        for band, labelled in sorted(by_band.items())
        if len(labelled) >= _ENOUGH_FOR_A_BAND and len(labelled) < len(by_type[band.partition(":")[0]])
    }
    return temperatures, bands


def _fit(labelled: Sequence[tuple[Tensor, int]]) -> float:
    """The best of a fine grid between the limits decoding allows; the loss has one minimum in 1/T."""
    grid: list[float] = torch.logspace(torch.tensor(_COLDEST).log10(), torch.tensor(_HOTTEST).log10(), 200).tolist()
    losses = [_loss(labelled, temperature) for temperature in grid]
    return round(grid[losses.index(min(losses))], 3)


def _loss(labelled: Sequence[tuple[Tensor, int]], temperature: float) -> float:
    return -sum(float((scores / temperature).log_softmax(-1)[target]) for scores, target in labelled)
