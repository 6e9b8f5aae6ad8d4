"""The wire modes: what is projected, what is computed anew, and how errors look."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from laya_hooks import QueueFull
from laya_serve.wire.confidence import concentration, jev_confidence, peakedness

SINGLE, BATCH = "/v1/systemone", "/v1/systemone/batch"
QUESTIONS: dict[str, Any] = {
    "queue": {
        "type": "choice",
        "instructions": "Which team?",
        "criteria": {"billing": "money", "tech": None, "x": None},
    },
    "urgency": {"type": "score", "instructions": "How urgent?", "criteria": ["calm", {"de": "dringend"}, "now"]},
    "refund": {"type": "noul", "instructions": "A refund?"},
}
RESULT: dict[str, Any] = {
    "model": "laya-rl-agent",
    "answers": {
        "queue": {
            "type": "choice",
            "choice": "billing",
            "probabilities": {"billing": 0.7, "tech": 0.2, "x": 0.1},
            "confidence": 0.27,
            "answer_confidence": 0.7,
            "action": {"act_probability": 1.0},
        },
        "urgency": {
            "type": "score",
            "score": 1.6,
            "legend": {"0": "calm", "1": '{"de": "dringend"}', "2": "now"},
            "probabilities": {"0": 0.1, "1": 0.2, "2": 0.7},
            "confidence": 0.27,
            "answer_confidence": 0.7,
            "action": {"act_probability": 1.0},
        },
        "refund": {"type": "noul", "noul": 0.9, "confidence": 0.9, "answer_confidence": 0.9, "abstention": "passed"},
    },
    "usage": {"input_tokens": 83, "output_tokens": 0, "state_tokens": 12, "truncated": False},
    "routing": {"model": "english", "reason": "English Latin text"},
}


@pytest.fixture
def answering(router: Any) -> Any:
    router.answer = lambda _: copy.deepcopy(RESULT)
    return router


def ask(client: TestClient, **more: Any) -> Any:
    return client.post(SINGLE, json={"state": "x", "questions": QUESTIONS, **more})


@pytest.mark.usefixtures("answering")
def test_the_default_payload_is_the_routers_result(client: TestClient) -> None:
    assert ask(client).json() == RESULT


@pytest.mark.usefixtures("answering")
def test_typesafes_confidence_can_stand_beside_the_other(client_of: Callable[..., TestClient]) -> None:
    answers = ask(client_of(jev_confidence=True)).json()["answers"]
    assert {qid: answer.get("x_jev_confidence") for qid, answer in answers.items()} == {
        "queue": 0.55,
        "urgency": 0.4,
        "refund": None,
    }
    assert {qid: {k: v for k, v in a.items() if k != "x_jev_confidence"} for qid, a in answers.items()} == RESULT[
        "answers"
    ]


@pytest.mark.usefixtures("answering")
def test_the_projection_keeps_the_contracts_keys_and_their_values(client_of: Callable[..., TestClient]) -> None:
    projected = {
        "model": "laya-rl-agent",
        "answers": {
            "queue": {
                "type": "choice",
                "choice": "billing",
                "probabilities": {"billing": 0.7, "tech": 0.2, "x": 0.1},
                "confidence": 0.27,
            },
            "urgency": {
                "type": "score",
                "score": 1.6,
                "probabilities": {"0": 0.1, "1": 0.2, "2": 0.7},
                "confidence": 0.27,
                "legend": {"0": "calm", "1": '{"de": "dringend"}', "2": "now"},
            },
            "refund": {"type": "noul", "noul": 0.9},
        },
        "usage": {"input_tokens": 83, "output_tokens": 0},
    }
    client = client_of(jev_strict="1", jev_confidence=True)
    response = ask(client)
    assert response.json() == projected
    assert response.headers["x-laya-model"] == "english"
    batch = client.post(BATCH, json={"states": ["x", "y"], "questions": QUESTIONS}).json()
    assert batch == {"results": [projected, projected], "total_usage": {"input_tokens": 166, "output_tokens": 0}}


@pytest.mark.usefixtures("answering")
def test_the_contract_computes_confidence_anew_and_echoes_levels_as_they_were_sent(
    client_of: Callable[..., TestClient],
) -> None:
    client = client_of(jev_strict="contract")
    payload = ask(client).json()
    assert set(payload) == {"model", "answers", "usage"}
    assert payload["answers"]["queue"]["confidence"] == 0.55
    assert payload["answers"]["urgency"]["confidence"] == 0.4
    assert payload["answers"]["urgency"]["legend"] == {"0": "calm", "1": {"de": "dringend"}, "2": "now"}
    assert payload["answers"]["refund"] == {"type": "noul", "noul": 0.9}
    batch = client.post(BATCH, json={"states": ["x"], "questions": QUESTIONS}).json()
    assert batch["results"] == [payload]


def test_the_contract_takes_a_noul_without_instructions_and_leaves_the_others_alone(
    client_of: Callable[..., TestClient], router: Any
) -> None:
    questions = {"a": {"type": "noul"}, "b": {"type": "noul", "instructions": None}, "c": QUESTIONS["refund"]}
    client_of(jev_strict="contract").post(SINGLE, json={"state": "x", "questions": questions})
    asked = router.asked[0]["questions"]
    assert asked["a"]["instructions"] == asked["b"]["instructions"] != ""
    assert asked["c"] == QUESTIONS["refund"]
    client_of().post(SINGLE, json={"state": "x", "questions": questions})
    assert router.asked[1]["questions"] == questions


@pytest.mark.parametrize("model", ["jev", "jev-1", "jev-latest", "JEV-Latest", "convaiinnovations/laya", None])
def test_names_of_jev_let_the_router_choose_in_the_contract(
    client_of: Callable[..., TestClient], router: Any, model: str | None
) -> None:
    assert ask(client_of(jev_strict="contract"), model=model, unknown_field=1).status_code == 200
    assert "model" not in router.asked[0]


@pytest.mark.parametrize(
    ("sent", "where"),
    [
        (b"{", ["body"]),
        (b"[]", ["body"]),
        (b'{"state": "x"}', ["body", "questions"]),
        (b'{"state": "x", "questions": {}}', ["body", "questions"]),
        (b'{"questions": {"q": {}}}', ["body", "state"]),
        (b'{"state": "x", "questions": {"q": {}}, "max_len": "1"}', ["body", "max_len"]),
        (b'{"state": "x", "questions": {"q": {}}, "model": "org/repo"}', ["body", "model"]),
    ],
)
def test_validation_errors_of_the_contract_are_a_list_with_places(
    client_of: Callable[..., TestClient], sent: bytes, where: list[str]
) -> None:
    response = client_of(jev_strict="contract").post(SINGLE, content=sent)
    assert response.status_code == 422
    (error,) = response.json()["detail"]
    assert set(error) == {"loc", "msg", "type"} and error["loc"] == where and error["msg"]


def test_what_the_core_refuses_is_placed_at_its_question(client_of: Callable[..., TestClient], router: Any) -> None:
    client = client_of(jev_strict="contract")
    for message, where in {
        "question 'queue': criteria are empty": ["body", "questions", "queue"],
        "question 'nobody': criteria are empty": ["body", "questions"],
        "something else": ["body"],
    }.items():
        router.failure = ValueError(message)
        assert ask(client).json() == {"detail": [{"loc": where, "msg": message, "type": "value_error"}]}


def test_other_errors_of_the_contract_have_a_type_and_a_message(
    client_of: Callable[..., TestClient], router: Any
) -> None:
    client = client_of(jev_strict="contract", api_key="key")
    key = {"authorization": "Bearer key"}

    def error_of(response: Any) -> tuple[int, str]:
        detail = response.json()["detail"]
        assert set(detail) == {"error_type", "message"} and detail["message"]
        return response.status_code, detail["error_type"]

    body = {"state": "x", "questions": QUESTIONS}
    assert error_of(client.post(SINGLE, json=body)) == (401, "authentication_error")
    assert error_of(client.get("/nothing", headers=key)) == (404, "not_found")
    assert error_of(client.get(SINGLE, headers=key)) == (405, "method_not_allowed")
    assert error_of(client.post(SINGLE, json={**body, "model": "no-such"}, headers=key)) == (400, "api_usage_error")
    assert error_of(client.post(SINGLE, content=b"x" * (3 << 20), headers=key)) == (413, "request_too_large_error")
    router.failure = QueueFull()
    assert error_of(client.post(SINGLE, json=body, headers=key)) == (503, "rate_limit_error")
    router.failure = RuntimeError()
    assert error_of(client.post(SINGLE, json=body, headers=key)) == (500, "internal_server_error")


def test_the_contract_sends_the_request_id_under_typesafes_name_too(client_of: Callable[..., TestClient]) -> None:
    headers = client_of(jev_strict="contract").get("/health", headers={"x-request-id": "mine"}).headers
    assert headers["x-typesafe-request-id"] == headers["x-request-id"] == "mine"


distributions = st.lists(st.floats(0.001, 1), min_size=2, max_size=20).map(lambda w: [x / sum(w) for x in w])


@given(distributions)
def test_confidence_is_a_share(probabilities: list[float]) -> None:
    assert 0 <= peakedness(probabilities) <= 1
    assert 0 <= concentration(probabilities) <= 1


@given(st.integers(2, 40), st.data())
def test_certainty_has_confidence_one_and_the_uniform_distribution_none(count: int, data: st.DataObject) -> None:
    certain = [0.0] * count
    certain[data.draw(st.integers(0, count - 1))] = 1.0
    assert peakedness(certain) == concentration(certain) == 1.0
    uniform = [1 / count] * count
    assert peakedness(uniform) == pytest.approx(0, abs=1e-9)
    assert concentration(uniform) == pytest.approx(0, abs=1e-9)


def test_mass_near_the_mode_is_more_confident_than_mass_far_from_it() -> None:
    assert concentration([0.0, 0.3, 0.7]) > concentration([0.3, 0.0, 0.7])
    assert peakedness([0.0, 0.3, 0.7]) == peakedness([0.3, 0.0, 0.7])


def test_one_option_is_certain_and_a_noul_has_no_confidence() -> None:
    assert jev_confidence({"type": "choice", "probabilities": {"a": 1.0}}) == 1.0
    assert jev_confidence({"type": "noul", "noul": 0.5}) is None
