"""What `laya predict` reads: the state and the questions."""

from __future__ import annotations

import json
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Any, cast

import click

from laya_router.commands.strict_json import loads


def read_state(text: str | None, file: Path | None) -> Any:
    """The state from the argument, a file (JSON if its name ends so) or standard input.

    Raises:
        click.UsageError: there is none, or there are two.
        ValueError: a JSON file is not JSON.
        OSError: the file cannot be read.
    """
    if file is not None and text is not None:
        raise click.UsageError("give the text as an argument or with --file, not both")
    if file is not None:
        return read_json(file) if file.suffix.lower() == ".json" else _required(_read(file), str(file))
    if text is not None and text != "-":
        return _required(_decoded_argument(text), "the argument")
    if text is None and sys.stdin.isatty():
        raise click.UsageError("there is no text: give it as an argument, with --file, or on standard input")
    return _required(_standard_input(), "standard input")


def read_questions(file: Path | None, preset: str | None) -> dict[str, Any]:
    """The questions from a JSON file or a preset.

    Raises:
        click.UsageError: there are none, or both.
        ValueError: the file is not a JSON object of questions or holds none, or nobody knows the preset.
        OSError: the file cannot be read.
    """
    if file is not None and preset is not None:
        raise click.UsageError("give the questions with --questions or with --preset, not both")
    if preset is not None:
        from laya_router import presets

        return presets.load(preset).questions
    if file is None:
        raise click.UsageError("give the questions with --questions FILE or --preset NAME (see `laya presets`)")
    questions = read_json(file)
    problem = _problem(questions)
    if problem is not None:
        raise ValueError(f"{file}: {problem}")
    return cast("dict[str, Any]", questions)


def _problem(questions: object) -> str | None:
    """What keeps a value from being questions; what a question lacks is told by who reads it."""
    if not isinstance(questions, dict):
        return "questions are a JSON object {id: question}; `laya presets triage` prints one"
    if not questions:
        return "there are no questions in it; `laya presets triage` prints some"
    if isinstance(questions.get("type"), str) and "instructions" in questions:
        return 'this is a question without an id; put it into an object, {"my question": {"type": …}}'
    for name, question in questions.items():
        surrogate = _first_surrogate(name)
        if surrogate is not None:
            return f"the id {name!r} has an unpaired surrogate at {surrogate}, which is no character; remove it"
        if not isinstance(question, dict):
            example = question if isinstance(question, str) and question.strip() else "Is it urgent?"
            shown = json.dumps({"type": "noul", "instructions": example}, ensure_ascii=False)
            return f"the question {name!r} has to be an object, such as {shown}"
    return None


def read_json(file: Path) -> Any:
    """The value in a JSON file.

    Raises:
        ValueError: it is not JSON; the message names file and line.
        OSError: it cannot be read.
    """
    text = _read(file)
    try:
        return loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{file}: not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise ValueError(f"{file}: its JSON is nested too deeply") from error
    except ValueError as error:  # a number that is none, or too large, or of thousands of digits
        raise ValueError(f"{file}: not usable as JSON: {error}") from error


def _decoded_argument(text: str) -> str:
    # What of an argument is no text in the locale's encoding, Python hands on as surrogates.
    surrogate = _first_surrogate(text)
    if surrogate is not None:
        raise ValueError(f"the argument: not {sys.getfilesystemencoding()} text: invalid byte at character {surrogate}")
    return text


def _first_surrogate(text: str) -> int | None:
    """Where the first unpaired surrogate is, counted from 0."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        return error.start
    return None


def _standard_input() -> str:
    if isinstance(sys.stdin, TextIOWrapper):
        sys.stdin.reconfigure(errors="strict")  # in the C locale bytes that are no text would pass
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise ValueError(f"standard input: not {error.encoding} text: {error.reason} at byte {error.start}") from error


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{file}: not UTF-8 text: {error.reason} at byte {error.start}") from error


def _required(text: str, origin: str) -> str:
    if not text.strip():
        raise click.UsageError(f"there is no text in {origin}")
    return text
