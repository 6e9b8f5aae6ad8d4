"""Servers and the clients that ask them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from .client_environments import client_environment
from .server_process import ServerProcess, real_server, stub_server


@pytest.fixture(scope="session")
def client_commands(request: pytest.FixtureRequest) -> Callable[[tuple[str, ...]], Path]:
    """The commands of packages in a virtual environment of its own; they are kept from run to run."""
    folder = request.config.cache.mkdir("clients-of-the-server")
    return cache(lambda packages: client_environment(folder, packages))


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., ServerProcess]]:
    """The real server under some settings; servers of equal settings are one, as a start takes seconds."""
    folder = tmp_path_factory.mktemp("servers")
    servers: dict[object, ServerProcess] = {}
    with ExitStack() as stack:

        def start(**settings: Any) -> ServerProcess:
            key = tuple(sorted(settings.items()))
            if key not in servers:
                log = folder / f"{len(servers)}.log"
                servers[key] = stack.enter_context(real_server(log, **settings))
            return servers[key]

        yield start


@pytest.fixture
def stub(tmp_path: Path) -> Iterator[Callable[..., ServerProcess]]:
    """The server around a router that computes nothing."""
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(stub_server(tmp_path / "server.log", **settings))
