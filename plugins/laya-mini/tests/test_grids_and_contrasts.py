"""The hand-written grids and contrast sets: every question has every answer, whatever the state looks like."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from training.sources import contrasts, grids

from laya_core.questions import parse_questions


def written(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()
    ]


SETS = {"grids": written(grids.FOLDER), "contrasts": written(contrasts.FOLDER)}
READERS = {"grids": grids.read, "contrasts": contrasts.read}
MOST_STATES_OF_ONE_ANSWER: dict[str, Callable[[int, int], float]] = {
    "grids": lambda states, options: max(4, states / options + 1),
    "contrasts": lambda states, _: states / 2,
}


def columns(kind: str) -> Iterator[tuple[str, dict[str, Any], list[Any]]]:
    """Every question: where it stands, the question, its answers for the states in order."""
    for asked in SETS[kind]:
        for name, question in asked["questions"].items():
            yield f"{asked['id']}.{name}", question, [entry["answers"][name] for entry in asked["states"]]


@pytest.mark.parametrize("kind", SETS)
def test_no_question_can_be_answered_without_the_state(kind: str) -> None:
    guessable = []
    for place, question, answers in columns(kind):
        likeliest = max(Counter(answers).values())
        options = 2 if question["type"] == "noul" else len(question["criteria"])
        if likeliest > MOST_STATES_OF_ONE_ANSWER[kind](len(answers), options):
            guessable.append(place)
    assert guessable == []


@pytest.mark.parametrize("kind", SETS)
def test_every_state_answers_every_question_in_two_wordings(kind: str) -> None:
    for asked in SETS[kind]:
        assert all(len(question["instructions"]) == 2 for question in asked["questions"].values())
        assert all(entry["answers"].keys() == asked["questions"].keys() for entry in asked["states"])


def test_ids_and_states_are_not_repeated() -> None:
    every = [asked for sets in SETS.values() for asked in sets]
    assert len({asked["id"] for asked in every}) == len(every)
    states = Counter(json.dumps(entry["state"]) for asked in every for entry in asked["states"])
    assert [state for state, count in states.items() if count > 1] == []


@pytest.mark.parametrize("kind", SETS)
def test_all_examples_are_questions_the_core_takes(kind: str) -> None:
    training, held_out = READERS[kind]()
    for example in training + held_out:
        question = parse_questions({"q": dict(example.question)})["q"]
        assert 0 <= example.target < len(question.option_texts())


@pytest.mark.parametrize("kind", SETS)
def test_sets_are_held_out_whole(kind: str) -> None:
    training, held_out = READERS[kind]()
    assert not {example.group for example in training} & {example.group for example in held_out}
    assert 0.05 < len(held_out) / len(training + held_out) < 0.2
