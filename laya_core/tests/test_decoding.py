"""From logits to answers."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laya_core.config import Temperatures
from laya_core.decoding import RowScores, certainty, decode, softmax
from laya_core.questions import Choice, Noul, Question, Score

PLAIN = Temperatures((1.0, 1.0, 1.0), {})
logit_lists = st.lists(st.floats(-50, 50), min_size=1, max_size=12)


def answer(question: Question, logits: list[float], act: float = 0.5, temperatures: Temperatures = PLAIN) -> Any:
    order = question.option_order or tuple(range(len(logits)))
    return decode(question, order, RowScores(tuple(logits), act), temperatures)


def logs(*probabilities: float) -> list[float]:
    return [math.log(p) for p in probabilities]


@given(logit_lists, st.floats(0.5, 5.0))
def test_softmax_is_a_distribution_in_the_order_of_the_logits(logits: list[float], temperature: float) -> None:
    probabilities = softmax(logits, temperature)
    total = sum(math.exp(logit / temperature) for logit in logits)
    assert probabilities == pytest.approx([math.exp(logit / temperature) / total for logit in logits], abs=1e-12)
    assert sum(probabilities) == pytest.approx(1.0)


def test_softmax_of_huge_logits_does_not_overflow() -> None:
    assert softmax([1e4, 0.0, -1e4], 0.5) == [1.0, 0.0, 0.0]


@given(logit_lists)
def test_certainty_is_one_minus_normalised_entropy(logits: list[float]) -> None:
    probabilities = softmax(logits, 1.0)
    value = certainty(probabilities)
    assert 0.0 <= value <= 1.0
    if len(probabilities) > 1:
        entropy = -sum(p * math.log(p) for p in probabilities if p > 0)
        assert value == pytest.approx(1 - entropy / math.log(len(probabilities)), abs=1e-9)


@pytest.mark.parametrize("count", [2, 3, 11])
def test_certainty_at_its_ends(count: int) -> None:
    assert certainty([1 / count] * count) == pytest.approx(0.0, abs=1e-12)
    assert certainty([1.0] + [0.0] * (count - 1)) == 1.0
    assert certainty([1.0]) == 1.0


def test_a_choice_answers_with_the_callers_own_label() -> None:
    label = "".join(["re", "fund"])
    result = answer(Choice("?", ["other", label, 3]), logs(0.2, 0.5, 0.3), act=0.123456)
    assert result["choice"] is label
    assert result == {
        "type": "choice",
        "choice": "refund",
        "probabilities": {"other": 0.2, "refund": 0.5, 3: 0.3},
        "confidence": pytest.approx(
            1 - (0.2 * math.log(5) + 0.5 * math.log(2) - 0.3 * math.log(0.3)) / math.log(3), abs=5e-5
        ),
        "answer_confidence": 0.5,
        "action": {"act_probability": 0.1235},
    }


@pytest.mark.parametrize("label", [7, 2.5, True, ""])
def test_labels_that_are_no_text_stay_what_they_are(label: object) -> None:
    result = answer(Choice("?", ["no", label]), logs(0.1, 0.9))
    assert result["choice"] is label
    assert list(result["probabilities"]) == ["no", label]
    assert type(list(result["probabilities"])[1]) is type(label)


def test_one_option_is_certain() -> None:
    result = answer(Choice("?", ["only"]), [-3.0])
    assert (result["confidence"], result["answer_confidence"]) == (1.0, 1.0)


def test_a_score_is_the_expected_level() -> None:
    result = answer(Score("?", ["low", {"k": "mid"}, 9]), logs(0.25, 0.25, 0.5))
    assert result["score"] == 1.25
    assert result["legend"] == {"0": "low", "1": '{"k": "mid"}', "2": "9"}
    assert result["probabilities"] == {"0": 0.25, "1": 0.25, "2": 0.5}
    assert result["confidence"] == pytest.approx(1 - 1.5 * math.log(2) / math.log(3), abs=5e-5)
    assert result["answer_confidence"] == 0.5
    assert list(result) == ["type", "score", "legend", "probabilities", "confidence", "answer_confidence", "action"]


@pytest.mark.parametrize(("yes", "confidence"), [(0.8, 0.8), (0.3, 0.7), (0.5, 0.5)])
def test_a_noul_answers_with_the_probability_of_true(yes: float, confidence: float) -> None:
    assert answer(Noul("?"), logs(1 - yes, yes)) == {
        "type": "noul",
        "noul": yes,
        "confidence": confidence,
        "answer_confidence": confidence,
        "action": {"act_probability": 0.5},
    }


@given(st.data())
def test_probabilities_come_back_in_the_callers_order(data: st.DataObject) -> None:
    logits = data.draw(st.lists(st.floats(-5, 5), min_size=2, max_size=8))
    order = data.draw(st.permutations(range(len(logits))))
    labels = [f"l{number}" for number in range(len(logits))]
    shuffled = answer(Choice("?", labels, option_order=order), [logits[option] for option in order])
    straight = answer(Choice("?", labels), logits)
    assert shuffled["probabilities"] == straight["probabilities"]
    assert shuffled["confidence"] == pytest.approx(straight["confidence"], abs=1e-4)
    assert straight["probabilities"][shuffled["choice"]] == max(straight["probabilities"].values())


def test_the_order_of_a_noul_says_which_slot_shows_true() -> None:
    assert answer(Noul("?", option_order=[1, 0]), logs(0.9, 0.1))["noul"] == 0.9


def test_ties_go_to_the_first_option_of_the_caller() -> None:
    assert answer(Choice("?", ["a", "b", "c"], option_order=[2, 1, 0]), [1.0, 1.0, 1.0])["choice"] == "a"


def test_the_temperature_of_the_type_divides_the_logits_unless_the_band_has_its_own() -> None:
    temperatures = Temperatures((2.0, 3.0, 4.0), {"choice:2": 0.5, "score:3-5": 5.0})

    def first(question: Question, logits: list[float]) -> float:
        result = answer(question, logits, temperatures=temperatures)
        return next(iter(result["probabilities"].values())) if "probabilities" in result else result["noul"]

    assert first(Choice("?", ["a", "b"]), [0.0, 1.0]) == round(1 / (1 + math.exp(2)), 4)
    assert first(Choice("?", ["a"]), [3.0]) == 1.0
    assert first(Choice("?", ["a", "b", "c"]), [0.0, 2.0, 2.0]) == round(1 / (1 + 2 * math.exp(1)), 4)
    assert first(Score("?", ["a", "b", "c"]), [0.0, 5.0, 5.0]) == round(1 / (1 + 2 * math.exp(1)), 4)
    assert first(Score("?", ["a", "b"]), [0.0, 3.0]) == round(1 / (1 + math.exp(1)), 4)
    assert first(Noul("?"), [0.0, 4.0]) == round(1 / (1 + math.exp(-1)), 4)
