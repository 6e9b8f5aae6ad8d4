"""`laya route`: which checkpoint would answer, and why; nothing is downloaded or loaded for it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from laya_hooks.protocols import RouterOptions
from laya_router.commands.inputs import read_questions, read_state
from laya_router.commands.output import print_json

_FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(short_help="Say which checkpoint would answer, and why.")
@click.argument("text", required=False)
@click.option("--file", type=_FILE, help="Read the text from a file; a .json file is read as a JSON state.")
@click.option("--questions", type=_FILE, help="A JSON file {id: question}; the ids may be those of a workflow.")
@click.option("--preset", help="A ready question set, see `laya presets`.")
@click.option("--model", help="A checkpoint by name or alias; decides alone.")
@click.option("--task", help="`typed_decisions`, or a checkpoint's name.")
@click.option("--lang", help="The language of the text, such as `de`.")
@click.option("--default", help="The checkpoint for text that says nothing; LAYA_DEFAULT_MODEL, or else `english`.")
@click.option("--auto-task-detection", is_flag=True, help="Let question ids of a workflow choose its checkpoint.")
@click.option("--json", "as_json", is_flag=True, help="Print the decision as JSON.")
def route(
    text: str | None,
    file: Path | None,
    questions: Path | None,
    preset: str | None,
    model: str | None,
    task: str | None,
    lang: str | None,
    default: str | None,
    auto_task_detection: bool,
    as_json: bool,
) -> None:
    """Say which checkpoint would answer about TEXT, and why; nothing is downloaded or loaded.

    TEXT is read from standard input when it is absent or `-`.

    \b
    laya route "Wo ist mein Paket?"
    laya route --file ticket.json --json
    """
    from laya_hooks.providers import make_router

    asked = None if questions is None and preset is None else read_questions(questions, preset)
    state = read_state(text, file)
    options = RouterOptions(auto_task_detection=auto_task_detection)
    chosen = default or os.environ.get("LAYA_DEFAULT_MODEL", "").strip()
    if chosen:
        options["default"] = chosen
    decision = make_router(options).route(state, asked, model=model, task=task, lang=lang)
    if as_json:
        print_json(decision)
    else:
        _print_decision(decision)


def _print_decision(decision: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for label, value in _rows(decision):
        table.add_row(label, Text(value))
    Console().print(table)


def _rows(decision: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "checkpoint", str(decision["model"])
    yield "from", str(decision.get("repo", "-"))
    yield "because", str(decision.get("reason", "-"))
    if decision.get("workflow"):
        yield "workflow", str(decision["workflow"])
    detection = decision.get("detection")
    if detection is None:
        return
    yield "language", _language(detection)
    yield "scripts", ", ".join(f"{name} {share:.0%}" for name, share in detection["script_profile"].items()) or "none"
    yield "other letters", f"{detection['diacritic_rate']:.0%} outside basic Latin"
    if detection["mixed_segment"] is not None:
        yield "foreign part", str(detection["mixed_segment"])


def _language(detection: dict[str, Any]) -> str:
    if detection["language_undecided"]:
        return "undecided"
    if detection["is_english"]:
        return "en (English)"
    return f"{detection['language'] or 'unknown'} (not English)"
