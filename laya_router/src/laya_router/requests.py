"""One request as the router works with it: read and checked once, before anything is routed or loaded."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeAlias

import attrs

from laya_hooks.suggestions import did_you_mean, not_questions

LangGuess: TypeAlias = str | Callable[[Any], str | None]
"""A language code, or a callable that reads the state and returns one or None."""


def _check_state(_: object, __: object, state: object) -> None:
    if state is None:
        raise TypeError("the state is None; give the text or the JSON value the questions are about")


def _check_questions(_: object, __: object, questions: object) -> None:
    if not isinstance(questions, Mapping):
        raise TypeError(not_questions(questions))


def _check_text(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value is not None and not isinstance(value, str):
        raise TypeError(f"{attribute.name} is a string, not {type(value).__name__}")


def check_lang_guess(_: object, __: object, value: Any) -> None:
    """An attrs validator: refuse a language guess that is neither a code nor a callable nor None."""
    if value is not None and not isinstance(value, str) and not callable(value):
        raise TypeError(f"lang_guess is a language code or a callable, not {type(value).__name__}")


def _check_budget(_: object, attribute: attrs.Attribute[Any], value: object) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{attribute.name} is a number of tokens, not {value!r}")
    if value < 1:
        raise ValueError(f"{attribute.name} is a number of tokens of at least 1, not {value}")


@attrs.frozen(eq=False)
class RouteRequest:
    """A state, its questions, and what the caller says about both; token budgets are in tokens."""

    state: Any = attrs.field(validator=_check_state)
    questions: Mapping[Any, Any] = attrs.field(validator=_check_questions)
    model: str | None = attrs.field(default=None, validator=_check_text)
    task: str | None = attrs.field(default=None, validator=_check_text)
    lang: str | None = attrs.field(default=None, validator=_check_text)
    lang_guess: LangGuess | None = attrs.field(default=None, validator=check_lang_guess)
    max_len: int | None = attrs.field(default=None, validator=_check_budget)
    head_max_len: int | None = attrs.field(default=None, validator=_check_budget)


_KEYS: Final = tuple(field.name for field in attrs.fields(RouteRequest))


def parse_requests(requests: Sequence[Mapping[str, Any]], beside: Sequence[str] = ()) -> list[RouteRequest]:
    """Read the requests of a batch.

    Args:
        beside: keys that the caller takes out before; an unknown key is told that there are these too.

    Raises:
        TypeError, ValueError: one of them cannot be read; the message names its index.
    """
    if isinstance(requests, str | bytes | Mapping) or not isinstance(requests, Sequence):
        raise TypeError(f"requests are a list of mappings, not {type(requests).__name__}")
    return [_parse(index, request, (*_KEYS, *beside)) for index, request in enumerate(requests)]


@contextmanager
def naming(index: int) -> Iterator[None]:
    """Put the index of a request in front of what is wrong with it."""
    try:
        yield
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"requests[{index}]: {error}") from error


def _parse(index: int, request: Mapping[str, Any], keys: Sequence[str]) -> RouteRequest:
    if not isinstance(request, Mapping):
        raise TypeError(f"requests[{index}] is a mapping with state and questions, not {type(request).__name__}")
    missing = [key for key in ("state", "questions") if key not in request]
    if missing:
        raise ValueError(f"requests[{index}] lacks {' and '.join(missing)}")
    unknown = [key for key in request if key not in _KEYS]
    if unknown:
        known = f"it may have {', '.join(keys)}{did_you_mean(unknown[0], keys)}"
        raise ValueError(f"requests[{index}] has the unknown key {unknown[0]!r}; {known}")
    with naming(index):
        return RouteRequest(**request)
