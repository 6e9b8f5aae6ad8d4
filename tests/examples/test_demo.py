"""The support tickets that the demo shows, and that are there to try `laya predict --batch` with."""

from __future__ import annotations

import json
import runpy
from collections.abc import Iterator
from pathlib import Path

import pytest

from laya.cli.entry import run
from laya_hooks.defaults import replaced_choice

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
TICKETS = [json.loads(line) for line in (EXAMPLES / "tickets.jsonl").read_text(encoding="utf-8").splitlines()]


@pytest.fixture(autouse=True)
def _own_defaults() -> Iterator[None]:
    with replaced_choice():
        yield


@pytest.mark.filterwarnings("ignore:.*temperature_by_options")
def test_the_demo_says_what_it_waits_for_and_answers_every_ticket(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "demo.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.startswith("Loading the checkpoint mini and reading six tickets …")
    places = [printed.index(ticket["id"]) for ticket in TICKETS]
    assert places == sorted(places) and len(places) == 6
    assert printed.count("may leave") == 6


def test_the_tickets_are_a_batch_for_the_command_line(tmp_path: Path) -> None:
    output = tmp_path / "answers.jsonl"
    options = ["--preset", "triage", "--model", "mini", "--output", str(output)]
    assert run(["predict", "--batch", str(EXAMPLES / "tickets.jsonl"), *options]) == 0
    results = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert [result["id"] for result in results] == [ticket["id"] for ticket in TICKETS]
    assert all("answers" in result for result in results)
