"""SIGTERM under load: what was admitted is answered, what comes later gets 503, and then the process ends."""

from __future__ import annotations

import json
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable

import httpx
import pytest

from .raw import connected, head, question, request, response_of, status_of
from .server_process import ServerProcess

ENDED_BY_INTERRUPT = {0, 130, -signal.SIGINT}
"""0 where whoever started the tests has them ignore interrupts: the server's end is then all there is to see."""

SHUTTING_DOWN = "the server is shutting down; ask another one, or again in a moment"


def wait_until_running(server: ServerProcess, probe_status: int) -> None:
    """Wait until a further request is answered with this status, which tells that the ones before were admitted."""
    with server.client() as client:
        while client.post("/v1/systemone", json=question()).status_code != probe_status:
            pass


def assert_refused(connection: socket.socket, detail: object) -> None:
    """The next response is the 503 of a server that shuts down."""
    status, headers, body = response_of(connection)
    assert (status, headers["retry-after"], headers["content-type"]) == (503, "1", "application/json")
    assert json.loads(body) == {"detail": detail}
    assert headers["x-request-id"]


def assert_cut_off_quietly(server: ServerProcess) -> None:
    """What was cut off is in the log as answered and nowhere else."""
    assert '" 500' not in server.log
    assert [word for word in ("Traceback", "Cancel", "Exception", "ERROR") if word in server.log] == []


def test_running_requests_finish_and_new_ones_are_refused(stub: Callable[..., ServerProcess]) -> None:
    server = stub(max_concurrent=2)
    assert server.process is not None
    with connected(server.port) as first, connected(server.port) as second, connected(server.port) as late:
        for connection in (first, second):
            connection.sendall(request(question({"wait": 3})))
        wait_until_running(server, 503)
        server.process.send_signal(signal.SIGTERM)
        details = set()
        while not any("shutting down" in detail for detail in details):
            late.sendall(request(question()))
            status, headers, body = response_of(late)
            assert (status, headers["retry-after"]) == (503, "1")
            details.add(body.decode())
        with server.client() as client:
            assert client.get("/health").json()["status"] == "ok"
        assert status_of(first) == status_of(second) == 200
    assert server.process.wait(60) in (0, -signal.SIGTERM)


@pytest.mark.parametrize(
    ("mode", "detail"),
    [
        ("0", SHUTTING_DOWN),
        ("1", SHUTTING_DOWN),
        ("contract", {"error_type": "rate_limit_error", "message": SHUTTING_DOWN}),
    ],
)
def test_what_does_not_finish_within_the_grace_is_refused_in_the_shape_of_the_wire_mode(
    stub: Callable[..., ServerProcess], mode: str, detail: object
) -> None:
    server = stub(max_concurrent=2, shutdown_grace=0.2, jev_strict=mode)
    with connected(server.port) as first, connected(server.port) as second:
        for connection in (first, second):
            connection.sendall(request(question({"wait": 50})))
        wait_until_running(server, 503)
        assert server.stop() in (0, -signal.SIGTERM)
        for connection in (first, second):
            assert_refused(connection, detail)
    assert "2 requests did not finish within 0.2 s" in server.log
    assert_cut_off_quietly(server)


def test_a_second_signal_cuts_off_what_runs_and_says_no_more(stub: Callable[..., ServerProcess]) -> None:
    server = stub(max_concurrent=1, shutdown_grace=600)
    assert server.process is not None
    with connected(server.port) as connection:
        connection.sendall(request(question({"wait": 50})))
        wait_until_running(server, 503)
        server.process.send_signal(signal.SIGINT)
        with server.client() as client:
            while "draining: 1 running" not in server.log:
                client.get("/health")
        server.process.send_signal(signal.SIGINT)
        assert server.process.wait(40) in ENDED_BY_INTERRUPT
        assert_refused(connection, SHUTTING_DOWN)
    assert_cut_off_quietly(server)


def test_a_body_that_is_still_on_its_way_is_refused_as_well(stub: Callable[..., ServerProcess]) -> None:
    server = stub(max_concurrent=1, shutdown_grace=0.2, body_read_timeout=600)
    with connected(server.port) as connection:
        connection.sendall(head(100))
        wait_until_running(server, 503)
        assert server.stop() in (0, -signal.SIGTERM)
        assert_refused(connection, SHUTTING_DOWN)
    assert_cut_off_quietly(server)


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM])
def test_two_quick_signals_to_an_idle_server_end_it_in_order(
    stub: Callable[..., ServerProcess], sig: signal.Signals
) -> None:
    server = stub()
    assert server.process is not None
    server.process.send_signal(sig)
    server.process.send_signal(sig)
    assert server.process.wait(60) in {*ENDED_BY_INTERRUPT, -sig}
    assert "Traceback" not in server.log
    assert "Application shutdown complete" in server.log


def test_under_load_no_admitted_request_is_lost(stub: Callable[..., ServerProcess]) -> None:
    server = stub(max_concurrent=8)
    answers: Counter[int] = Counter()
    lost: list[str] = []
    begun = threading.Event()

    def ask() -> None:
        with server.client() as client:
            while True:
                try:
                    status = client.post("/v1/systemone", json=question({"wait": 0.01})).status_code
                except httpx.ConnectError:
                    return  # nobody listens any more
                except httpx.TransportError as error:
                    # A request that reached a closing connection was never admitted; one that was is in the log.
                    lost.append(repr(error))
                    return
                answers[status] += 1
                if answers[200] > 50:
                    begun.set()

    asking = [threading.Thread(target=ask) for _ in range(8)]
    for thread in asking:
        thread.start()
    assert begun.wait(60)
    assert server.stop() in (0, -signal.SIGTERM)
    for thread in asking:
        thread.join(60)
    assert set(answers) <= {200, 503}
    # Every 200 that the server logged reached its client.
    assert server.log.count('"POST /v1/systemone HTTP/1.1" 200') == answers[200]
