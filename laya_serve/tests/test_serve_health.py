from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from laya_hooks.testing import FakeRouter
from laya_serve import Settings, create_app


def agent(device: str, count: int = 0, reason: str | None = None) -> SimpleNamespace:
    return SimpleNamespace(device=device, revision="abc", cpu_fallback_count=count, last_fallback_reason=reason)


def test_the_details_measure_what_is_resident(client: TestClient, router: Any) -> None:
    router.resident = {"english": agent("cuda", 2, "out of memory"), "mine": agent("cpu")}
    assert client.get("/health").json() == {
        "status": "ok",
        "loaded": ["english", "mine"],
        "revisions": {"english": "abc", "mine": "abc"},
        "device": "cuda",
        "device_is_preference": False,
        "checkpoint_devices": {"english": "cuda", "mine": "cpu"},
        "cpu_fallbacks": {
            "english": {"count": 2, "last_reason": "out of memory"},
            "mine": {"count": 0, "last_reason": None},
        },
    }


@pytest.mark.parametrize(("device", "shown"), [(None, "auto"), ("cuda", "cuda")])
def test_without_a_resident_checkpoint_the_device_is_the_preference(
    client_of: Callable[..., TestClient], device: str | None, shown: str
) -> None:
    details = client_of(device=device).get("/health").json()
    assert (details["device"], details["device_is_preference"], details["loaded"]) == (shown, True, [])


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}])
def test_without_the_key_health_tells_only_that_the_process_lives(
    client_of: Callable[..., TestClient], headers: dict[str, str]
) -> None:
    response = client_of(api_key="key").get("/health", headers=headers)
    assert (response.status_code, response.json()) == (200, {"status": "ok"})


def test_with_the_key_health_tells_everything(client_of: Callable[..., TestClient]) -> None:
    assert "loaded" in client_of(api_key="key").get("/health", headers={"authorization": "Bearer key"}).json()


def test_a_router_of_the_testing_kit_is_served_as_it_is() -> None:
    with TestClient(create_app(FakeRouter(), Settings())) as client:
        body = {"state": "text", "questions": {"q": {"type": "noul", "instructions": "?"}}}
        assert client.post("/v1/systemone", json=body).json()["answers"]["q"]["noul"] == 1.0
        assert client.get("/health").json()["loaded"] == ["english"]
