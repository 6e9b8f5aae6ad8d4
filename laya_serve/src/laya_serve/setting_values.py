"""From the text of an environment variable to a value; what cannot be read is a `ValueError` that names the choices."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Final

from laya_hooks.protocols import Source

_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})
_DEVICE: Final = re.compile(r"cpu|mps|(cuda|xpu)(:\d+)?")
_HEADER_TEXT: Final = re.compile(r"[^\x00-\x1f\x7f]+")


def text(value: str) -> str:
    """The text as it is."""
    return value


def switch(value: str) -> bool:
    """1 or 0, and the usual words for them."""
    if value.lower() not in _TRUE | _FALSE:
        raise ValueError("use 1 or 0")
    return value.lower() in _TRUE


def whole(lowest: int, highest: int | None = None) -> Callable[[str], int]:
    """A whole number within bounds."""
    bounds = f"at least {lowest}" if highest is None else f"from {lowest} to {highest}"

    def read(value: str) -> int:
        # Ten digits are beyond every bound here, and int() of thousands of digits would fail in its own words.
        if not value.isascii() or not value.isdigit() or len(value) > 10:
            raise ValueError(f"use a whole number {bounds}")
        number = int(value)
        if number < lowest or (highest is not None and number > highest):
            raise ValueError(f"use a whole number {bounds}")
        return number

    return read


def seconds(value: str) -> float:
    """A finite number of seconds, 0 or more."""
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise ValueError("use a number of seconds, 0 or more")
    return number


def seconds_above_zero(value: str) -> float:
    """A finite number of seconds above 0."""
    number = seconds(value)
    if number == 0:
        raise ValueError("use a number of seconds above 0")
    return number


def one_of(*choices: str) -> Callable[[str], str]:
    """One of some words, in any case."""

    def read(value: str) -> str:
        if value.lower() not in choices:
            raise ValueError(f"use one of {', '.join(choices)}")
        return value.lower()

    return read


def device(value: str) -> str | None:
    """A device name; "auto" is None, the best there is."""
    name = value.lower()
    if name == "auto":
        return None
    if not _DEVICE.fullmatch(name):
        raise ValueError("use auto, cpu, mps, cuda, cuda:N, xpu or xpu:N")
    return name


def strictness(value: str) -> str:
    """The wire mode: "0", "1" or "contract"."""
    if value.lower() == "contract":
        return "contract"
    try:
        return "1" if switch(value) else "0"
    except ValueError:
        raise ValueError("use 0, 1 or contract") from None


def group_size(value: str) -> int:
    """0, or a number of options that can be narrowed."""
    number = whole(0, 100)(value)
    if number == 1:
        raise ValueError("use 0 (off) or a whole number from 2 to 100")
    return number


def header_text(value: str) -> str:
    """Text that a header can carry."""
    if not _HEADER_TEXT.fullmatch(value):
        raise ValueError("use text without control characters")
    return value


def path_prefix(value: str) -> str:
    """A path without its last slash."""
    if not value.startswith("/"):
        raise ValueError("use a path that begins with /")
    return value.rstrip("/")


def names(value: str) -> tuple[str, ...] | None:
    """Names with commas; "all" is None."""
    listed = tuple(name.strip() for name in value.split(",") if name.strip())
    return None if listed in ((), ("all",)) else listed


def sources(value: str) -> dict[str, Source]:
    """JSON {name: source or [repo, subfolder]}."""
    try:
        given = json.loads(value)
    except (ValueError, RecursionError) as error:
        place = f": {error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        raise ValueError(f"not JSON{place}") from None
    if not isinstance(given, dict):
        raise ValueError('use JSON {"name": source or [repo, subfolder]}')
    return {name: _source(name, source) for name, source in given.items()}


def _source(name: str, source: object) -> Source:
    match source:
        case str():
            return source
        case [str(repo), str() | None as subfolder]:
            return repo, subfolder
    raise ValueError(f"the source of {name!r} is a string or [repo, subfolder], not {json.dumps(source)}")
