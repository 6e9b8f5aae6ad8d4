from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from laya_hooks import current_scope
from laya_hooks.scope import CallScope
from laya_serve.admission import Admission, Slots
from laya_serve.calls import Calls
from laya_serve.refused import ClientGone, Refused

ROUTE = "/v1/systemone"
BODY = {"state": "text", "questions": {}}


def test_one_request_too_many_is_a_503_and_the_slot_it_leaves_can_be_taken(
    client_of: Callable[..., TestClient], router: Any
) -> None:
    begun, release = threading.Semaphore(0), threading.Event()

    def slow(request: dict[str, Any]) -> dict[str, Any]:
        begun.release()
        assert release.wait(10)
        return {}

    router.answer = slow
    with client_of(max_concurrent=2) as client:
        answers: list[int] = []
        asking = [
            threading.Thread(target=lambda: answers.append(client.post(ROUTE, json=BODY).status_code)) for _ in range(2)
        ]
        for thread in asking:
            thread.start()
        assert begun.acquire(timeout=10) and begun.acquire(timeout=10)
        refused = client.post(f"{ROUTE}/batch", json={"states": ["a"], "questions": {}})
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        assert "2 requests at once" in refused.json()["detail"]
        assert client.get("/health").status_code == client.get("/v1/models").status_code == 200
        release.set()
        for thread in asking:
            thread.join(10)
        assert answers == [200, 200]
        assert client.post(ROUTE, json=BODY).status_code == 200


@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_every_way_a_request_ends_gives_its_slot_back(
    client_of: Callable[..., TestClient], router: Any, status: int
) -> None:
    client = client_of(max_concurrent=1)
    bodies = {
        400: b"{",
        413: b"x" * (3 << 20),
        422: b'{"state":1,"questions":{},"hooks":1}',
        500: b'{"state":1,"questions":{}}',
    }
    router.failure = RuntimeError()
    assert [client.post(ROUTE, content=bodies[status]).status_code for _ in range(3)] == [status] * 3
    router.failure = None
    assert client.post(ROUTE, json=BODY).status_code == 200


def test_while_it_drains_nothing_is_admitted(client: TestClient, router: Any) -> None:
    client.app.state.slots.drain()  # type: ignore[attr-defined]
    refused = client.post(ROUTE, json=BODY)
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert "shutting down" in refused.json()["detail"] and router.asked == []
    assert client.get("/health").json()["status"] == "ok"


def test_a_slot_is_free_when_the_response_begins_and_the_request_runs_until_it_is_sent() -> None:
    slots = Slots(1)
    seen: list[tuple[int, int]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((slots.taken, slots.running))
        await send({"type": "http.response.start"})
        seen.append((slots.taken, slots.running))

    async def send(message: Any) -> None:
        seen.append((slots.taken, slots.running))

    async def serve() -> None:
        await Admission(app, slots)({"type": "http"}, None, send)  # type: ignore[arg-type]
        await asyncio.wait_for(slots.nothing_runs(), 5)

    asyncio.run(serve())
    assert seen == [(1, 1), (0, 1), (0, 1)]
    assert (slots.taken, slots.running) == (0, 0)


def test_draining_waits_for_what_was_admitted() -> None:
    async def scenario() -> None:
        slots = Slots(2)
        slots.take()
        slots.drain()
        with pytest.raises(Refused):
            slots.take()
        waiting = asyncio.ensure_future(slots.nothing_runs())
        await asyncio.sleep(0)
        assert not waiting.done()
        slots.give_back()
        slots.finish()
        await asyncio.wait_for(waiting, 5)

    asyncio.run(scenario())


def test_a_client_that_leaves_cancels_its_call_and_is_not_waited_for() -> None:
    scope = CallScope("r")
    begun, release = threading.Event(), threading.Event()

    def call() -> None:
        begun.set()
        release.wait(10)

    async def scenario() -> None:
        async def receive() -> dict[str, Any]:
            await asyncio.to_thread(begun.wait, 10)
            return {"type": "http.disconnect"}

        with pytest.raises(ClientGone):
            await calls.run(call, receive, scope)
        assert scope.cancelled and not release.is_set()

    calls = Calls(1)
    asyncio.run(scenario())
    release.set()
    calls.close()


def test_a_call_that_has_not_begun_never_does_when_its_client_leaves() -> None:
    release = threading.Event()
    ran: list[str] = []

    async def scenario() -> None:
        async def leaves() -> dict[str, Any]:
            return {"type": "http.disconnect"}

        first = calls.start(lambda: release.wait(10))
        with pytest.raises(ClientGone):
            await calls.run(lambda: ran.append("second"), leaves, CallScope())
        release.set()
        await first

    calls = Calls(1)
    asyncio.run(scenario())
    calls.close()
    assert ran == []


def test_a_call_runs_in_the_context_of_its_request(client: TestClient, router: Any) -> None:
    seen: list[Any] = []
    router.answer = lambda _: seen.append((current_scope(), threading.current_thread().name)) or {}
    client.post(ROUTE, json=BODY, headers={"x-request-id": "a"})
    client.post(ROUTE, json=BODY, headers={"x-request-id": "b"})
    assert [scope.request_id for scope, _ in seen] == ["a", "b"]
    assert all(name.startswith("laya-call") for _, name in seen)
