from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from laya_router import Router

from .texts import labelled, measure

FIT = Path(__file__).parents[2] / "laya_router/fitting/fit_weights.py"


def test_the_development_texts_reach_the_marks() -> None:
    rates = measure(labelled("dev"), Router())
    assert (rates.english, rates.foreign) == (68, 246)
    assert rates.accuracy >= 0.985, rates
    assert rates.leak_rate <= 0.015, rates


def test_texts_that_nothing_was_fitted_on_stay_near_them() -> None:
    rates = measure(labelled("heldout"), Router())
    assert rates.english + rates.foreign > 250
    assert rates.accuracy >= 0.95, rates
    assert rates.leak_rate <= 0.015, rates


def test_the_sets_share_no_text() -> None:
    texts = [[str(row["text"]) for row in labelled(name)] for name in ("dev", "fit", "heldout")]
    assert sum(map(len, texts)) == len(set().union(*texts))


def test_fitting_again_gives_the_weights_that_are_written() -> None:
    run = subprocess.run([sys.executable, str(FIT), "--check"], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
