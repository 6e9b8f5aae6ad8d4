"""JSON on the wire: strict UTF-8 in, compact UTF-8 out."""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from starlette.responses import Response

from laya_serve.refused import Refused

DEEPEST: Final = 64
"""Levels of nesting that a body may have."""

_SURROGATE_ESCAPE: Final = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF: Final = re.compile("[\ud800-\udfff]")


class JsonResponse(Response):
    """A response whose content is dumped by `dump`."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return dump(content)


def dump(value: object) -> bytes:
    """A value as compact JSON.

    Raises:
        ValueError: it holds NaN or an infinity.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def parse(raw: bytes) -> Any:
    """The value of a JSON body. Of equal keys the last wins.

    Raises:
        Refused: 400, it is not UTF-8 or not JSON, nests too deeply, or holds a number nothing can carry.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise Refused(400, f"the body is not UTF-8 (byte {error.start}); send JSON as UTF-8, uncompressed") from None
    try:
        value = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise Refused(400, f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise Refused(400, f"the body is not JSON: {error}") from None
    # A text with few brackets cannot be deep, so that most bodies need no walk.
    if text.count("[") + text.count("{") > DEEPEST:
        _refuse_depth(value)
    return value


def may_hold_surrogates(raw: bytes) -> bool:
    """Whether a body has an escape that could be half of a pair."""
    return _SURROGATE_ESCAPE.search(raw) is not None


def refuse_surrogates(value: object) -> None:
    """Refuse an unpaired surrogate anywhere: valid JSON as an escape, but no UTF-8 can carry it.

    Raises:
        Refused: 400.
    """
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if _HALF.search(item):
                raise Refused(400, "the body holds an unpaired surrogate: one half of a pair such as \\ud83d\\ude00")
        elif isinstance(item, dict):
            pending.extend(item)
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)


def _refuse_depth(value: object) -> None:
    level = [value]
    for _ in range(DEEPEST + 1):
        level = [
            child
            for item in level
            if isinstance(item, dict | list)
            for child in (item.values() if isinstance(item, dict) else item)
        ]
        if not level:
            return
    raise _too_deep()


def _too_deep() -> Refused:
    return Refused(400, f"the body nests more than {DEEPEST} levels deep")


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number is too large")
    return number
