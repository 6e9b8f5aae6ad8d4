"""What a caller may have meant by something that cannot be used; the endings of error messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches


def closest(name: object, known: Iterable[str]) -> str | None:
    """The known name that `name` looks like a misspelling of, upper and lower case aside; None where none is close."""
    if not isinstance(name, str):
        return None
    return next(iter(get_close_matches(name.strip().lower(), list(known), n=1)), None)


def did_you_mean(name: object, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: "; did you mean 'noul'?", or nothing."""
    meant = closest(name, known)
    return "" if meant is None else f"; did you mean {meant!r}?"


def not_questions(given: object) -> str:
    """The message about something given as questions that is no mapping: its type, and what to do with it."""
    message = f"questions must be a mapping of question id to question, not {type(given).__name__}"
    if isinstance(given, list | tuple):
        return f"{message}; give each of them an id: {{id: question}}"
    if isinstance(getattr(given, "questions", None), Mapping):
        return f"{message}; pass its .questions"
    return message
