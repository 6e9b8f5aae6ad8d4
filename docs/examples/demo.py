"""Six support tickets, four questions each, one call: `python docs/examples/demo.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table

from laya import Router, presets

TICKETS = Path(__file__).with_name("tickets.jsonl")


def main() -> None:
    tickets = [json.loads(line) for line in TICKETS.read_text(encoding="utf-8").splitlines()]
    questions = presets.load("triage").questions
    console = Console()
    console.print("Loading the checkpoint mini and reading six tickets …", style="dim")
    router = Router(default="mini")
    results = router.predict_batch([{"state": ticket["state"], "questions": questions} for ticket in tickets])
    for ticket, result in zip(tickets, results, strict=True):
        console.print(Panel(Group(ticket["state"], "", answer_row(result["answers"])), title=ticket["id"]))


def answer_row(answers: dict[str, Any]) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_row("team", "urgency", "mood", "may leave", style="dim")
    table.add_row(
        f"{answers['team']['choice']} {answers['team']['answer_confidence']:.0%}",
        likeliest_level(answers["urgency"]),
        likeliest_level(answers["mood"]),
        f"{answers['may_leave']['noul']:.0%}",
        style="bold",
    )
    return table


def likeliest_level(answer: dict[str, Any]) -> str:
    level = max(answer["probabilities"], key=answer["probabilities"].__getitem__)
    return f"{answer['legend'][level].split(':')[0]} {answer['answer_confidence']:.0%}"


if __name__ == "__main__":
    main()
