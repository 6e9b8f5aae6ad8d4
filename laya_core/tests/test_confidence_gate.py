"""`min_confidence`: what is accepted, and which answers it marks."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest

from laya_core import Agent
from laya_core.confidence_gate import ConfidenceGate

QUESTIONS = {
    "c": {"type": "choice", "instructions": "Which?", "criteria": ["a", "b", "c"]},
    "s": {"type": "score", "instructions": "How much?", "criteria": ["low", "mid", "high"]},
    "n": {"type": "noul", "instructions": "Is it?"},
}
ADDED = {"abstention", "abstention_threshold", "low_confidence"}


def report(min_confidence: Any, kind: Any = "choice", options: int = 3, **answer: Any) -> dict[str, Any]:
    ConfidenceGate.parse(min_confidence).report(answer, kind, options)
    return answer


@pytest.mark.parametrize(
    "refused",
    [True, False, -0.1, 1.1, 2, "0.5", None, [], [0.5], float("nan"), float("inf"), 10**400, -(10**400), b"1"],
)
def test_a_threshold_is_a_number_from_0_to_1(refused: object) -> None:
    with pytest.raises(ValueError, match="must be a number from 0 to 1"):
        ConfidenceGate.parse(refused)
    with pytest.raises(ValueError, match=r"min_confidence\['default'\] must be a number from 0 to 1"):
        ConfidenceGate.parse({"default": refused})


@pytest.mark.parametrize("key", ["choice", "choice:4", "choice:1", "bool:2", "Choice:2", "noul:", ":2", "", None, 2])
def test_an_unknown_key_is_refused_by_name(key: object) -> None:
    with pytest.raises(ValueError, match="unknown key") as refused:
        ConfidenceGate.parse({"default": 0.5, key: 0.5})
    assert repr(key) in str(refused.value)


def test_an_empty_map_is_refused() -> None:
    with pytest.raises(ValueError, match="empty map"):
        ConfidenceGate.parse({})


@pytest.mark.parametrize("threshold", [0, 1, 0.0, 0.5, 1.0])
def test_one_number_holds_for_every_question(threshold: float) -> None:
    for kind, options in [("choice", 2), ("score", 20), ("noul", 2)]:
        answer = report(threshold, kind, options, answer_confidence=0.5)
        assert answer["abstention_threshold"] == threshold
        assert isinstance(answer["abstention_threshold"], float)


def test_below_is_strict() -> None:
    assert report(0.5, answer_confidence=0.5) == {
        "answer_confidence": 0.5,
        "abstention": "passed",
        "abstention_threshold": 0.5,
    }
    assert report(0.5, answer_confidence=0.4999) == {
        "answer_confidence": 0.4999,
        "low_confidence": True,
        "abstention": "abstained",
        "abstention_threshold": 0.5,
    }


def test_confidence_stands_in_for_a_missing_answer_confidence() -> None:
    assert report(0.5, confidence=0.4)["abstention"] == "abstained"
    assert report(0.5, confidence=0.4, answer_confidence=0.6)["abstention"] == "passed"


@pytest.mark.parametrize("confidence", [None, "high", True, float("nan")])
def test_an_answer_without_a_usable_confidence_is_unevaluated(confidence: object) -> None:
    answer = report(0.5, answer_confidence=confidence)
    assert (answer["abstention"], answer["abstention_threshold"]) == ("unevaluated", 0.5)
    assert "low_confidence" not in answer
    assert report(0.5)["abstention"] == "unevaluated"


def test_a_band_its_map_does_not_name_has_the_default_or_zero() -> None:
    named = MappingProxyType({"choice:3-5": 0.9, "default": 0.4})
    assert report(named, "choice", 3, answer_confidence=0.8)["abstention_threshold"] == 0.9
    assert report(named, "choice", 2, answer_confidence=0.8)["abstention_threshold"] == 0.4
    assert report({"score:2": 0.9}, "choice", 2, answer_confidence=0.0) == {
        "answer_confidence": 0.0,
        "abstention": "passed",
        "abstention_threshold": 0.0,
    }
    assert report({"score:2": 0.9}, "score", 1, answer_confidence=0.8)["abstention"] == "abstained"


def test_an_agent_marks_its_answers_and_changes_nothing_else(agent: Agent) -> None:
    plain = agent.predict("text", QUESTIONS)["answers"]
    marked = agent.predict("text", QUESTIONS, min_confidence={"noul:2": 1.0, "default": 0.0})["answers"]
    assert not any(ADDED & set(answer) for answer in plain.values())
    assert {qid: {k: v for k, v in answer.items() if k not in ADDED} for qid, answer in marked.items()} == plain
    assert [answer["abstention"] for answer in marked.values()] == ["passed", "passed", "abstained"]
    assert [answer.get("low_confidence") for answer in marked.values()] == [None, None, True]


@pytest.mark.parametrize("states", [[], ["text"]])
def test_a_bad_threshold_is_refused_even_when_there_is_nothing_to_answer(agent: Agent, states: list[str]) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        agent.predict_batch(states, {}, min_confidence=2)


def test_windows_of_a_long_document_are_marked_too(agent: Agent) -> None:
    result = agent.predict_long("word " * 800, QUESTIONS, min_confidence=1.0)
    assert {answer["abstention"] for answer in result["answers"].values()} == {"abstained"}
    assert result["usage"]["windows"] > 1
