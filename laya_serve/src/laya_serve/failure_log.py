"""Failures in the log: what broke and where, without the texts of a request and on one escaped line."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, Final

from laya_hooks.errors import HubUnreachable

logger = logging.getLogger("laya.serve")

_LONGEST_MESSAGE: Final = 500
_SHORTEST_TEXT: Final = 3
_MOST_FRAMES: Final = 8
_CONTENT: Final = ("state", "states", "questions")
# The format's own words may stand in any message; they are nobody's text.
_FORMAT_WORDS: Final = frozenset(
    {"type", "choice", "score", "noul", "instructions", "criteria", "labels", "true", "false", "option_order"}
)


def log_failure(error: BaseException, body: Mapping[str, Any] | None = None) -> None:
    """Log the types, messages and innermost frames of an error and its causes.

    Args:
        body: the request it happened with; its texts are cut out of the messages.
    """
    logger.error("inference failed: %s", "; caused by ".join(_described(error, body or {})))


def log_out_of_reach(error: HubUnreachable, body: Mapping[str, Any]) -> None:
    """Log in one line which checkpoint a request needed and why it is not here; nothing of the server broke."""
    logger.warning("answered 503: %s", one_line(without_texts(error.advising(), body)))


def _described(error: BaseException, body: Mapping[str, Any]) -> Iterator[str]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        frames = traceback.extract_tb(link.__traceback__)[-_MOST_FRAMES:]
        places = [f"{_short(frame.filename)}:{frame.lineno}" for frame in frames]
        # The log is read by whoever runs the server, who has no call to change.
        told = link.advising() if isinstance(link, HubUnreachable) else str(link)
        message = one_line(without_texts(told, body))
        yield f"{type(link).__name__}: {message} [{' > '.join(places) or 'no frames'}]"
        link = link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def without_texts(message: str, body: Mapping[str, Any]) -> str:
    """A message with the texts of a request cut out, in whichever way they were quoted."""
    texts = {text for key in _CONTENT for text in _texts(body.get(key))} - _FORMAT_WORDS
    forms = {form for text in texts if len(text) >= _SHORTEST_TEXT for form in _quoted(text)}
    # The longest first, so that a text is not left over in pieces of the shorter ones it contains.
    for form in sorted(forms, key=len, reverse=True):
        message = message.replace(form, "…")
    return message


def one_line(text: str) -> str:
    """Text as printable ASCII on one line, cut when it is long."""
    escaped = text.encode("unicode_escape").decode("ascii")
    return escaped if len(escaped) <= _LONGEST_MESSAGE else f"{escaped[:_LONGEST_MESSAGE]}..."


def _short(path: str) -> str:
    return "/".join(PurePath(path).parts[-2:])


def _quoted(text: str) -> tuple[str, ...]:
    return text, repr(text)[1:-1], json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]


def _texts(value: object) -> Iterator[str]:
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, Mapping):
            pending.extend(item)
            pending.extend(item.values())
        elif isinstance(item, list | tuple):
            pending.extend(item)
