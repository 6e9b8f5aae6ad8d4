"""Runs a block of a page as a reader would, and returns what it prints."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

from doc_blocks import Block
from starlette.testclient import TestClient

from laya.cli.entry import run
from laya_router import Router
from laya_serve import Settings, create_app

_TIMEOUT_SECONDS = 120
_ENVIRONMENT = {
    "COLUMNS": "100",
    "HF_HUB_OFFLINE": "1",
    "LAYA_PRECISION": "float32",
    "PYTEST_ADDOPTS": "",
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}
_SIMPLE_PREDICT = re.compile(r"laya predict [^|<>;&$\n]*")
_REQUEST = re.compile(r"curl -s localhost:8000(?P<path>\S+) .*-d '(?P<body>[^']+)'", re.DOTALL)


@contextmanager
def readers_environment() -> Iterator[None]:
    """The environment the pages are written for: offline, a terminal of 100 columns, exact arithmetic."""
    with patch.dict(os.environ, _ENVIRONMENT):
        yield


def run_block(block: Block, page: str, namespace: dict[str, Any]) -> str:
    """Run a `python` or `sh` block and return what it prints.

    Raises:
        AssertionError: a command fails, and the page does not show its error.
    """
    if block.language == "sh":
        code, printed = _predict(block.code) if _SIMPLE_PREDICT.fullmatch(block.code) else _shell(block.code)
        shows_an_error = block.output is not None and "error: " in block.output.code
        assert shows_an_error == (code != 0), f"{page}:{block.line} ended with {code}:\n{printed}"
        return printed
    # Blank lines in front, so that a traceback tells the line of the page.
    program = compile("\n" * (block.line - 1) + block.code, page, "exec")
    with redirect_stdout(StringIO()) as output:
        exec(program, namespace)
    return output.getvalue()


def _predict(command: str) -> tuple[int, str]:
    """Run `laya predict` in this process, where torch is imported already: exit code and output."""
    with redirect_stdout(StringIO()) as output, redirect_stderr(output):
        code = run(shlex.split(command)[1:])
    return code, output.getvalue()


def _shell(commands: str) -> tuple[int, str]:
    """Run any commands in a shell: exit code and output."""
    done = subprocess.run(
        ["bash", "-c", commands],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_TIMEOUT_SECONDS,
        check=False,
    )
    return done.returncode, done.stdout


def serve_with_mini() -> TestClient:
    """A client of the server that the pages start."""
    return TestClient(create_app(Router(default="mini"), Settings()))


def answer_to(block: Block, page: str, client: TestClient) -> dict[str, Any]:
    """Send the request of a curl block and return the result.

    Raises:
        AssertionError: the request cannot be read, or is not answered.
    """
    request = _REQUEST.search(block.code)
    assert request is not None, f"{page}:{block.line} is not a request this test can read"
    response = client.post(request["path"], json=json.loads(request["body"]))
    assert response.status_code == 200, f"{page}:{block.line} {response.text}"
    result: dict[str, Any] = response.json()
    folder, name = Path(result["routing"]["repo"]).parts[-2:]
    result["routing"]["repo"] = f"…/{folder}/{name}"
    return result
