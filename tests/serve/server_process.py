"""A server in a process of its own, on a free port of the loopback interface."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx

_PAUSE = 0.05
_START_ATTEMPTS = 4000
_STOP_SECONDS = 60


class ServerProcess:
    """Starts a command that serves, and ends it with the block.

    Args:
        command: what to run.
        settings: LAYA_* variables by the name of their setting.
        log: the file that its output is kept in.
    """

    def __init__(self, command: Sequence[str], log: Path, **settings: Any) -> None:
        self._command = list(command)
        self._settings = {f"LAYA_{name.upper()}": str(value) for name, value in settings.items()}
        self._log = log
        self.process: subprocess.Popen[bytes] | None = None
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """What it has written so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def __enter__(self) -> ServerProcess:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("LAYA_")}
        self.port = int(self._settings.get("LAYA_PORT", 0)) or free_port()
        own = {"LAYA_HOST": "127.0.0.1", "LAYA_PORT": str(self.port), "PYTHONUNBUFFERED": "1"}
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                self._command, stdout=log, stderr=subprocess.STDOUT, env={**kept, **self._settings, **own}
            )
        try:
            self._wait_until_it_answers()
        except BaseException:
            self.stop(signal.SIGKILL)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)

    def stop(self, sig: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal and wait for the end; the exit status."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(sig)
        return self.process.wait(_STOP_SECONDS)

    def client(self, **more: Any) -> httpx.Client:
        """A client of the server."""
        return httpx.Client(base_url=self.url, timeout=60, **more)

    def _wait_until_it_answers(self) -> None:
        assert self.process is not None
        for _ in range(_START_ATTEMPTS):
            try:
                httpx.get(f"{self.url}/health", timeout=60)
            except httpx.ConnectError:
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(_PAUSE)
                    break
            else:
                return
        raise RuntimeError(f"the server did not start:\n{self.log}")


def free_port() -> int:
    """A port of the loopback interface that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def real_server(log: Path, **settings: Any) -> ServerProcess:
    """The server as it is installed; the embedded checkpoint stands in for those that would be downloaded."""
    import laya_mini

    checkpoint = str(Path(laya_mini.__file__).parent / "checkpoint")
    everywhere = json.dumps(dict.fromkeys(("multilingual", "typed-decisions"), checkpoint))
    own = {"default_model": "mini", "models": "mini", "extra_models": everywhere, "device": "cpu"}
    own |= {"threads": 2}
    return ServerProcess([sys.executable, "-m", "laya_serve"], log, **{**own, **settings})


def stub_server(log: Path, **settings: Any) -> ServerProcess:
    """The server with a router that computes nothing; see `stub_router`."""
    return ServerProcess([sys.executable, str(Path(__file__).with_name("stub_router.py"))], log, **settings)
