"""Agents on the small checkpoints of the parity tests, and copies of these checkpoints that a test may damage."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from laya_core import Agent
from laya_core.config import CheckpointConfig
from laya_hooks import clear_default_hooks, restore_plugin_hooks

CHECKPOINTS = Path(__file__).parents[2] / "tests" / "parity" / "checkpoints"

hypothesis.settings.register_profile("laya", derandomize=True, deadline=None)
hypothesis.settings.load_profile("laya")


@cache
def _agent(checkpoint: str) -> Agent:
    return _load(CHECKPOINTS / checkpoint)


def _load(directory: Path, **options: Any) -> Agent:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # one of the recorded temperatures is clamped
        return Agent(directory, **{"device": "cpu", "precision": "float32", **options})


@pytest.fixture
def agent() -> Agent:
    """An agent that tests share: hooks installed on it have to be removed again."""
    return _agent("modernbert")


@pytest.fixture(scope="session")
def agent_on() -> Callable[[str], Agent]:
    """The shared agent on one of the checkpoints."""
    return _agent


@pytest.fixture
def load_agent() -> Callable[..., Agent]:
    """A new agent on a directory; the tests run in float32 unless they say otherwise."""
    return _load


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint directory of the test's own."""
    return Path(shutil.copytree(CHECKPOINTS / "modernbert", tmp_path / "checkpoint"))


@pytest.fixture
def checkpoints() -> Path:
    return CHECKPOINTS


@pytest.fixture
def config() -> CheckpointConfig:
    """The configuration of `checkpoint`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return CheckpointConfig.read(CHECKPOINTS / "modernbert" / "rl_agent_config.json")


@pytest.fixture
def edit_json() -> Callable[..., None]:
    """Change keys of a JSON file; None removes a key."""

    def edit(path: Path, **changes: object) -> None:
        data = {**json.loads(path.read_text(encoding="utf-8")), **changes}
        path.write_text(json.dumps({key: value for key, value in data.items() if value is not None}), encoding="utf-8")

    return edit


@pytest.fixture
def no_default_hooks() -> Iterator[None]:
    """Defaults of this test alone."""
    clear_default_hooks()
    yield
    clear_default_hooks()
    restore_plugin_hooks()
