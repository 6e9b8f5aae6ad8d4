"""The hand-written families: balanced, so that nothing but the state tells the answer."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from training.sources import families

from laya_core.questions import parse_questions

FAMILIES = [
    json.loads(line)
    for path in sorted(families.FOLDER.glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


def sides(family: dict[str, Any]) -> list[list[Any]]:
    states = family["states"]
    return states if family["type"] == "score" else list(states.values())


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family["id"])
def test_every_answer_is_right_equally_often(family: dict[str, Any]) -> None:
    sizes = [len(side) for side in sides(family)]
    assert min(sizes) >= 2
    assert max(sizes) - min(sizes) <= 1
    answers = {"choice": family.get("criteria"), "noul": {"true": "", "false": ""}}.get(family["type"])
    assert answers is None or list(answers) == list(family["states"])


def test_ids_and_states_are_not_repeated() -> None:
    assert len({family["id"] for family in FAMILIES}) == len(FAMILIES)
    states = Counter(json.dumps(state) for family in FAMILIES for side in sides(family) for state in side)
    assert [state for state, count in states.items() if count > 1] == []


def test_all_examples_are_questions_the_core_takes() -> None:
    training, held_out = families.read()
    for example in training + held_out:
        question = parse_questions({"q": dict(example.question)})["q"]
        assert 0 <= example.target < len(question.option_texts())


def test_families_are_held_out_whole() -> None:
    training, held_out = families.read()
    assert not {example.group for example in training} & {example.group for example in held_out}
    assert 0.05 < len(held_out) / len(training + held_out) < 0.2
