from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from laya_hooks import QueueFull, current_scope

ROUTE = "/v1/systemone"
QUESTIONS = {"q": {"type": "noul", "instructions": "Is it urgent?"}}


def body(**more: Any) -> dict[str, Any]:
    return {"state": "text", "questions": QUESTIONS, **more}


def test_the_result_of_the_router_is_the_answer(client: TestClient, router: Any) -> None:
    response = client.post(ROUTE, json=body())
    assert response.status_code == 200
    assert response.json() == {"model": "stub", "answers": {}, "routing": {"model": "english"}}
    assert router.asked == [{"state": "text", "questions": QUESTIONS}]
    assert response.headers["server-timing"].startswith("inference;dur=")
    assert float(response.headers["x-inference-time-ms"]) >= 0


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
    client.post(ROUTE, json=body(model=None, lang=None, max_len=None))
    assert router.asked == [body()]


@pytest.mark.parametrize("model", ["convaiinnovations/laya", "jev-1", "jev-latest", " "])
def test_any_other_model_lets_the_router_choose(client: TestClient, router: Any, model: str) -> None:
    assert client.post(ROUTE, json=body(model=model)).status_code == 200
    assert router.asked == [body()]


@pytest.mark.parametrize(("model", "name"), [("mine", "mine"), (" English ", "english"), ("ml", "ml")])
def test_a_known_name_or_alias_chooses_a_checkpoint(
    client: TestClient, router: Any, model: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("laya_serve.systemone.named_checkpoints", lambda: {"ml": "org/ml"})
    client.post(ROUTE, json=body(model=model))
    assert router.asked == [body(model=name)]


def test_a_published_hub_id_chooses_its_checkpoint(
    client: TestClient, router: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("laya_serve.systemone.named_checkpoints", lambda: {"laya-multilingual": "org/ml"})
    client.post(ROUTE, json=body(model="convaiinnovations/laya-multilingual"))
    assert router.asked == [body(model="laya-multilingual")]


@pytest.mark.parametrize("model", ["/path/to/checkpoint", "org/repo", "~/ckpt", ".\\ckpt", "convaiinnovations/other"])
def test_a_path_or_an_unpublished_hub_id_is_refused(client: TestClient, router: Any, model: str) -> None:
    response = client.post(ROUTE, json=body(model=model))
    assert response.status_code == 422
    assert response.json()["detail"].startswith("unknown model") and "leave model out" in response.json()["detail"]
    assert router.asked == []


@pytest.mark.parametrize("name", ["hooks", "on_predict_start", "on_predict_end", "hooks_raise", "hooks_timeout"])
def test_hook_arguments_are_refused_even_when_null(client: TestClient, router: Any, name: str) -> None:
    response = client.post(ROUTE, json=body(**{name: None}))
    assert response.status_code == 422 and name in response.json()["detail"]
    assert router.asked == []


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"\xff",
        b"[1]",
        b"3",
        b'{"state": "x"}',
        b'{"questions": {}}',
        b'{"state": null, "questions": {}}',
        b'{"state": "x", "questions": []}',
        b'{"state": NaN, "questions": {}}',
        b'{"state": "\\ud800", "questions": {}}',
        b'{"state": {"\\udfff": 1}, "questions": {}}',
        b'{"state": "x", "questions": {"q\\ud800": {}}}',
        b"[" * 100_000,
    ],
)
def test_a_body_that_cannot_be_read_is_a_400(client: TestClient, router: Any, content: bytes) -> None:
    response = client.post(ROUTE, content=content)
    assert response.status_code == 400
    assert isinstance(response.json()["detail"], str)
    assert router.asked == []


def test_a_paired_surrogate_is_an_ordinary_character(client: TestClient, router: Any) -> None:
    client.post(ROUTE, content=b'{"state": "\\ud83d\\ude00", "questions": {}}')
    assert router.asked[0]["state"] == "\N{GRINNING FACE}"


