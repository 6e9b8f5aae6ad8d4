from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator

import httpx
import pytest

SERVER = """
import laya_hooks.providers
from laya_hooks import HubUnreachable
from laya_hooks.testing import FakeRouter
from laya_serve.command import main

class Router(FakeRouter):
    def preload(self, names=None):
        if "far" in names:
            raise HubUnreachable("no network")
        super().preload(names)

laya_hooks.providers.make_router = lambda options: Router(names=("english", "multilingual", "far"))
main()
"""


@pytest.fixture
def server() -> Iterator[subprocess.Popen[str]]:
    arguments = ["--host", "127.0.0.1", "--port", "0", "--api-key", "key"]
    process = subprocess.Popen([sys.executable, "-c", SERVER, *arguments], stderr=subprocess.PIPE, text=True)
    yield process
    process.kill()
    process.communicate(timeout=30)


def test_the_command_serves_until_it_is_told_to_stop(server: subprocess.Popen[str]) -> None:
    assert server.stderr is not None
    assert server.stderr.readline().startswith("WARNING:  not preloaded: far (no network); ")
    running = (re.search(r"running on (http://127\.0\.0\.1:\d+)", line) for line in server.stderr)
    url = next(found.group(1) for found in running if found)
    body = {"state": "text", "questions": {"q": {"type": "noul", "instructions": "Is it urgent?"}}}
    headers = {"authorization": "Bearer key"}
    assert httpx.post(f"{url}/v1/systemone", json=body).status_code == 401
    answer = httpx.post(f"{url}/v1/systemone", json=body, headers=headers).json()
    assert answer["answers"]["q"]["noul"] == 1.0
    assert set(httpx.get(f"{url}/health", headers=headers).json()["loaded"]) == {"english", "multilingual"}
    server.send_signal(signal.SIGTERM)
    assert server.wait(30) in (0, -signal.SIGTERM)
