"""Requests as bytes on a socket, for what no HTTP client would send."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SECONDS = 60


@contextmanager
def connected(port: int) -> Iterator[socket.socket]:
    """A connection to the server."""
    with socket.create_connection(("127.0.0.1", port), SECONDS) as connection:
        connection.settimeout(SECONDS)
        yield connection


def head(length: int | str | None = None, *more: str, path: str = "/v1/systemone") -> bytes:
    """The head of a POST request."""
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *more]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def request(body: object, *more: str) -> bytes:
    """A whole POST request."""
    content = json.dumps(body).encode()
    return head(len(content), *more) + content


def question(state: Any = "x") -> dict[str, Any]:
    """A body with one question."""
    return {"state": state, "questions": {"q": {"type": "noul", "instructions": "Is it?"}}}


def status_of(connection: socket.socket) -> int | None:
    """The status of the next response; None if the server closed the connection without one."""
    first = _until(connection, b"\r\n")
    return int(first.split()[1]) if first else None


def response_of(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the next response."""
    received = _until(connection, b"\r\n\r\n")
    assert received, "the server closed the connection without a response"
    status_line, *lines = received.decode("latin-1").strip().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    length, body = int(headers.get("content-length", 0)), b""
    while len(body) < length:
        body += connection.recv(length - len(body))
    return int(status_line.split()[1]), headers, body


def is_closed(connection: socket.socket) -> bool:
    """Whether the server closes the connection; waits for it."""
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def _until(connection: socket.socket, end: bytes) -> bytes:
    received = b""
    while not received.endswith(end):
        try:
            byte = connection.recv(1)
        except ConnectionError:
            return b""
        if not byte:
            return b""
        received += byte
    return received
