from __future__ import annotations

import pytest
import torch
from training.calibrate import fit_temperatures
from training.examples import choice, noul, score
from training.measure import Judged, expected_calibration_error

YES_NO = [noul(f"t:{i}", "x", "holds", i % 10 < 8) for i in range(100)]
OTHERS = [
    choice("t:c", "x", "which", ["a", "b", "c"], "a"),
    score("t:s", "x", "how", ["low", "mid", "high"], 1),
]


def test_calibration_error_is_the_weighted_gap_between_confidence_and_accuracy() -> None:
    judged = [Judged(0.95, True), Judged(0.95, True), Judged(0.55, False), Judged(0.55, True)]
    assert expected_calibration_error(judged) == pytest.approx(0.05)


def test_temperature_brings_confidence_to_the_observed_accuracy() -> None:
    overconfident = [torch.tensor([0.0, 4.0])] * len(YES_NO)
    logits = [*overconfident, *(torch.zeros(3) for _ in OTHERS)]
    (_, _, temperature), _ = fit_temperatures([*YES_NO, *OTHERS], logits)
    assert torch.sigmoid(torch.tensor(4.0 / temperature)).item() == pytest.approx(0.8, abs=0.01)


def test_temperatures_stay_within_what_decoding_accepts() -> None:
    always_wrong = [torch.tensor([9.0, 0.0] if example.gold else [0.0, 9.0]) for example in YES_NO]
    (_, _, temperature), _ = fit_temperatures([*YES_NO, *OTHERS], [*always_wrong, *(torch.zeros(3) for _ in OTHERS)])
    assert temperature == 5.0
