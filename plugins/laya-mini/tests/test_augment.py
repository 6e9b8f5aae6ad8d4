from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st
from training.augment import (
    augment,
    choice_to_noul,
    hide_labels,
    negate_statement,
    reverse_scale,
    score_to_choice,
)
from training.examples import Example, choice, noul, score

ROUTE = choice(
    "test:1",
    "My parcel is late.",
    "Which team?",
    {"shipping": "parcels", "billing": "money", "other": ""},
    "shipping",
)
MOOD = score("test:2", "I am furious.", "How angry?", ["calm", "annoyed", "furious"], 2)
CLAIM = noul("test:3", {"paid": False}, "The bill is paid.", False)

EXAMPLES = st.sampled_from((ROUTE, MOOD, CLAIM))
SEEDS = st.integers(0, 10_000)


def options(example: Example) -> list[str]:
    return list(example.question["criteria"])


@given(EXAMPLES, SEEDS)
def test_gold_stays_one_of_the_options(example: Example, seed: int) -> None:
    varied = augment(example, random.Random(seed))
    count = 2 if varied.type == "noul" else len(options(varied))
    assert 0 <= varied.target < count
    assert count >= 2


@given(EXAMPLES, SEEDS)
def test_same_seed_gives_the_same_variation(example: Example, seed: int) -> None:
    assert augment(example, random.Random(seed)) == augment(example, random.Random(seed))


@given(SEEDS)
def test_hidden_labels_keep_the_meaning_of_the_right_option(seed: int) -> None:
    hidden = hide_labels(ROUTE, random.Random(seed))
    assert "parcels" in hidden.question["criteria"][hidden.gold]


@given(SEEDS)
def test_choice_as_noul_is_true_exactly_for_the_gold_answer(seed: int) -> None:
    asked = choice_to_noul(ROUTE, random.Random(seed))
    named = any(word in asked.question["instructions"] for word in ("shipping", "parcels"))
    assert asked.gold is named


def test_reversed_scale_points_at_the_same_level() -> None:
    reversed_mood = reverse_scale(MOOD, random.Random(0))
    assert reversed_mood.question["criteria"][int(reversed_mood.gold)] == "furious"


def test_score_as_choice_names_the_gold_level() -> None:
    assert score_to_choice(MOOD, random.Random(0)).gold == "furious"


def test_denied_statement_has_the_opposite_truth() -> None:
    assert negate_statement(CLAIM, random.Random(0)).gold is True


def test_questions_are_not_denied() -> None:
    question = noul("test:4", "…", "Is the bill paid?", False)
    assert negate_statement(question, random.Random(0)) == question
