"""A fake Hub with small checkpoints, and clients in processes of their own."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .fake_hub import FakeHub, Repository

CLIENT = Path(__file__).parent / "client.py"


class Client:
    """A process with an empty cache that finds and loads checkpoints, started when it is first asked."""

    def __init__(self, hub: FakeHub, home: Path) -> None:
        self.hub = hub
        self.home = home
        self.environment: dict[str, str] = {}
        self._process: subprocess.Popen[str] | None = None
        self._log = home.with_suffix(".log")

    def find(self, source: Any = "owner/model", **options: Any) -> dict[str, Any]:
        """What `find_checkpoint` found, or its error."""
        self.begin("find", source, **options)
        return self.end()

    def predict(self, source: Any = "owner/model", **options: Any) -> dict[str, Any]:
        """What an agent answered, or the error of loading it."""
        self.begin("predict", source, **options)
        return self.end()

    def begin(self, call: str, source: Any, **options: Any) -> None:
        process = self._running()
        assert process.stdin is not None
        process.stdin.write(json.dumps({"call": call, "source": source, "options": options}) + "\n")
        process.stdin.flush()

    def end(self) -> dict[str, Any]:
        process = self._running()
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, self.messages()
        outcome: dict[str, Any] = json.loads(line)
        return outcome

    def kill(self) -> None:
        """End the process at once; the next call starts another one on the same cache."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def type(self, command: str) -> None:
        """Run a command line of the Hub's `hf` in the environment of the process."""
        program, *arguments = shlex.split(command)
        assert program == "hf"
        run = [sys.executable, "-m", "huggingface_hub.cli.hf", *arguments]
        done = subprocess.run(run, env=self._environment(), capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr

    def messages(self) -> str:
        """What the processes wrote to their standard error streams."""
        return self._log.read_text(encoding="utf-8")

    def cached(self) -> dict[str, int]:
        """Every file below the cache with its time of change."""
        files = [path for path in self.home.rglob("*") if path.is_file()]
        return {str(path.relative_to(self.home)): path.stat().st_mtime_ns for path in files}

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            with self._log.open("a", encoding="utf-8") as log:
                self._process = subprocess.Popen(
                    [sys.executable, str(CLIENT)],
                    env=self._environment(),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=log,
                    text=True,
                )
        return self._process

    def _environment(self) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("HF_", "HUGGING", "LAYA_")) and not name.lower().endswith("_proxy")
        }
        own = {"HF_ENDPOINT": self.hub.endpoint, "HF_HOME": str(self.home), "LAYA_PLUGINS": "0"}
        return {**kept, **own, **self.environment}


@pytest.fixture
def files(parity_checkpoints: Path) -> dict[str, bytes]:
    """A checkpoint by relative path."""
    directory = parity_checkpoints / "modernbert"
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


@pytest.fixture
def hub(files: dict[str, bytes]) -> FakeHub:
    """A Hub that is not serving yet, with `owner/model` and much in it that no checkpoint needs."""
    decoys = {
        "README.md": b"# A model",
        "pytorch_model.bin": b"p" * 200_000,
        "model-00001-of-00002.safetensors": b"s" * 200_000,
        "encoder/pytorch_model.bin": b"p" * 10,
        "onnx/model.onnx": b"o" * 200_000,
        "other/model.safetensors": b"x" * 200_000,
        "other/rl_agent_config.json": b"{}",
    }
    return FakeHub({"owner/model": Repository.of({**files, **decoys})})


@pytest.fixture
def online(hub: FakeHub) -> Iterator[FakeHub]:
    """The same Hub, serving for the whole test."""
    with hub.serving():
        yield hub


@pytest.fixture
def client(hub: FakeHub, tmp_path: Path) -> Iterator[Client]:
    started = Client(hub, tmp_path / "home")
    yield started
    started.kill()


@pytest.fixture
def second_client(client: Client) -> Iterator[Client]:
    """Another process on the cache of `client`."""
    started = Client(client.hub, client.home)
    yield started
    started.kill()
