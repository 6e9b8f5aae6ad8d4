"""`laya predict`: answer questions about one text, or about every line of a file."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePath
from typing import Any

import click

from laya_hooks.protocols import LoadOptions, RouterOptions, Source
from laya_router.commands.inputs import read_questions, read_state
from laya_router.commands.output import print_json, working
from laya_router.table import asks_for_routing

_FILE = click.Path(dir_okay=False, path_type=Path)


class _Confidence(click.FloatRange):
    """A number in [0, 1]; nan, which compares with no bound, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if math.isnan(number):
            self.fail("nan is not in the range 0<=x<=1.", param, ctx)
        return number


_CONFIDENCE = _Confidence(0, 1)


@click.command(short_help="Answer questions about a text.")
@click.argument("text", required=False)
@click.option("--file", type=_FILE, help="Read the text from a file; a .json file is read as a JSON state.")
@click.option("--questions", type=_FILE, help="A JSON file {id: question}.")
@click.option("--preset", help="A ready question set: email, guard, moderation, router or triage.")
@click.option("--model", help="A checkpoint by name, directory or Hub id; without it the router chooses.")
@click.option("--lang", help="The language of the text, such as `de`.")
@click.option("--device", help="cpu, cuda, mps or xpu; the best there is by default.")
@click.option("--precision", help="float32, bfloat16, float16 or auto.")
@click.option("--min-confidence", type=_CONFIDENCE, help="Mark answers below this confidence.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole result as JSON.")
@click.option("--batch", type=_FILE, help="Answer a file of JSON lines, each with a state; `-` is standard input.")
@click.option("--output", type=_FILE, help="With --batch: write the results to this file.")
@click.option("--resume", is_flag=True, help="With --batch: continue an --output that was interrupted.")
def predict(
    text: str | None,
    file: Path | None,
    questions: Path | None,
    preset: str | None,
    model: str | None,
    lang: str | None,
    device: str | None,
    precision: str | None,
    min_confidence: float | None,
    as_json: bool,
    batch: Path | None,
    output: Path | None,
    resume: bool,
) -> int:
    """Answer questions about TEXT, which is read from standard input when it is absent or `-`.

    \b
    laya predict "I was charged twice, refund me" --preset triage --model mini
    laya predict --file ticket.txt --questions questions.json --json
    laya predict --batch tickets.jsonl --preset triage --output answers.jsonl
    """
    if batch is not None:
        if text is not None or file is not None:
            raise click.UsageError("with --batch the states come from its file: leave out the text and --file")
        asked = {} if questions is None and preset is None else {"questions": read_questions(questions, preset)}
        controls = {} if min_confidence is None else {"min_confidence": min_confidence}
        return _predict_batch(batch, output, resume, asked, model, lang, controls, _router_options(device, precision))
    if output is not None or resume:
        raise click.UsageError("--output and --resume go with --batch FILE")
    asked = read_questions(questions, preset)
    state = read_state(text, file)
    options = _router_options(device, precision)
    if model is not None and ("/" in model or os.sep in model):
        model, options["models"] = _named_source(model)
    result = _answer(state, asked, model, lang, min_confidence, options)
    if as_json:
        print_json(result)
        return 0
    from laya_router.commands.answers import print_answers

    print_answers(result)
    return 0


def _predict_batch(
    batch: Path,
    output: Path | None,
    resume: bool,
    asked: dict[str, Any],
    model: str | None,
    lang: str | None,
    controls: dict[str, Any],
    options: RouterOptions,
) -> int:
    from laya_hooks.providers import make_router
    from laya_router.commands.batch.run import run_batch

    if model is not None and ("/" in model or os.sep in model):
        model, options["models"] = _named_source(model)
    router = make_router(options)
    if model is not None:
        asked["model"] = model
    if lang is not None:
        asked["lang"] = lang
    with _told_what_is_installed():
        return 1 if run_batch(router, batch, output, resume, asked, controls) else 0


def _named_source(source: str) -> tuple[str, dict[str, Source]]:
    """A name for a directory or Hub id, taken from its last part, and the table entry for it."""
    last = PurePath(source).name.lower()
    name = re.sub(r"[^a-z0-9._-]+", "-", last).lstrip("._-")
    if not name or asks_for_routing(name):
        name = "checkpoint"
    return name, {name: source}


def _router_options(device: str | None, precision: str | None) -> RouterOptions:
    options = RouterOptions(load_options=LoadOptions() if precision is None else LoadOptions(precision=precision))
    if device is not None:
        options["device"] = device
    default = os.environ.get("LAYA_DEFAULT_MODEL", "").strip()
    if default:
        options["default"] = default
    return options


def _answer(
    state: Any,
    questions: dict[str, Any],
    model: str | None,
    lang: str | None,
    min_confidence: float | None,
    options: RouterOptions,
) -> dict[str, Any]:
    from laya_hooks.providers import make_router

    router = make_router(options)
    with _told_what_is_installed(), working("loading and answering"):
        return router.predict(state, questions, model=model, lang=lang, min_confidence=min_confidence)


@contextmanager
def _told_what_is_installed() -> Iterator[None]:
    """When the Hub cannot be reached, tell the options to do without it."""
    from laya_hooks.errors import HubUnreachable

    try:
        yield
    except HubUnreachable as error:
        installed = error.installed
        otherwise = (
            "give a directory as --model" if installed is None else f"use --model {installed}, which is installed"
        )
        raise click.ClickException(error.advising(otherwise)) from error
