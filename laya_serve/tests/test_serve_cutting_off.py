from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from laya_serve.cutting_off import CutOff, Unfinished
from laya_serve.refused import ClientGone, Refused

SCOPE: Any = {"type": "http"}
START = {"type": "http.response.start", "status": 200, "headers": []}


async def receive() -> Any:
    raise AssertionError("nobody reads the body")


async def waits(scope: Any, receive: Any, send: Any) -> None:
    await asyncio.Event().wait()


def serve(
    app: Callable[..., Awaitable[None]], interrupt: Callable[[Unfinished, asyncio.Task[None]], object]
) -> list[Any]:
    """What a request has sent when it is interrupted as soon as it waits."""
    sent: list[Any] = []

    async def scenario() -> None:
        async def send(message: Any) -> None:
            sent.append(message)

        unfinished = Unfinished()
        serving = asyncio.create_task(CutOff(app, unfinished)(SCOPE, receive, send))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        interrupt(unfinished, serving)
        await asyncio.wait_for(serving, 10)

    asyncio.run(scenario())
    return sent


def cut_off(unfinished: Unfinished, _: object) -> None:
    unfinished.cut_off()
    unfinished.cut_off()  # there is nothing left to cut


def test_a_request_without_a_response_is_refused_with_when_to_come_back() -> None:
    with pytest.raises(Refused, match="shutting down") as refused:
        serve(waits, cut_off)
    assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "1"})


def test_a_response_that_has_begun_ends_where_it_is() -> None:
    async def begins(scope: Any, receive: Any, send: Any) -> None:
        await send(START)
        await waits(scope, receive, send)

    assert serve(begins, cut_off) == [START]


def test_a_cancellation_from_elsewhere_stays_one() -> None:
    with pytest.raises(asyncio.CancelledError):
        serve(waits, lambda _, serving: serving.cancel())


@pytest.mark.parametrize("error", [ClientGone(), TimeoutError("the application's own")])
def test_errors_of_the_application_stay_what_they_are(error: Exception) -> None:
    async def fails(scope: Any, receive: Any, send: Any) -> None:
        raise error

    with pytest.raises(type(error)) as raised:
        serve(fails, cut_off)
    assert raised.value is error


def test_what_has_ended_is_not_cut_off() -> None:
    async def answers(scope: Any, receive: Any, send: Any) -> None:
        await send(START)

    assert serve(answers, cut_off) == [START]
