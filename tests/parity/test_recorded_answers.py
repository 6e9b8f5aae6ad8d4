"""463 calls, recorded from the published reference package (CPU, float32): same checkpoint, same call, same answer."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from laya_core import Agent

HERE = Path(__file__).parent
CASES: list[dict[str, Any]] = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))["cases"]
TOLERANCE = 2e-4
ERRORS = {"ValueError": ValueError, "TypeError": TypeError}


@cache
def agent(checkpoint: str) -> Agent:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the checkpoints hold a temperature that is clamped
        return Agent(HERE / "checkpoints" / checkpoint, device="cpu", precision="float32")


NAMES = [f"{number}-{case['checkpoint']}-{case['method']}" for number, case in enumerate(CASES)]


def arguments(case: Mapping[str, Any]) -> dict[str, Any]:
    recorded = dict(case["args"])
    questions = recorded["questions"]
    if isinstance(questions, list):
        recorded["questions"] = dict(questions)
    elif "not_a_mapping" in questions:
        recorded["questions"] = questions["not_a_mapping"]
    return recorded


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_answers_as_the_reference_did(case: dict[str, Any]) -> None:
    call = getattr(agent(case["checkpoint"]), case["method"])
    if "error" in case:
        with pytest.raises(ERRORS[case["error"]["type"]]):
            call(**arguments(case))
    else:
        assert list(differences(call(**arguments(case)), case["result"])) == []


def differences(ours: Any, theirs: Any, where: str = "") -> Iterator[str]:
    """Every field in which two results differ: numbers by more than the tolerance, anything else at all."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        ours = {str(key): value for key, value in ours.items()}
        if ours.keys() != theirs.keys():
            yield f"{where}: {sorted(ours)} instead of {sorted(theirs)}"
            return
        for key in theirs:
            if not (key == "choice" and is_tied(ours["choice"], theirs)):
                yield from differences(ours[key], theirs[key], f"{where}/{key}")
    elif isinstance(theirs, list) and isinstance(ours, list) and len(ours) == len(theirs):
        for index, (our, their) in enumerate(zip(ours, theirs, strict=True)):
            yield from differences(our, their, f"{where}[{index}]")
    elif is_number(ours) and is_number(theirs):
        if abs(ours - theirs) > TOLERANCE:
            yield f"{where}: {ours} instead of {theirs}"
    elif type(ours) is not type(theirs) or ours != theirs:
        yield f"{where}: {ours!r} instead of {theirs!r}"


def is_tied(label: object, theirs: Mapping[str, Any]) -> bool:
    """Whether the reference gave `label` the very probability of its own choice.

    Options that were cut until all of them read the same have equal logits up to the last bit. Which of them is the
    highest depends on the processor's vector instructions, in the reference as in ours.
    """
    probabilities = theirs.get("probabilities", {})
    return len(set(probabilities.values())) == 1 and str(label) in probabilities


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
