from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from laya.cli.entry import run
from laya_hooks import clear_default_hooks, restore_plugin_hooks
from laya_hooks.testing import FakeRouter

ANSWERS = {
    "team": {
        "type": "choice",
        "choice": "billing",
        "probabilities": {"billing": 0.9, "[red]tech": 0.1},
        "confidence": 0.53,
        "answer_confidence": 0.9,
    },
    "urgency": {
        "type": "score",
        "score": 1.25,
        "legend": {"0": "calm", "1": "firm", "2": "angry"},
        "probabilities": {"0": 0.25, "1": 0.25, "2": 0.5},
        "confidence": 0.1,
        "answer_confidence": 0.5,
        "low_confidence": True,
        "abstention": "abstained",
        "abstention_threshold": 0.6,
    },
    "refund": {"type": "noul", "noul": 0.2, "confidence": 0.8, "answer_confidence": 0.8},
}


class StubRouter(FakeRouter):
    """A router of the testing kit that answers `ANSWERS` and notes how it was made and asked."""

    def __init__(self) -> None:
        super().__init__()
        self.options: Any = None
        self.asked: list[dict[str, Any]] = []
        self.failure: Exception | None = None

    def predict(self, state: Any, questions: Any, **controls: Any) -> dict[str, Any]:
        self.asked.append({"state": state, "questions": questions, **controls})
        if self.failure is not None:
            raise self.failure
        usage = {"input_tokens": 9, "output_tokens": 0, "truncated": True, "state_tokens_dropped": 7}
        return {"model": "stub", "answers": ANSWERS, "usage": usage, "routing": {"model": "mini", "reason": "why"}}


@pytest.fixture
def router(monkeypatch: pytest.MonkeyPatch) -> StubRouter:
    stub = StubRouter()

    def make_router(options: Any) -> StubRouter:
        stub.options = options
        return stub

    monkeypatch.setattr("laya_hooks.providers.make_router", make_router)
    for variable in ("LAYA_DEFAULT_MODEL", "LAYA_DEBUG"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return stub


@pytest.fixture
def laya(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command line in this process: exit code, standard output, standard error."""

    def invoke(*arguments: str) -> tuple[int, str, str]:
        code = run(arguments)
        return code, *capsys.readouterr()

    return invoke


@pytest.fixture
def questions_file(tmp_path: Path) -> Path:
    file = tmp_path / "questions.json"
    file.write_text(json.dumps({"q": {"type": "noul", "instructions": "Is it urgent?"}}), encoding="utf-8")
    return file


@pytest.fixture(autouse=True)
def no_plugin_hooks() -> Iterator[None]:
    clear_default_hooks()
    yield
    clear_default_hooks()
    restore_plugin_hooks()
