"""A server in a process of its own, on a free port of the loopback interface."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

_RUNNING = re.compile(r"running on http://127\.0\.0\.1:(\d+)")
_START_SECONDS = 120
_STOP_SECONDS = 60


class ServerProcess:
    """Starts a command that serves, and ends it with the block.

    Args:
        command: what to run; it says "running on http://127.0.0.1:PORT".
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
        own = {"LAYA_HOST": "127.0.0.1", "LAYA_PORT": "0", "PYTHONUNBUFFERED": "1"}
        self._log.parent.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(
            self._command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**kept, **own, **self._settings}
        )
        running = threading.Event()
        threading.Thread(target=self._copy_log, args=(running,), daemon=True).start()
        if not running.wait(_START_SECONDS) or self.port == 0:
            self.stop(signal.SIGKILL)
            raise RuntimeError(f"the server did not start:\n{self.log}")
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

    def _copy_log(self, running: threading.Event) -> None:
        assert self.process is not None and self.process.stdout is not None
        with self._log.open("wb") as log:
            for line in self.process.stdout:
                log.write(line)
                log.flush()
                found = _RUNNING.search(line.decode(errors="replace"))
                if found:
                    self.port = int(found[1])
                    running.set()
        running.set()


def real_server(log: Path, **settings: Any) -> ServerProcess:
    """The server as it is installed, with the embedded checkpoint for every language."""
    import json

    import laya_mini

    checkpoint = str(Path(laya_mini.__file__).parent / "checkpoint")
    everywhere = json.dumps(dict.fromkeys(("multilingual", "typed-decisions"), checkpoint))
    own = {"default_model": "mini", "models": "mini,multilingual", "extra_models": everywhere, "device": "cpu"}
    own |= {"threads": 2}
    return ServerProcess([sys.executable, "-m", "laya_serve"], log, **{**own, **settings})


def stub_server(log: Path, **settings: Any) -> ServerProcess:
    """The server with a router that computes nothing; see `stub_router`."""
    return ServerProcess([sys.executable, str(Path(__file__).with_name("stub_router.py"))], log, **settings)
