"""The idle clock, what health tells of it, and freeing checkpoints when it has run out."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from laya_serve.activity import Activity, unload_when_idle

BODY = {"state": "text", "questions": {}}


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_idle_window_begins_when_inference_ends_also_when_it_fails() -> None:
    clock = Clock()
    activity = Activity(clock)
    clock.now += 5
    assert activity.idle_seconds == 5
    with suppress(RuntimeError), activity.inference():
        clock.now += 7
        assert activity.idle_seconds == 0
        raise RuntimeError
    assert activity.idle_seconds == 0
    clock.now += 2
    assert activity.idle_seconds == 2


def test_of_several_calls_the_last_to_end_begins_the_window() -> None:
    clock = Clock()
    activity = Activity(clock)
    with activity.inference():
        with activity.inference():
            clock.now += 3
        clock.now += 3
        assert activity.idle_seconds == 0
    assert activity.idle_seconds == 0


def test_an_idle_server_frees_its_checkpoints_and_answers_again(
    client_of: Callable[..., TestClient], router: Any
) -> None:
    freed = threading.Event()
    router.resident = {
        "english": SimpleNamespace(cpu_fallback_count=0, last_fallback_reason=None, device="cpu", revision=None)
    }
    unload = router.unload
    router.unload = lambda: (unload(), freed.set())
    with client_of(idle_unload_seconds=0.05) as client:
        assert client.post("/v1/systemone", json=BODY).status_code == 200
        assert freed.wait(20)
        health = client.get("/health").json()
        assert (health["loaded"], health["device_is_preference"]) == ([], True)
        assert client.post("/v1/systemone", json=BODY).status_code == 200


def test_nothing_is_freed_while_a_call_runs_and_a_failed_unload_is_tried_again() -> None:
    attempts: list[float] = []
    activity = Activity()
    router = SimpleNamespace(loaded=["english"])

    async def scenario() -> None:
        second = asyncio.Event()

        def start(call: Callable[[], None]) -> asyncio.Future[None]:
            attempts.append(activity.idle_seconds)
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            if len(attempts) == 1:
                done.set_exception(RuntimeError("a hook of on_evict"))
            else:
                router.loaded = []
                second.set()
                done.set_result(None)
            return done

        router.unload = lambda: None
        with activity.inference():
            watching = asyncio.ensure_future(unload_when_idle(router, activity, 0.01, start))  # type: ignore[arg-type]
            await asyncio.sleep(0.03)
            assert attempts == []
        await asyncio.wait_for(second.wait(), 20)
        watching.cancel()

    asyncio.run(scenario())
    assert len(attempts) == 2 and min(attempts) >= 0.01


def test_health_tells_the_window_and_the_clock_and_does_not_reset_it(
    client_of: Callable[..., TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr("laya_serve.app.Activity", lambda: Activity(clock))
    client = client_of(idle_unload_seconds=300)
    clock.now += 5
    assert client.get("/health").json()["idle_seconds"] == 5
    clock.now += 5
    health = client.get("/health").json()
    assert (health["idle_unload_seconds"], health["idle_seconds"]) == (300, 10)
    client.post("/v1/systemone", content=b"{")
    assert client.get("/health").json()["idle_seconds"] == 10
    client.post("/v1/systemone", json=BODY)
    assert client.get("/health").json()["idle_seconds"] == 0
    assert "idle_seconds" not in client_of().get("/health").json()
