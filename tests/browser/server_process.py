"""A real server on the embedded checkpoint, in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

KEY = "open sesame"

_RUNNING = re.compile(r"running on (http://127\.0\.0\.1:\d+)")
_BASE = {"LAYA_HOST": "127.0.0.1", "LAYA_PORT": "0", "LAYA_DEFAULT_MODEL": "mini", "LAYA_MODELS": "mini"}


@contextmanager
def laya_server(settings: Mapping[str, str] | None = None) -> Iterator[str]:
    """Start `laya serve` with these LAYA_* settings; gives its address, and ends it afterwards."""
    environment = {**os.environ, **_BASE, **(settings or {})}
    command = [sys.executable, "-m", "laya", "serve"]
    with subprocess.Popen(
        command, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()


def _address(process: subprocess.Popen[str]) -> str:
    assert process.stderr is not None
    lines: list[str] = []
    for line in process.stderr:
        lines.append(line)
        found = _RUNNING.search(line)
        if found:
            # Whatever it logs from here on is read, so that the pipe never fills up.
            threading.Thread(target=process.stderr.read, daemon=True).start()
            return found.group(1)
    raise AssertionError("the server ended before it ran:\n" + "".join(lines))
