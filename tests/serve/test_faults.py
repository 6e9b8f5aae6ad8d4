"""What clients do wrong on the wire: each is answered or dropped, and none keeps a slot from the next."""

from __future__ import annotations

import json
import signal
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from .raw import connected, head, is_closed, question, request, response_of, status_of
from .server_process import ServerProcess, stub_server

KIB = 1024


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with a single slot: whoever keeps it is found out by the next request."""
    log = tmp_path_factory.mktemp("faults") / "server.log"
    with stub_server(log, max_concurrent=1, body_read_timeout=1) as running:
        yield running


@pytest.fixture(autouse=True)
def _the_slot_is_free_afterwards(server: ServerProcess) -> Iterator[None]:
    yield
    with connected(server.port) as connection:
        # The server may still be noticing that the last client has left.
        for _ in range(200):
            connection.sendall(request(question()))
            status, headers, _ = response_of(connection)
            if status == 200:
                return
            assert (status, headers["retry-after"]) == (503, "1")
    pytest.fail("the slot was never given back")


@pytest.mark.parametrize("sent", [b"", b'{"state": ', b"x" * (3 * KIB * KIB)])
def test_a_body_that_stops_coming_is_a_408_and_the_end_of_the_connection(server: ServerProcess, sent: bytes) -> None:
    with connected(server.port) as connection:
        connection.sendall(head(len(sent) + 10) + sent)
        status, headers, _ = response_of(connection)
        assert (status, headers["connection"]) == (408, "close")
        assert is_closed(connection)


def test_while_a_slow_body_holds_the_slot_others_get_503_and_health_answers(server: ServerProcess) -> None:
    with connected(server.port) as slow, connected(server.port) as other, server.client() as client:
        slow.sendall(head(100) + b"{")
        statuses = set()
        while 503 not in statuses:
            other.sendall(request(question()))
            statuses.add(response_of(other)[0])
        assert client.get("/health").json()["status"] == "ok"
        assert status_of(slow) == 408


@pytest.mark.parametrize("sent", [b"POST /v1/syst", head(50), head(50) + b'{"state"'])
@pytest.mark.parametrize("how", ["close", "reset", "half"])
def test_a_client_that_leaves_before_its_request_is_whole(server: ServerProcess, sent: bytes, how: str) -> None:
    with connected(server.port) as connection:
        connection.sendall(sent)
        leave(connection, how)


@pytest.mark.parametrize("how", ["close", "reset", "half"])
def test_a_client_that_leaves_while_it_is_answered(server: ServerProcess, how: str) -> None:
    with connected(server.port) as connection:
        connection.sendall(request(question({"wait": 50})))
        leave(connection, how)


def leave(connection: socket.socket, how: str) -> None:
    if how == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    if how == "half":
        connection.shutdown(socket.SHUT_WR)
        assert status_of(connection) in (None, 400)
    else:
        connection.close()


def test_a_declared_body_that_is_too_large_is_a_413_also_to_a_client_that_sends_it_all(server: ServerProcess) -> None:
    with server.client() as client:
        response = client.post("/v1/systemone", content=b"x" * (3 * KIB * KIB))
    assert response.status_code == 413 and "2097152 bytes" in response.json()["detail"]


def test_a_body_that_is_far_too_large_is_refused_unread(server: ServerProcess) -> None:
    with connected(server.port) as connection:
        connection.sendall(head(10**12))
        assert response_of(connection)[0] == 413
        assert is_closed(connection)


def test_a_client_that_waits_for_a_100_is_refused_before_it_sends(server: ServerProcess) -> None:
    with connected(server.port) as connection:
        connection.sendall(head(3 * KIB * KIB, "Expect: 100-continue"))
        assert response_of(connection)[0] == 413


def test_a_chunked_body_is_bounded_too(server: ServerProcess) -> None:
    def chunks(count: int) -> Iterator[bytes]:
        yield b'{"state": "'
        for _ in range(count):
            yield b"x" * 64 * KIB
        yield b'", "questions": {}}'

    with server.client() as client:
        assert client.post("/v1/systemone", content=chunks(40)).status_code == 413
        response = client.post("/v1/systemone", content=chunks(1))
    assert response.status_code == 413 and "characters" in response.json()["detail"]


@pytest.mark.parametrize(
    "sent",
    [
        head("-1") + b"{}",
        head("2, 3") + b"{}",
        head("0x2") + b"{}",
        head(2, "Content-Length: 3") + b"{}",
        head(None, "Transfer-Encoding: chunked") + b"zz\r\n{}\r\n",
        head(None, "Transfer-Encoding: gzip, chunked") + b"2\r\n{}\r\n0\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",  # TLS where none is spoken
        b"GET /\x00 HTTP/1.1\r\n\r\n",
        b"POST /v1/systemone HTTP/1.1\r\nHost: a\r\nX-Request-Id: a\x00b\r\n\r\n",
        b"POST /v1/systemone HTTP/1.1\r\nHost: a\r\nX-Request-Id: a\n\r\n\r\n",
        b"A" * 200 * KIB,
    ],
)
def test_what_is_no_http_is_a_400_or_the_end_of_the_connection(server: ServerProcess, sent: bytes) -> None:
    with connected(server.port) as connection:
        with suppress(OSError):  # it may have been closed already
            connection.sendall(sent)
            connection.shutdown(socket.SHUT_WR)
        assert status_of(connection) in (None, 400, 501)


def test_a_content_length_below_the_body_leaves_the_rest_as_no_request(server: ServerProcess) -> None:
    body = json.dumps(question()).encode()
    with connected(server.port) as connection:
        connection.sendall(head(len(body)) + body + b"trailing nonsense\r\n\r\n")
        assert response_of(connection)[0] == 200
        assert status_of(connection) in (None, 400)


@pytest.mark.parametrize("sent", [b"a\tb", b"caf\xe9", b"x" * 129, b"a\x7fb", b"\xff\xfe"])
def test_a_request_id_that_is_no_printable_ascii_never_comes_back(server: ServerProcess, sent: bytes) -> None:
    content = json.dumps(question()).encode()
    lines = head(len(content)).removesuffix(b"\r\n") + b"X-Request-Id: " + sent + b"\r\n\r\n"
    with connected(server.port) as connection:
        connection.sendall(lines + content)
        status, headers, _ = response_of(connection)
        if status == 200:
            assert len(headers["x-request-id"]) == 32 and headers["x-request-id"].isalnum()
        else:
            assert status == 400  # the HTTP parser would not have it


def test_equal_request_ids_of_two_clients_do_no_harm(server: ServerProcess) -> None:
    with connected(server.port) as one, connected(server.port) as two:
        for connection in (one, two):
            connection.sendall(request(question(), "X-Request-Id: same"))
            status, headers, _ = response_of(connection)
            assert (status, headers["x-request-id"]) == (200, "same")


def test_requests_in_one_packet_are_answered_in_order(server: ServerProcess) -> None:
    with connected(server.port) as connection:
        connection.sendall(b"".join(request(question(), f"X-Request-Id: r{n}") for n in range(3)))
        assert [response_of(connection)[1]["x-request-id"] for _ in range(3)] == ["r0", "r1", "r2"]


def test_a_bearer_that_is_no_ascii_is_a_401(tmp_path: Path, stub: Callable[..., ServerProcess]) -> None:
    keyed = stub(api_key="schlüssel")
    content = json.dumps(question()).encode()
    with connected(keyed.port) as connection:
        for key, expected in {b"schl\xfcssel": 401, b"\xff\xff": 401, "schlüssel".encode(): 200}.items():
            lines = head(len(content)).removesuffix(b"\r\n") + b"Authorization: Bearer " + key + b"\r\n\r\n"
            connection.sendall(lines + content)
            assert response_of(connection)[0] == expected


def test_a_failure_is_told_to_the_log_alone(server: ServerProcess) -> None:
    with server.client() as client:
        response = client.post("/v1/systemone", json=question({"fail": True, "text": "my own words"}))
    assert (response.status_code, response.json()) == (500, {"detail": "inference failed"})
    assert "RuntimeError: as it was told" in server.log and "my own words" not in server.log


def test_killed_and_started_again_it_serves_as_before(tmp_path: Path) -> None:
    with stub_server(tmp_path / "first.log") as first, connected(first.port) as connection:
        connection.sendall(request(question({"wait": 50})))
        assert first.stop(signal.SIGKILL) == -signal.SIGKILL
        assert is_closed(connection)
        port = first.port
    with stub_server(tmp_path / "second.log", port=port) as second, second.client() as client:
        assert client.post("/v1/systemone", json=question()).status_code == 200
