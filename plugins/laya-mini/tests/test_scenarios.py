from __future__ import annotations

from training.sources import scenarios


def test_every_question_has_its_gold_among_its_options() -> None:
    training, held_out = scenarios.read()
    for example in (*training, *held_out):
        count = 2 if example.type == "noul" else len(example.question["criteria"])
        assert 0 <= example.target < count, example.group


def test_no_scenario_is_both_trained_on_and_held_out() -> None:
    training, held_out = scenarios.read()
    assert held_out
    assert not {e.group for e in training} & {e.group for e in held_out}


def test_reading_twice_gives_the_same_split() -> None:
    assert scenarios.read() == scenarios.read()
