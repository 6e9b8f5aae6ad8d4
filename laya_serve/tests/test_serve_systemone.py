from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from laya_hooks import current_scope

ROUTE = "/v1/systemone"
QUESTIONS = {"q": {"type": "noul", "instructions": "Is it urgent?"}}


def body(**more: Any) -> dict[str, Any]:
    return {"state": "text", "questions": QUESTIONS, **more}


def test_the_result_of_the_router_is_the_answer(client: TestClient, router: Any) -> None:
    response = client.post(ROUTE, json=body())
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    assert response.json() == router.answer({})
    assert router.asked == [{"state": "text", "questions": QUESTIONS}]


def test_the_time_is_told_even_by_a_router_without_an_engine(client: TestClient) -> None:
    headers = client.post(ROUTE, json=body()).headers
    assert headers["server-timing"].startswith("queue;dur=0.0, inference;dur=")
    assert headers["server-timing"].endswith(headers["x-inference-time-ms"])
    assert float(headers["x-inference-time-ms"]) >= 0


def test_what_the_engine_says_of_its_time_wins(client: TestClient, router: Any) -> None:
    def answer(request: dict[str, Any]) -> dict[str, Any]:
        scope = current_scope()
        assert scope is not None
        scope.timings.update(queue=12.34, inference=56.78)
        return {}

    router.answer = answer
    headers = client.post(ROUTE, json=body()).headers
    assert headers["server-timing"] == "queue;dur=12.3, inference;dur=56.8"
    assert headers["x-inference-time-ms"] == "56.8"


def test_headers_say_which_checkpoint_answered_and_why_in_printable_ascii(client: TestClient, router: Any) -> None:
    router.answer = lambda _: {"routing": {"model": "größe", "reason": "lang='a\r\nX-Evil: 1'" + "ü" * 500}}
    headers = client.post(ROUTE, json=body()).headers
    assert headers["x-laya-model"] == "gr\\xf6\\xdfe"
    assert headers["x-laya-route-reason"].startswith("lang='a\\r\\nX-Evil: 1'\\xfc")
    assert len(headers["x-laya-route-reason"]) == 200 and "x-evil" not in headers


def test_controls_are_passed_on_when_the_body_sends_them(client: TestClient, router: Any) -> None:
    sent = {
        "model": "mine",
        "task": "typed_decisions",
        "lang": "de",
        "lang_guess": "fr",
        "max_len": 64,
        "head_max_len": 32,
        "min_confidence": 0.0,
    }
    assert client.post(ROUTE, json=body(**sent, unknown=1)).status_code == 200
    assert router.asked == [body(**sent)]


def test_a_null_control_counts_as_not_sent(client: TestClient, router: Any) -> None:
    client.post(ROUTE, json=body(model=None, lang=None, max_len=None, min_confidence=None))
    assert router.asked == [body()]


@pytest.mark.parametrize("gate", [0, 1, 0.5, {"choice:3-5": 0.5, "default": 1}])
def test_a_confidence_gate_is_a_share_or_a_map_of_shares(client: TestClient, router: Any, gate: object) -> None:
    assert client.post(ROUTE, json=body(min_confidence=gate)).status_code == 200
    assert router.asked == [body(min_confidence=gate)]


@pytest.mark.parametrize("model", ["convaiinnovations/laya", "jev-1", "jev-latest", "gpt-4", " "])
def test_any_other_model_lets_the_router_choose(client: TestClient, router: Any, model: str) -> None:
    assert client.post(ROUTE, json=body(model=model)).status_code == 200
    assert router.asked == [body()]


@pytest.mark.parametrize(("model", "name"), [("mine", "mine"), (" English ", "english"), ("ml", "ml")])
def test_a_known_name_or_alias_chooses_a_checkpoint(
    client_of: Callable[..., TestClient], router: Any, model: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("laya_serve.app.named_checkpoints", lambda: {"ml": "org/ml"})
    client_of().post(ROUTE, json=body(model=model))
    assert router.asked == [body(model=name)]


def test_a_published_hub_id_chooses_its_checkpoint(
    client_of: Callable[..., TestClient], router: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("laya_serve.app.named_checkpoints", lambda: {"laya-multilingual": "org/ml"})
    client_of().post(ROUTE, json=body(model="convaiinnovations/laya-multilingual"))
    assert router.asked == [body(model="laya-multilingual")]


def test_a_name_registered_later_chooses_its_checkpoint(client: TestClient, router: Any) -> None:
    router.registered = lambda: {"late": "org/late"}
    client.post(ROUTE, json=body(model="late"))
    assert router.asked == [body(model="late")]


def test_the_request_id_is_the_clients_own_and_reaches_the_router(client: TestClient, router: Any) -> None:
    seen: list[Any] = []
    router.answer = lambda _: seen.append(current_scope()) or {}
    response = client.post(ROUTE, json=body(), headers={"x-request-id": "mine 1"})
    assert response.headers["x-request-id"] == "mine 1"
    assert seen[0].request_id == "mine 1"


@pytest.mark.parametrize("given", ["x" * 129, "caf\xe9", "a\tb", ""])
def test_an_unusable_request_id_is_replaced(client: TestClient, given: str) -> None:
    headers = {"x-request-id": given.encode("latin-1")}
    answered = client.post(ROUTE, json=body(), headers=headers).headers["x-request-id"]  # type: ignore[arg-type]
    assert len(answered) == 32 and answered != given


def test_calls_run_beside_one_another_off_the_event_loop_and_health_answers_meanwhile(
    client_of: Callable[..., TestClient], router: Any
) -> None:
    together = threading.Barrier(3)

    def slow(request: dict[str, Any]) -> dict[str, Any]:
        together.wait(10)
        return {}

    router.answer = slow
    with client_of() as client:
        asking = [threading.Thread(target=client.post, args=(ROUTE,), kwargs={"json": body()}) for _ in range(2)]
        for thread in asking:
            thread.start()
        assert client.get("/health").status_code == 200
        together.wait(10)
        for thread in asking:
            thread.join(10)
    assert len(router.asked) == 2