@pytest.mark.parametrize("error", [ValueError("question 'q': criteria are empty"), TypeError("lang is a string")])
def test_what_the_core_refuses_is_a_422_with_its_words(client: TestClient, router: Any, error: Exception) -> None:
    router.failure = error
    response = client.post(ROUTE, json=body())
    assert (response.status_code, response.json()) == (422, {"detail": str(error)})


def test_a_model_that_is_no_string_is_a_422(client: TestClient) -> None:
    assert client.post(ROUTE, json=body(model=3)).status_code == 422


def test_a_failure_of_the_server_is_a_500_that_tells_nothing(
    client: TestClient, router: Any, caplog: pytest.LogCaptureFixture
) -> None:
    router.failure = RuntimeError("secret path")
    response = client.post(ROUTE, json=body(), headers={"x-request-id": "r1"})
    assert (response.status_code, response.json()) == (500, {"detail": "inference failed"})
    assert response.headers["x-request-id"] == "r1"
    assert caplog.records[-1].exc_info is not None and caplog.records[-1].exc_info[1] is router.failure


def test_a_full_queue_is_a_503_with_retry_after(client: TestClient, router: Any) -> None:
    router.failure = QueueFull("full")
    response = client.post(ROUTE, json=body())
    assert (response.status_code, response.headers["retry-after"]) == (503, "1")


def test_unknown_routes_and_wrong_methods_are_json_too(client: TestClient) -> None:
    assert (client.get("/nothing").status_code, client.get(ROUTE).status_code) == (404, 405)
    assert client.get("/nothing").json() == {"detail": "Not Found"}


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Basic key", "Bearer", "Bearer k\xe9y"])
def test_without_the_key_a_request_is_refused(
    client_of: Callable[..., TestClient], router: Any, header: str | None
) -> None:
    headers = {} if header is None else {"authorization": header.encode("latin-1")}
    response = client_of(api_key="key").post(ROUTE, json=body(), headers=headers)  # type: ignore[arg-type]
    assert response.status_code == 401 and response.headers["www-authenticate"] == "Bearer"
    assert "detail" in response.json() and "x-request-id" in response.headers
    assert router.asked == []


@pytest.mark.parametrize("key", ["key", "schlüssel"])
def test_with_the_key_a_request_is_answered(client_of: Callable[..., TestClient], key: str) -> None:
    headers = {"authorization": f"Bearer {key}".encode()}
    assert client_of(api_key=key).post(ROUTE, json=body(), headers=headers).status_code == 200  # type: ignore[arg-type]


def test_the_request_id_is_the_clients_own_and_reaches_the_router(client: TestClient, router: Any) -> None:
    seen: list[Any] = []
    router.predict = lambda *_, **__: seen.append((current_scope(), threading.current_thread())) or {}
    response = client.post(ROUTE, json=body(), headers={"x-request-id": "mine 1"})
    assert response.headers["x-request-id"] == "mine 1"
    assert seen[0][0].request_id == "mine 1"


@pytest.mark.parametrize("given", ["x" * 129, "caf\xe9", ""])
def test_an_unusable_request_id_is_replaced(client: TestClient, given: str) -> None:
    headers = {"x-request-id": given.encode("latin-1")}
    answered = client.post(ROUTE, json=body(), headers=headers).headers["x-request-id"]  # type: ignore[arg-type]
    assert len(answered) == 32 and answered != given


def test_inference_runs_off_the_event_loop_and_health_answers_meanwhile(
    client_of: Callable[..., TestClient], router: Any
) -> None:
    begun, release = threading.Event(), threading.Event()

    def slow(*_: Any, **__: Any) -> dict[str, Any]:
        begun.set()
        assert release.wait(10)
        return {}

    router.predict = slow
    with client_of() as client:
        asking = threading.Thread(target=client.post, args=(ROUTE,), kwargs={"json": body()})
        asking.start()
        assert begun.wait(10)
        assert client.get("/health").status_code == 200
        release.set()
        asking.join(10)
