"""TypeSafe's official Python client against the contract mode of the real server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .client_environments import SDK
from .server_process import ServerProcess

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def seen(serve: Callable[..., ServerProcess], client_commands: Callable[[tuple[str, ...]], Path]) -> dict[str, Any]:
    """What the client's calls came to."""
    server = serve(jev_strict="contract", api_key="a-key")
    script = Path(__file__).with_name("sdk_calls.py")
    command = [client_commands(SDK) / "python", script, server.url, "a-key"]
    run = subprocess.run(command, capture_output=True, text=True, timeout=550, check=False)
    assert run.returncode == 0, run.stderr
    result: dict[str, Any] = json.loads(run.stdout)
    return result


def test_every_type_of_answer_is_parsed(seen: dict[str, Any]) -> None:
    answers = seen["sync"]["answers"]
    assert answers["model"] == "laya-rl-agent" and answers["usage"][0] > 0
    assert set(answers["nouls"]) == {"refund", "statement"}
    assert all(0 <= noul <= 1 for noul in answers["nouls"].values())
    assert set(answers["choices"]) == {"queue", "country"}
    for choice, probabilities, confidence in answers["choices"].values():
        assert sum(probabilities.values()) == pytest.approx(1, abs=0.01)
        assert choice == max(probabilities, key=probabilities.__getitem__)
        best, uniform = max(probabilities.values()), 1 / len(probabilities)
        assert confidence == pytest.approx((best - uniform) / (1 - uniform), abs=0.001)
    assert set(answers["choices"]["queue"][1]) == {"billing", "technical", "다른"}
    assert len(answers["choices"]["country"][1]) == 40
    score, probabilities, _, legend = answers["scores"]["urgency"]
    assert score == pytest.approx(sum(int(level) * p for level, p in probabilities.items()), abs=0.001)
    assert legend == {"0": "calm", "1": {"de": "dringend"}, "2": "furious"}


def test_the_asynchronous_client_gets_the_same_from_requests_at_once(seen: dict[str, Any]) -> None:
    once = seen["sync"]["answers"]
    for answers in seen["async"]["answers"]:
        assert answers["nouls"] == pytest.approx(once["nouls"], abs=0.002)
        assert {q: a[0] for q, a in answers["choices"].items()} == {q: a[0] for q, a in once["choices"].items()}
    assert seen["async"]["models"] == seen["sync"]["models"]
    assert {"mini", "english", "multilingual"} <= set(seen["sync"]["models"])


def test_errors_are_the_clients_own_classes_with_the_servers_words(seen: dict[str, Any]) -> None:
    errors = {name: error[:2] for name, error in seen["sync"]["errors"].items()}
    assert errors == {
        "one level is null": ["TypeSafeUnprocessableEntityError", 422],
        "unknown type": ["TypeSafeUnprocessableEntityError", 422],
        "unknown model": ["TypeSafeBadRequestError", 400],
        "too many options": ["TypeSafeAPIError", 413],
    }
    for *_, request_id in seen["sync"]["errors"].values():
        assert request_id
    (invalid,) = seen["sync"]["errors"]["one level is null"][2]["detail"]
    assert invalid["loc"] == ["body", "questions", "q"] and "null" in invalid["msg"]


def test_a_wrong_key_is_an_authentication_error(seen: dict[str, Any]) -> None:
    name, status, body, _ = seen["wrong key"]
    assert (name, status) == ("TypeSafeAuthenticationError", 401)
    assert body["detail"]["error_type"] == "authentication_error"
