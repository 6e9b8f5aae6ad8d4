"""Bodies as they come off the wire: in pieces, late, too large, or not at all."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from laya_serve.body import read_body
from laya_serve.refused import ClientGone, Refused

MOST = 100


def read(parts: Iterable[bytes | None], headers: dict[str, str] | None = None, seconds: float = 10) -> bytes:
    """Read a body that arrives in `parts`; None is a client that leaves."""
    messages = list(parts)
    given = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]

    async def receive() -> dict[str, Any]:
        if not messages:
            await asyncio.Event().wait()
        part = messages.pop(0)
        if part is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": part != b""}

    return asyncio.run(read_body({"type": "http", "headers": given}, receive, MOST, seconds))  # type: ignore[arg-type]


def test_a_body_is_read_in_whatever_pieces_it_comes() -> None:
    assert read([b"ab", b"c", b""]) == b"abc"
    assert read([b""]) == b""
    assert read([b"x" * MOST, b""], {"content-length": str(MOST)}) == b"x" * MOST


@pytest.mark.parametrize(
    ("parts", "headers"),
    [
        ([b"x" * (MOST + 1), b""], {"content-length": str(MOST + 1)}),
        ([b"x" * 60, b"x" * 60, b""], {"transfer-encoding": "chunked"}),
        ([b"x" * 60] * 50, {"transfer-encoding": "chunked"}),  # never ends; what may be discarded is bounded
        ([b"x" * 60] * 50, {"content-length": "3"}),  # declared less than it sends
        ([], {"content-length": str(MOST * 5)}),  # so much is not even read
        ([], {"content-length": str(MOST + 1), "expect": "100-continue"}),
    ],
)
def test_a_larger_body_is_a_413_however_it_is_declared(parts: list[bytes], headers: dict[str, str]) -> None:
    with pytest.raises(Refused, match="larger than 100 bytes") as refused:
        read(parts, headers)
    assert (refused.value.status, refused.value.headers) == (413, {"Connection": "close"})


@pytest.mark.parametrize("parts", [[], [b"ab"], [b"x" * (MOST + 1)]])
def test_a_body_that_does_not_come_in_time_is_a_408(parts: list[bytes]) -> None:
    with pytest.raises(Refused, match=r"within 0\.01 s") as refused:
        read(parts, seconds=0.01)
    assert (refused.value.status, refused.value.headers) == (408, {"Connection": "close"})


def test_a_client_that_leaves_in_the_middle_is_not_answered() -> None:
    with pytest.raises(ClientGone):
        read([b"ab", None])


@pytest.mark.parametrize("length", ["-5", "9" * 40, "1_0", "٣", "", "3, 3"])
def test_a_content_length_that_is_no_number_declares_nothing(length: str) -> None:
    headers = [(b"content-length", length.encode())]

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"abc", "more_body": False}

    scope: Any = {"type": "http", "headers": headers}
    assert asyncio.run(read_body(scope, receive, MOST, 10)) == b"abc"
