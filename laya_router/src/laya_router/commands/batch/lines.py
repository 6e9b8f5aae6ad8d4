"""The input: one request a line, read as it is needed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from attrs import field, frozen

from laya_router.commands.strict_json import loads
from laya_router.requests import parse_requests

_MOST_KEYS: Final = 8


@frozen
class Line:
    """A line of the input: the request in it, or what is wrong with it; `label` holds the `id` it was given, if any."""

    number: int
    size: int
    request: dict[str, Any] | None = None
    error: str | None = None
    label: Mapping[str, Any] = field(factory=dict)


def read_lines(source: Iterable[bytes], defaults: Mapping[str, Any], skip: int = 0) -> Iterator[Line]:
    """Read requests.

    Args:
        source: the lines of the input.
        defaults: keys of a request for the lines that lack them.
        skip: how many lines were answered before.

    Raises:
        ValueError: there are fewer lines than `skip`.
    """
    number = 0
    for number, raw in enumerate(source, 1):
        if number > skip:
            yield _line(number, raw, defaults)
    if number < skip:
        raise ValueError(f"the output has {skip} lines, but the input only {number}; it is the output of another input")


def chunks(lines: Iterable[Line], most_lines: Callable[[], int], most_bytes: int) -> Iterator[list[Line]]:
    """Put lines together, up to a number of them or of their bytes; a longer line is a chunk by itself.

    Args:
        most_lines: tells the number, and may tell another one for the next chunk.
    """
    chunk: list[Line] = []
    size = 0
    for line in lines:
        if chunk and (len(chunk) >= most_lines() or size + line.size > most_bytes):
            yield chunk
            chunk, size = [], 0
        chunk.append(line)
        size += line.size
    if chunk:
        yield chunk


def brings_questions(raw: bytes) -> bool:
    """Whether a line has questions of its own."""
    try:
        return "questions" in _object(raw)
    except (ValueError, RecursionError):
        return False


def _line(number: int, raw: bytes, defaults: Mapping[str, Any]) -> Line:
    label = {}
    try:
        given = _object(raw)
        if "id" in given:
            label["id"] = given.pop("id")
        return Line(number, len(raw), request=_request(given, defaults), label=label)
    except (TypeError, ValueError, RecursionError) as error:
        return Line(number, len(raw), error=_told(error), label=label)


def _object(raw: bytes) -> dict[str, Any]:
    text = raw.decode("utf-8-sig")
    if not text.strip():
        raise ValueError("the line is empty")
    given = loads(text)
    if not isinstance(given, dict):
        raise ValueError(f"a line is a JSON object with a state, not {_kind(given)}")
    return given


def _request(given: dict[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    if "state" not in given:
        keys = ", ".join(map(repr, islice(given, _MOST_KEYS)))
        more = ", …" if len(given) > _MOST_KEYS else ""
        raise ValueError(f"it has no state; its keys are {keys}{more}" if given else "it has no state")
    request = {**defaults, **given}
    if "questions" not in request:
        raise ValueError("it has no questions; put them into the line, or give --questions or --preset")
    parse_requests([request], beside=("id",))
    return request


def _told(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: column {error.colno}: {error.msg}"
    if isinstance(error, UnicodeDecodeError):
        return f"not UTF-8 text: {error.reason} at byte {error.start}"
    if isinstance(error, RecursionError):
        return "its JSON is nested too deeply"
    return without_index(error)


def without_index(error: Exception) -> str:
    """The message of an error about a batch of one request, without the index."""
    text = str(error) or type(error).__name__
    return text.removeprefix("requests[0]: ").removeprefix("requests[0] ")


def _kind(value: object) -> str:
    return {list: "an array", str: "a string", bool: "true or false", type(None): "null"}.get(type(value), "a number")
