"""Each limit at its edge: what just fits is answered, one more is a 413 that names the limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

SINGLE, BATCH = "/v1/systemone", "/v1/systemone/batch"


def choice(options: int, as_list: bool = False) -> dict[str, Any]:
    labels = [f"o{index}" for index in range(options)]
    return {"type": "choice", "instructions": "?", "criteria": labels if as_list else dict.fromkeys(labels)}


def score(levels: int) -> dict[str, Any]:
    return {"type": "score", "instructions": "?", "criteria": ["level"] * levels}


NOUL = {"type": "noul", "instructions": "?"}


def status_of(client: TestClient, questions: dict[str, Any], route: str = SINGLE, **more: Any) -> tuple[int, str]:
    response = client.post(route, json={"state": "x", "states": ["x"], "questions": questions, **more})
    return response.status_code, response.json().get("detail", "")


@pytest.mark.parametrize("route", [SINGLE, BATCH])
@pytest.mark.parametrize(
    ("fits", "exceeds", "says"),
    [
        ({f"q{i}": NOUL for i in range(64)}, {f"q{i}": NOUL for i in range(65)}, "65 questions; at most 64"),
        ({"q": choice(100)}, {"q": choice(101)}, "101 options of a choice; at most 100"),
        ({"q": choice(100, True)}, {"q": choice(101, True)}, "101 options of a choice; at most 100"),
        ({"q": score(32)}, {"q": score(33)}, "33 levels of a score; at most 32"),
        (
            {**{f"q{i}": choice(100) for i in range(5)}, "p": choice(12)},
            {**{f"q{i}": choice(100) for i in range(5)}, "p": score(13)},
            "513 options together; at most 512",
        ),
    ],
)
def test_questions_options_and_levels(
    client: TestClient, router: Any, route: str, fits: dict[str, Any], exceeds: dict[str, Any], says: str
) -> None:
    assert status_of(client, fits, route)[0] == 200
    status, detail = status_of(client, exceeds, route)
    assert status == 413 and says in detail
    assert len(router.asked) + len(router.batches) == 1


def test_with_a_tournament_a_choice_has_up_to_255_options(client_of: Callable[..., TestClient], router: Any) -> None:
    client = client_of(tournament_group=100)
    router.answer = lambda request: {
        "answers": {
            qid: {"choice": next(iter(question["criteria"])), "probabilities": dict.fromkeys(question["criteria"], 0.0)}
            for qid, question in request["questions"].items()
        },
        "routing": {"model": "english"},
    }
    assert status_of(client, {"q": choice(255)})[0] == 200
    assert status_of(client, {"q": choice(256)}) == (413, "question 'q' has 256 options of a choice; at most 255")


@pytest.mark.parametrize("wrap", [lambda text: text, lambda text: [text[:-4]]])
def test_the_serialised_state_has_50000_characters(client: TestClient, wrap: Callable[[str], Any]) -> None:
    assert status_of(client, {}, state=wrap("ü" * 50_000))[0] == 200
    status, detail = status_of(client, {}, state=wrap("ü" * 50_001))
    assert (status, detail) == (413, "state has 50001 characters; at most 50000 of serialised state")


def test_each_state_of_a_batch_has_that_limit_and_64_of_them_fit(client: TestClient) -> None:
    assert status_of(client, {}, BATCH, states=["x"] * 64)[0] == 200
    assert status_of(client, {}, BATCH, states=["x"] * 65) == (413, "65 states; at most 64 in a batch")
    status, detail = status_of(client, {}, BATCH, states=["x", "x" * 50_001])
    assert status == 413 and detail.startswith("states[1] has 50001 characters")


def test_limits_come_before_the_look_for_surrogates_and_for_wrong_controls(client: TestClient) -> None:
    state = "\\ud800" + "x" * 50_000
    response = client.post(SINGLE, content=f'{{"state": "{state}", "questions": {{}}, "max_len": 0}}')
    assert response.status_code == 413


def test_criteria_of_the_wrong_shape_are_left_to_the_core(client: TestClient, router: Any) -> None:
    questions = {
        "a": {"type": "choice", "criteria": "x" * 600},
        "b": 3,
        "c": {"type": ["score"], "criteria": [1] * 600},
    }
    assert status_of(client, questions)[0] == 200
    assert router.asked[0]["questions"] == questions
