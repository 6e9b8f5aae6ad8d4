"""A checkpoint in place of the Hub id, and a process whose default hooks are its plugins' alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import laya
from laya_hooks.defaults import replaced_choice


@pytest.fixture(autouse=True)
def _own_defaults() -> Iterator[None]:
    with replaced_choice():
        yield


@pytest.fixture(scope="session")
def checkpoint(parity_checkpoints: Path) -> Path:
    return parity_checkpoints / "modernbert"


@pytest.fixture(scope="session")
def other_checkpoint(parity_checkpoints: Path) -> Path:
    return parity_checkpoints / "bert"


@pytest.fixture
def agent(checkpoint: Path) -> Iterator[Any]:
    with laya.load(str(checkpoint)) as loaded:
        yield loaded


@pytest.fixture
def router(checkpoint: Path, other_checkpoint: Path) -> Iterator[laya.Router]:
    """English and multilingual, of which one at a time stays in memory."""
    made = laya.Router(models={"english": checkpoint, "multilingual": other_checkpoint}, max_loaded=1)
    yield made
    made.unload()


@pytest.fixture
def questions() -> dict[str, Any]:
    return {
        "team": {
            "type": "choice",
            "instructions": "Which team should answer?",
            "criteria": {"billing": "Payments and invoices", "technical": "Errors and outages"},
        }
    }
