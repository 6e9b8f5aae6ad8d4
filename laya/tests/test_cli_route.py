from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Run: TypeAlias = Callable[..., tuple[int, str, str]]
WORKFLOW = ("action", "category", "churn_risk", "needs_human", "urgency")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAYA_DEFAULT_MODEL", raising=False)
    monkeypatch.setenv("COLUMNS", "100")


def decision_of(laya: Run, *arguments: str) -> dict[str, object]:
    code, out, _ = laya("route", *arguments, "--json")
    assert code == 0
    decision: dict[str, object] = json.loads(out)
    return decision


def test_the_decision_is_printed_as_json(laya: Run) -> None:
    decision = decision_of(laya, "Wo bleibt denn mein Paket?")
    assert list(decision) == ["model", "repo", "reason", "detection", "workflow"]
    assert (decision["model"], decision["repo"]) == ("multilingual", "convaiinnovations/laya/multilingual")
    assert decision["detection"]["language"] == "de"  # type: ignore[index]


def test_the_table_shows_the_evidence_and_takes_markup_for_text(laya: Run, tmp_path: Path) -> None:
    file = tmp_path / "ticket.json"
    file.write_text(json.dumps({"note": "Please call the customer back.", "text": "[red] wo bleibt mein Paket?"}))
    out = laya("route", "--file", str(file))[1]
    for shown in ("multilingual", "de (not English)", "latin 100%", "[red] wo bleibt mein Paket?"):
        assert shown in out
    assert "undecided" in laya("route", "12:30")[1]
    assert "customer_service" in laya("route", "hello", "--questions", str(questions(tmp_path)))[1]


def questions(folder: Path) -> Path:
    file = folder / "questions.json"
    file.write_text(json.dumps({name: {"type": "noul", "instructions": "?"} for name in WORKFLOW}))
    return file


def test_every_argument_of_a_route_can_be_given(laya: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = str(questions(tmp_path))
    assert decision_of(laya, "hello", "--model", "ml")["model"] == "multilingual"
    assert decision_of(laya, "hello", "--task", "typed_decisions")["model"] == "typed-decisions"
    assert decision_of(laya, "hello", "--lang", "fr")["model"] == "multilingual"
    assert decision_of(laya, "hello", "--questions", file)["model"] == "english"
    assert decision_of(laya, "hello", "--questions", file, "--auto-task-detection")["model"] == "typed-decisions"
    assert decision_of(laya, "12:30", "--default", "mini")["model"] == "mini"
    monkeypatch.setenv("LAYA_DEFAULT_MODEL", "ml")
    assert decision_of(laya, "12:30")["model"] == "multilingual"
    assert decision_of(laya, "12:30", "--default", "mini")["model"] == "mini"


def test_the_text_comes_from_standard_input(laya: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in ((), ("-",)):
        monkeypatch.setattr(sys, "stdin", io.StringIO("Где моя посылка?"))
        assert decision_of(laya, *arguments)["model"] == "multilingual"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("hi", "--model", "nobody"), "unknown model 'nobody'; known are english, mini"),
        (("hi", "--task", "nobody"), "unknown task 'nobody'"),
        (("hi", "--default", "nobody"), "unknown model 'nobody'"),
        (("hi", "--preset", "nobody"), "nobody"),
        (("hi", "--file", "x.txt"), "not both"),
        (("--file", "gone.txt"), "gone.txt"),
        (("",), "no text"),
    ],
)
def test_a_mistake_is_told_in_one_line(laya: Run, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = laya("route", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert message in err


def test_nothing_is_downloaded_or_loaded(tmp_path: Path) -> None:
    code = (
        "import socket, sys\n"
        "def refuse(*args): raise SystemExit('opened a connection')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
        "from laya.cli.entry import run\n"
        "code = run(['route', 'Wo bleibt denn mein Paket?'])\n"
        "print(code, sorted({'torch', 'transformers', 'huggingface_hub', 'laya_core.agent'} & set(sys.modules)))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "HF_HOME": str(tmp_path)}
    )
    assert run.stdout.splitlines()[-1] == "0 []", run.stdout + run.stderr
    assert list(tmp_path.iterdir()) == []
