"""The table of errors, row by row."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient

from laya_hooks import Draining, HubUnreachable, QueueFull, RequestCancelled

SINGLE, BATCH = "/v1/systemone", "/v1/systemone/batch"
QUESTIONS = {"q": {"type": "noul", "instructions": "Is it urgent?"}}


def body(**more: Any) -> dict[str, Any]:
    return {"state": "text", "questions": QUESTIONS, **more}


def batch(**more: Any) -> dict[str, Any]:
    return {"states": ["text"], "questions": QUESTIONS, **more}


@pytest.mark.parametrize("route", [SINGLE, BATCH])
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff", "not UTF-8"),
        (b'{"state": "\xed\xa0\x80"}', "not UTF-8"),
        (b"[1]", "not a JSON object"),
        (b"3", "not a JSON object"),
        (b'{"state": NaN}', "NaN"),
        (b'{"state": -Infinity}', "Infinity"),
        (b'{"state": 1e999}', "too large"),
        (b'{"state": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"state": ' + b"[" * 80 + b"]" * 80 + b"}", "nests more than 64"),
        (b"[" * 100_000, "nests more than 64"),
        (b'{"a":' * 100_000, "nests more than 64"),
        (b'\xef\xbb\xbf{"state": 1}', "not JSON"),
    ],
)
def test_a_body_that_cannot_be_read_is_a_400(
    client: TestClient, router: Any, route: str, content: bytes, says: str
) -> None:
    response = client.post(route, content=content)
    assert response.status_code == 400
    assert says in response.json()["detail"]
    assert router.asked == router.batches == []


@pytest.mark.parametrize(
    ("route", "sent", "says"),
    [
        (SINGLE, {"state": "x"}, "questions are missing"),
        (SINGLE, {"state": "x", "questions": []}, "questions are not a JSON object"),
        (SINGLE, {"state": "x", "questions": None}, "questions are not a JSON object"),
        (SINGLE, {"questions": {}}, "state is missing or null"),
        (SINGLE, {"questions": {}, "state": None}, "state is missing or null"),
        (BATCH, {"states": ["x"]}, "questions are missing"),
        (BATCH, {"questions": {}}, "states is a list"),
        (BATCH, {"questions": {}, "states": []}, "states is a list"),
        (BATCH, {"questions": {}, "states": {"a": 1}}, "states is a list"),
        (BATCH, {"questions": {}, "states": ["a", None]}, "states[1] is null"),
    ],
)
def test_a_body_of_the_wrong_shape_is_a_400(
    client: TestClient, router: Any, route: str, sent: object, says: str
) -> None:
    response = client.post(route, json=sent)
    assert response.status_code == 400
    assert says in response.json()["detail"]
    assert router.asked == router.batches == []


@pytest.mark.parametrize(
    "content",
    [
        '{"state": "\\ud800", "questions": {}}',
        '{"state": {"\\udfff": 1}, "questions": {}}',
        '{"state": ["\\uDE00\\uD83D"], "questions": {}}',
        '{"state": "x", "questions": {"q\\ud800": {}}}',
        '{"state": "x", "questions": {}, "lang": "\\ud800"}',
        '{"state": "x", "questions": {}, "unknown": [["\\udabc"]]}',
    ],
)
def test_an_unpaired_surrogate_anywhere_is_a_400(client: TestClient, router: Any, content: str) -> None:
    response = client.post(SINGLE, content=content)
    assert response.status_code == 400 and "surrogate" in response.json()["detail"]
    assert router.asked == []


def test_a_paired_surrogate_and_an_escaped_backslash_are_ordinary_text(client: TestClient, router: Any) -> None:
    client.post(SINGLE, content=b'{"state": "\\ud83d\\ude00 \\\\ud800", "questions": {}}')
    assert router.asked[0]["state"] == "\N{GRINNING FACE} \\ud800"


def test_of_equal_keys_the_last_wins(client: TestClient, router: Any) -> None:
    client.post(SINGLE, content=b'{"state": "a", "questions": {}, "state": "b"}')
    assert router.asked[0]["state"] == "b"


@pytest.mark.parametrize("route", [SINGLE, BATCH])
@pytest.mark.parametrize("name", ["hooks", "on_predict_start", "on_predict_end", "hooks_raise", "hooks_timeout"])
def test_hook_arguments_are_a_422_even_when_null(client: TestClient, router: Any, route: str, name: str) -> None:
    response = client.post(route, json={**body(), **batch(), name: None})
    assert response.status_code == 422 and name in response.json()["detail"]
    assert router.asked == router.batches == []


@pytest.mark.parametrize("route", [SINGLE, BATCH])
@pytest.mark.parametrize(
    "control",
    [
        {"model": 3},
        {"model": ["mine"]},
        {"task": 1},
        {"lang": ["de"]},
        {"lang_guess": {}},
        {"max_len": "64"},
        {"max_len": 0},
        {"max_len": -1},
        {"max_len": True},
        {"max_len": 64.5},
        {"max_len": 8193},
        {"head_max_len": 10**30},
        {"min_confidence": "0.5"},
        {"min_confidence": 1.5},
        {"min_confidence": -0.1},
        {"min_confidence": True},
        {"min_confidence": [0.5]},
        {"min_confidence": {"default": 2}},
        {"min_confidence": {"default": None}},
        {"min_confidence": 10**400},
    ],
)
def test_a_control_of_the_wrong_type_or_range_is_a_422(
    client: TestClient, router: Any, route: str, control: dict[str, Any]
) -> None:
    response = client.post(route, json={**body(), **batch(), **control})
    assert response.status_code == 422 and next(iter(control)) in response.json()["detail"]
    assert router.asked == router.batches == []


@pytest.mark.parametrize(
    "control",
    [
        {"batch_size": 0},
        {"batch_size": "2"},
        {"batch_size": 1.5},
        {"batch_size": True},
        {"sort_by_length": 1},
        {"sort_by_length": "yes"},
    ],
)
def test_a_batch_control_of_the_wrong_type_or_range_is_a_422(
    client: TestClient, router: Any, control: dict[str, Any]
) -> None:
    response = client.post(BATCH, json=batch(**control))
    assert response.status_code == 422 and next(iter(control)) in response.json()["detail"]
    assert router.batches == []


@pytest.mark.parametrize("route", [SINGLE, BATCH])
@pytest.mark.parametrize("model", ["/path/to/checkpoint", "org/repo", "~/ckpt", ".\\ckpt", "convaiinnovations/other"])
def test_a_model_that_looks_like_a_path_or_an_unpublished_hub_id_is_a_422(
    client: TestClient, router: Any, route: str, model: str
) -> None:
    response = client.post(route, json={**body(), **batch(), "model": model})
    detail = response.json()["detail"]
    assert response.status_code == 422
    assert detail.startswith("unknown model") and "english" in detail and "leave model out" in detail
    assert router.asked == router.batches == []


def test_labels_that_would_be_the_same_key_of_the_answer_are_a_422(client: TestClient, router: Any) -> None:
    question = {"type": "choice", "instructions": "?", "criteria": [1, "a", "1"]}
    response = client.post(SINGLE, json=body(questions={"q": question}))
    assert response.status_code == 422 and "same key" in response.json()["detail"]
    assert router.asked == []


@pytest.mark.parametrize("error", [ValueError("question 'q': criteria are empty"), TypeError("lang is a string")])
def test_what_the_core_refuses_is_a_422_with_its_words(client: TestClient, router: Any, error: Exception) -> None:
    router.failure = error
    for route, sent in ((SINGLE, body()), (BATCH, batch())):
        response = client.post(route, json=sent)
        assert (response.status_code, response.json()) == (422, {"detail": str(error)})


def test_a_refusal_that_repeats_a_huge_value_is_cut(client: TestClient, router: Any) -> None:
    router.failure = ValueError("x" * 100_000)
    assert len(client.post(SINGLE, json=body()).json()["detail"]) < 1100


@pytest.mark.parametrize(
    "failure",
    [RuntimeError("secret path"), OSError("disk"), KeyError("q"), SystemExit(3), KeyboardInterrupt(), MemoryError()],
)
def test_a_failure_of_the_server_is_a_500_that_tells_nothing(
    client: TestClient, router: Any, caplog: pytest.LogCaptureFixture, failure: BaseException
) -> None:
    router.failure = failure
    response = client.post(SINGLE, json=body(), headers={"x-request-id": "r1"})
    assert (response.status_code, response.json()) == (500, {"detail": "inference failed"})
    assert response.headers["x-request-id"] == "r1"
    assert type(failure).__name__ in caplog.text and "conftest.py" in caplog.text


def test_a_result_that_is_no_json_is_a_failure_of_the_server(client: TestClient, router: Any) -> None:
    router.answer = lambda _: {"answers": {"q": {"noul": float("nan")}}}
    response = client.post(SINGLE, json=body())
    assert (response.status_code, response.json()) == (500, {"detail": "inference failed"})


def test_the_log_of_a_failure_has_the_cause_but_no_text_of_the_request_and_one_line(
    client: TestClient, router: Any, caplog: pytest.LogCaptureFixture
) -> None:
    state = {"mail": "My card is 4711\nINFO: all is well", "nested": ["Ünïcode text"]}
    router.failure = RuntimeError(f"CUDA error 719\nwhile reading {state} and {json.dumps(state)}")
    router.failure.__cause__ = KeyError("My card is 4711\nINFO: all is well")
    client.post(SINGLE, json=body(state=state))
    line = caplog.records[-1].getMessage()
    assert "CUDA error 719" in line and "KeyError" in line
    assert "4711" not in line and "Ünïcode" not in line and "all is well" not in line
    assert "\n" not in line


@pytest.mark.parametrize("error", [QueueFull("full"), Draining("draining"), RequestCancelled("stopped")])
def test_no_room_in_the_engine_is_a_503_with_retry_after(client: TestClient, router: Any, error: Exception) -> None:
    router.failure = error
    for route, sent in ((SINGLE, body()), (BATCH, batch())):
        response = client.post(route, json=sent)
        assert (response.status_code, response.headers["retry-after"]) == (503, "1")
        assert isinstance(response.json()["detail"], str)


@pytest.mark.parametrize(
    ("installed", "advice"), [("mini", 'send "model": "mini", which is installed, or try again later'), (None, "later")]
)
def test_a_checkpoint_out_of_reach_is_a_503_that_names_it_and_what_to_do(
    client: TestClient, router: Any, caplog: pytest.LogCaptureFixture, installed: str | None, advice: str
) -> None:
    router.failure = HubUnreachable("not in /home/me/cache", installed, "multilingual", "hf get", "change the call")
    for route, sent in ((SINGLE, body()), (BATCH, batch())):
        response = client.post(route, json=sent)
        assert (response.status_code, response.headers["retry-after"]) == (503, "60")
        detail = response.json()["detail"]
        assert "the checkpoint 'multilingual'" in detail and detail.endswith(advice) and "/home/me" not in detail
        logged = caplog.records[-1]
        told = "answered 503: not in /home/me/cache; connect once to download it (hf get)"
        assert (logged.levelname, logged.getMessage()) == ("WARNING", told)


def test_unknown_routes_and_wrong_methods_are_json_too(client: TestClient) -> None:
    assert client.get("/nothing").json() == {"detail": "Not Found"}
    for route in (SINGLE, BATCH):
        wrong = client.get(route)
        assert (wrong.status_code, wrong.headers["allow"]) == (405, "POST")
        assert wrong.json() == {"detail": "Method Not Allowed"}
    assert client.get("/nothing").status_code == 404


@pytest.mark.parametrize("header", [None, "Bearer wrong", "Basic key", "Bearer", "key", "Bearer k\xe9y", "Bearer key2"])
@pytest.mark.parametrize("route", [SINGLE, BATCH, "/v1/models", "/nothing"])
def test_without_the_key_a_request_is_a_401(
    client_of: Callable[..., TestClient], router: Any, header: str | None, route: str
) -> None:
    headers = {} if header is None else {"authorization": header.encode("latin-1")}
    response = client_of(api_key="key").post(route, json=body(), headers=headers)  # type: ignore[arg-type]
    assert response.status_code == 401 and response.headers["www-authenticate"] == "Bearer"
    assert response.json() == {"detail": "missing or wrong bearer token"}
    assert "x-request-id" in response.headers
    assert router.asked == []


@pytest.mark.parametrize("key", ["key", "schlüssel", "a b"])
def test_with_the_key_a_request_is_answered(client_of: Callable[..., TestClient], key: str) -> None:
    headers = {"authorization": f"Bearer {key}".encode()}
    assert client_of(api_key=key).post(SINGLE, json=body(), headers=headers).status_code == 200  # type: ignore[arg-type]


def test_without_a_key_set_any_authorization_is_ignored(client: TestClient) -> None:
    assert client.post(SINGLE, json=body(), headers={"authorization": "Bearer whatever"}).status_code == 200


def test_routes_of_plugins_are_behind_the_key_unless_they_say_otherwise(
    client_of: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def answer(request: Any) -> Any:
        from starlette.responses import PlainTextResponse

        return PlainTextResponse(request.url.path)

    hidden, shown = Route("/hidden", answer), Route("/shown", answer)
    vars(shown)["public"] = True
    monkeypatch.setattr("laya_serve.app.extra_routes", lambda router: [hidden, shown])
    client = client_of(api_key="key")
    assert (client.get("/hidden").status_code, client.get("/shown").status_code) == (401, 200)
    assert client.get("/hidden", headers={"authorization": "Bearer key"}).text == "/hidden"


def test_a_route_of_a_plugin_that_breaks_is_a_500(
    client_of: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken(request: Any) -> Any:
        raise RuntimeError("of the plugin")

    monkeypatch.setattr("laya_serve.app.extra_routes", lambda router: [Route("/broken", broken)])
    response = client_of().get("/broken")
    assert (response.status_code, response.json()) == (500, {"detail": "inference failed"})
    assert "of the plugin" in caplog.text


def test_public_paths_are_public_below_a_root_path_too(client_of: Callable[..., TestClient]) -> None:
    app = client_of(api_key="key", root_path="/laya").app
    assert isinstance(app, Starlette)
    client = TestClient(app, root_path="/laya")
    assert client.get("/laya/health").json() == {"status": "ok"}
    assert client.get("/laya/v1/models").status_code == 401
