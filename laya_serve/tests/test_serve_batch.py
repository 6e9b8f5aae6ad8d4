from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

ROUTE = "/v1/systemone/batch"
QUESTIONS = {"q": {"type": "noul", "instructions": "Is it urgent?"}}


def body(states: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"states": ["a", {"b": 1}] if states is None else states, "questions": QUESTIONS, **more}


def test_results_come_in_order_with_the_tokens_of_all(client: TestClient, router: Any) -> None:
    router.answer = lambda request: {"state": request["state"], "usage": {"input_tokens": 3, "output_tokens": 1}}
    response = client.post(ROUTE, json=body())
    assert response.status_code == 200
    assert response.json() == {
        "results": [
            {"state": "a", "usage": {"input_tokens": 3, "output_tokens": 1}},
            {"state": {"b": 1}, "usage": {"input_tokens": 3, "output_tokens": 1}},
        ],
        "total_usage": {"input_tokens": 6, "output_tokens": 2},
    }
    assert "server-timing" in response.headers
    assert router.batches == [{"requests": [{"state": s, "questions": QUESTIONS} for s in ("a", {"b": 1})]}]


def test_call_controls_go_to_the_call_and_the_others_to_every_state(client: TestClient, router: Any) -> None:
    per_state = {"model": "mine", "task": "t", "lang": "de", "lang_guess": "fr", "max_len": 64, "head_max_len": 32}
    call = {"batch_size": 1, "sort_by_length": False, "min_confidence": 0.5}
    assert client.post(ROUTE, json=body(**per_state, **call)).status_code == 200
    requests = [{"state": state, "questions": QUESTIONS, **per_state} for state in ("a", {"b": 1})]
    assert router.batches == [{"requests": requests, **call}]


@pytest.mark.parametrize(
    ("states", "questions", "max_len", "budget", "batch_size"),
    [
        (2, 2, None, 2048, None),  # 2 x 2 x 512 fits exactly
        (3, 2, None, 2048, 2),
        (64, 4, None, 131072, None),
        (64, 8, None, 131072, 32),
        (4, 1, 1024, 2048, 2),
        (4, 1, 64, 256, None),
        (2, 8, None, 512, 1),  # one state is more than the budget already
    ],
)
def test_a_batch_size_is_chosen_only_where_all_at_once_would_be_too_many_tokens(
    client_of: Callable[..., TestClient],
    router: Any,
    states: int,
    questions: int,
    max_len: int | None,
    budget: int,
    batch_size: int | None,
) -> None:
    asked = {f"q{index}": QUESTIONS["q"] for index in range(questions)}
    sent = {"states": ["x"] * states, "questions": asked, "max_len": max_len}
    assert client_of(max_batch_tokens=budget).post(ROUTE, json=sent).status_code == 200
    assert router.batches[0].get("batch_size") == batch_size


def test_a_callers_own_batch_size_wins(client_of: Callable[..., TestClient], router: Any) -> None:
    client_of(max_batch_tokens=1).post(ROUTE, json=body(batch_size=2))
    assert router.batches[0]["batch_size"] == 2
