"""The hand-written grids: every question has every answer, whatever the state looks like."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from training.sources import grids

from laya_core.questions import parse_questions

GRIDS = [
    json.loads(line)
    for path in sorted(grids.FOLDER.glob("*.jsonl"))
    for line in path.read_text(encoding="utf-8").splitlines()
]


def columns() -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
    """Every question of every grid: where it stands, the question, its answers for the states in order."""
    for grid in GRIDS:
        for name, question in grid["questions"].items():
            yield f"{grid['id']}.{name}", question, [entry["answers"][name] for entry in grid["states"]]


def test_no_question_can_be_answered_without_the_state() -> None:
    guessable = []
    for place, question, answers in columns():
        likeliest = max(Counter(answers).values())
        options = 2 if question["type"] == "noul" else len(question["criteria"])
        if likeliest > max(4, len(answers) / options + 1):
            guessable.append(place)
    assert guessable == []


def test_every_state_answers_every_question_in_two_wordings() -> None:
    for grid in GRIDS:
        assert all(len(question["instructions"]) == 2 for question in grid["questions"].values())
        assert all(entry["answers"].keys() == grid["questions"].keys() for entry in grid["states"])


def test_ids_and_states_are_not_repeated() -> None:
    assert len({grid["id"] for grid in GRIDS}) == len(GRIDS)
    states = Counter(json.dumps(entry["state"]) for grid in GRIDS for entry in grid["states"])
    assert [state for state, count in states.items() if count > 1] == []


def test_all_examples_are_questions_the_core_takes() -> None:
    training, held_out = grids.read()
    for example in training + held_out:
        question = parse_questions({"q": dict(example.question)})["q"]
        assert 0 <= example.target < len(question.option_texts())


def test_grids_are_held_out_whole() -> None:
    training, held_out = grids.read()
    assert not {example.group for example in training} & {example.group for example in held_out}
    assert 0.05 < len(held_out) / len(training + held_out) < 0.2
