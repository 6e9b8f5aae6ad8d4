"""Fit the weights of the English evidence on labelled texts, and write them where the detector reads them.

    python laya_router/fitting/fit_weights.py            # fit, report, write
    python laya_router/fitting/fit_weights.py --check    # fit, report, and fail if the written ones differ

A ridge logistic regression over the evidence in every labelled text that is one line of Latin script; JSON states and
texts of many lines are read in parts by rules, and are not fitted on. It is deterministic and takes seconds. Run it
again after an update of py3langid or simplemma, or with more labelled texts.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from laya_router.detection.evidence import Evidence, Weights, evidence_of, fitted_weights
from laya_router.detection.scripts import LATIN, count_scripts

ROOT = Path(__file__).parents[2]
TEXTS = (ROOT / "tests/language/lang_dev.jsonl", ROOT / "tests/language/lang_fit.jsonl")
WRITTEN = ROOT / "laya_router/src/laya_router/detection/weights.json"

RIDGE = 0.03
# One line among others makes a state foreign where the odds are twenty to one that it is (log 20 is 3.0).
FOREIGN_PART = -3.0
FOLDS = 10
TOLERANCE = 0.005


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the written weights differ")
    check = parser.parse_args().check
    features, english = features_and_labels(list(labelled_evidence()))
    fitted = fit(features, english)
    weights = Weights(
        identification=round(float(fitted[0]), 3),
        vocabulary=round(float(fitted[1]), 3),
        bias=round(float(fitted[2]), 3),
        foreign_part=FOREIGN_PART,
    )
    print(f"{len(english)} texts, {int(english.sum())} of them English")
    print(f"on these texts:   {errors(scores(features, fitted), english)}")
    print(f"{FOLDS}-fold cross-validation: {errors(cross_validated(features, english), english)}")
    print(json.dumps(weights))
    if check:
        return int(not same(weights, fitted_weights()))
    WRITTEN.write_text(json.dumps(weights, indent=2) + "\n", encoding="utf-8")
    return 0


def labelled_evidence() -> Iterator[tuple[Evidence, bool]]:
    """The evidence in every text to fit on, and whether it is English."""
    for path in TEXTS:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            text = row["text"]
            if not isinstance(text, str) or "\n" in text or set(count_scripts(text)) != {LATIN}:
                continue
            evidence = evidence_of(text)
            if evidence is not None:
                yield evidence, row["english"]


def features_and_labels(rows: list[tuple[Evidence, bool]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A row of features with a constant 1 for each text, and 1 where it is English."""
    features = np.array([[*evidence.features, 1.0] for evidence, _ in rows])
    return features, np.array([float(english) for _, english in rows])


def fit(features: NDArray[np.float64], english: NDArray[np.float64]) -> NDArray[np.float64]:
    """The weights of greatest penalised likelihood, by Newton's method; the bias is not penalised."""
    penalty = np.diag([RIDGE] * (features.shape[1] - 1) + [0.0])
    weights = np.zeros(features.shape[1])
    for _ in range(100):
        probability = 1 / (1 + np.exp(-scores(features, weights)))
        gradient = features.T @ (probability - english) + penalty @ weights
        hessian = (features.T * (probability * (1 - probability))) @ features + penalty
        step = np.linalg.solve(hessian, gradient)
        weights = weights - step
        if np.abs(step).max() < 1e-10:
            break
    return weights


def cross_validated(features: NDArray[np.float64], english: NDArray[np.float64]) -> NDArray[np.float64]:
    """The score of every text under weights that were fitted without it."""
    order = np.random.default_rng(0).permutation(len(english))
    result = np.zeros(len(english))
    for fold in range(FOLDS):
        held_out = order[fold::FOLDS]
        rest = np.setdiff1d(order, held_out)
        result[held_out] = scores(features[held_out], fit(features[rest], english[rest]))
    return result


def scores(features: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The log odds of English."""
    product: NDArray[np.float64] = features @ weights
    return product


def errors(scored: NDArray[np.float64], english: NDArray[np.float64]) -> str:
    """Both kinds of error as a sentence."""
    missed = int(((scored < 0) & (english == 1)).sum())
    leaked = int(((scored >= 0) & (english == 0)).sum())
    return f"{missed} English texts called foreign, {leaked} foreign texts called English"


def same(first: Weights, second: Weights) -> bool:
    """Whether two sets of weights are the same but for rounding."""
    pairs = zip(sorted(first.items()), sorted(second.items()), strict=True)
    return all(a == b and abs(float(str(x)) - float(str(y))) <= TOLERANCE for (a, x), (b, y) in pairs)


if __name__ == "__main__":
    sys.exit(main())
