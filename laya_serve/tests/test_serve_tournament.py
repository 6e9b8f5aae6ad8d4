"""Choices with many options: whoever wins at once wins in rounds too, and nothing else about the answer changes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from laya_serve.tournament import Request, Tournament


class Judge:
    """Answers choices by a strength of each label, and counts the calls; labels are texts of numbers."""

    def __init__(self, largest: int) -> None:
        self.largest = largest
        self.calls: list[list[Request]] = []

    def __call__(self, requests: list[Request]) -> list[dict[str, Any]]:
        self.calls.append(requests)
        return [self.answer(request) for request in requests]

    def answer(self, request: Request) -> dict[str, Any]:
        answers = {qid: self.choose(question) for qid, question in request["questions"].items()}
        return {
            "model": "judge",
            "answers": answers,
            "usage": {
                "input_tokens": len(answers),
                "output_tokens": 0,
                "state_tokens": 1,
                "state_tokens_dropped": len(self.calls),
                "truncated": bool(answers),
                "truncated_questions": list(answers),
            },
            "routing": {"model": request.get("model", "routed"), "reason": f"round {len(self.calls)}"},
        }

    def choose(self, question: dict[str, Any]) -> dict[str, Any]:
        if question["type"] != "choice":
            return {"type": question["type"], "noul": 0.5}
        labels = list(question["criteria"])
        assert len(labels) <= self.largest
        assert sorted(question.get("option_order", range(len(labels)))) == list(range(len(labels)))
        weights = {label: math.exp(strength(label)) for label in labels}
        total = sum(weights.values())
        probabilities = {label: weight / total for label, weight in weights.items()}
        return {
            "type": "choice",
            "choice": max(labels, key=strength),
            "probabilities": probabilities,
            "confidence": 0.1,
        }


def strength(label: object) -> float:
    return (int(str(label)) * 7919 % 1009) / 100


def choice(labels: list[str], as_list: bool = False, **more: Any) -> dict[str, Any]:
    criteria: Any = labels if as_list else {label: f"about {label}" for label in labels}
    return {"type": "choice", "instructions": "?", "criteria": criteria, **more}


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 255), st.integers(2, 40), st.booleans(), st.booleans())
def test_the_best_option_wins_and_the_probabilities_name_every_option(
    count: int, group: int, as_list: bool, ordered: bool
) -> None:
    labels = [str(number) for number in range(count)]
    order = {"option_order": list(range(count))[::-1]} if ordered else {}
    judge = Judge(group)
    request = {"state": "x", "questions": {"q": choice(labels, as_list, **order)}}
    (result,) = Tournament(group).ask([request], judge)
    answer = result["answers"]["q"]
    assert answer["choice"] == max(labels, key=strength)
    assert list(answer["probabilities"]) == labels
    assert sum(answer["probabilities"].values()) == pytest.approx(1)
    assert max(answer["probabilities"], key=answer["probabilities"].get) == answer["choice"]
    if count <= group:
        assert "x_tournament" not in answer and len(judge.calls) == 1
        return
    report = answer["x_tournament"]
    assert {label for label, p in answer["probabilities"].items() if p > 0} == set(report["finalists"])
    assert report["rounds"] == len(judge.calls) == math.ceil(math.log(count, group) - 1e-9)
    assert 2 <= len(report["finalists"]) <= group


def test_the_rounds_of_all_choices_and_the_other_questions_share_calls() -> None:
    judge = Judge(4)
    questions = {
        "big": choice([str(n) for n in range(20)]),
        "n": {"type": "noul", "instructions": "?"},
        "small": choice(["1", "2"]),
        "huge": choice([str(n) for n in range(70)]),
    }
    (result,) = Tournament(4).ask([{"state": "x", "questions": questions}], judge)
    assert list(result["answers"]) == ["big", "n", "small", "huge"]
    assert result["answers"]["big"]["x_tournament"]["rounds"] == 3
    assert result["answers"]["huge"]["x_tournament"]["rounds"] == 4
    rounds = [set(call[0]["questions"]) for call in judge.calls]
    assert len(rounds) == 4
    assert {"n", "small"} <= rounds[0] and not {"n", "small"} & (rounds[1] | rounds[2] | rounds[3])
    assert len(rounds[0]) == 5 + 1 + 1 + 18


def test_later_rounds_go_to_the_checkpoint_of_the_first_and_keep_what_was_said_about_the_state() -> None:
    judge = Judge(2)
    request = {"state": "x", "questions": {"q": choice(["1", "2", "3"])}, "task": "t", "lang": "de", "max_len": 9}
    (result,) = Tournament(2).ask([request], judge)
    first, second = ({key: value for key, value in call[0].items() if key != "questions"} for call in judge.calls)
    assert first == {"state": "x", "task": "t", "lang": "de", "max_len": 9}
    assert second == {"state": "x", "lang": "de", "max_len": 9, "model": "routed"}
    assert result["routing"] == {"model": "routed", "reason": "round 1"}


def test_tokens_of_all_rounds_are_counted_under_the_callers_own_ids() -> None:
    judge = Judge(2)
    questions = {"n": {"type": "noul", "instructions": "?"}, "q": choice(["1", "2", "3", "4"])}
    (result,) = Tournament(2).ask([{"state": "x", "questions": questions}], judge)
    assert result["usage"] == {
        "input_tokens": 3 + 1,
        "output_tokens": 0,
        "state_tokens": 1,
        "state_tokens_dropped": 2,
        "truncated": True,
        "truncated_questions": ["n", "q"],
    }


def test_ids_of_groups_never_collide_with_the_callers() -> None:
    judge = Judge(2)
    questions = {"q#1": choice(["1", "2"]), "q": choice(["1", "2", "3", "4"]), "q#1'": choice(["2", "3"])}
    (result,) = Tournament(2).ask([{"state": "x", "questions": questions}], judge)
    assert list(result["answers"]) == list(questions)
    assert [len(answer["probabilities"]) for answer in result["answers"].values()] == [2, 4, 2]


def test_each_state_of_a_batch_has_its_own_winners_and_they_play_together() -> None:
    judge = Judge(3)
    small = {"state": "a", "questions": {"q": choice(["1", "2"])}}
    large = [
        {"state": start, "questions": {"q": choice([str(n) for n in range(start, start + 7)])}} for start in (0, 5)
    ]
    results = Tournament(3).ask([large[0], small, large[1]], judge)
    assert [len(call) for call in judge.calls] == [3, 2]
    expected = [max(request["questions"]["q"]["criteria"], key=strength) for request in (large[0], small, large[1])]
    assert [result["answers"]["q"]["choice"] for result in results] == expected


@pytest.mark.parametrize(
    "question",
    [
        {"type": "choice", "criteria": [["a"], ["b"], ["c"]]},
        {"type": "choice", "criteria": ["a", "a", "b"]},
        {"type": "choice", "criteria": ["a", "b", "c"], "option_order": [0, 1]},
        {"type": "choice", "criteria": ["a", "b", "c"], "option_order": "x"},
        {"type": "choice", "criteria": "abc"},
        {"type": "choice"},
        3,
    ],
)
def test_a_malformed_choice_is_asked_as_it_is_for_the_core_to_refuse(question: Any) -> None:
    asked: list[Any] = []

    def ask(requests: list[Request]) -> list[Any]:
        asked.extend(requests)
        return [{}]

    Tournament(2).ask([{"state": "x", "questions": {"q": question}}], ask)
    assert asked[0]["questions"] == {"q": question}


def test_over_http_the_contract_reports_a_tournament_and_the_projection_does_not(
    client_of: Callable[..., TestClient], router: Any
) -> None:
    judge = Judge(16)
    router.answer = judge.answer
    body = {"state": "x", "questions": {"q": choice([str(n) for n in range(100)])}}
    contract = client_of(jev_strict="contract").post("/v1/systemone", json=body).json()["answers"]["q"]
    assert contract["x_tournament"]["rounds"] == 2 and len(contract["probabilities"]) == 100
    projected = client_of(jev_strict="1", tournament_group=16).post("/v1/systemone", json=body).json()["answers"]["q"]
    assert set(projected) == {"type", "choice", "probabilities", "confidence"}
    full = client_of(tournament_group=16).post("/v1/systemone/batch", json={**body, "states": ["x"]}).json()
    assert full["results"][0]["answers"]["q"]["x_tournament"]["rounds"] == 2


def test_without_a_group_nothing_is_narrowed(client: TestClient, router: Any) -> None:
    client.post("/v1/systemone", json={"state": "x", "questions": {"q": choice([str(n) for n in range(100)])}})
    assert len(router.asked) == 1
