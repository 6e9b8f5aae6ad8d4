"""Requests as mappings, the way batches give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_REQUIRED: Final = ("state", "questions")
_KNOWN: Final = (
    *_REQUIRED,
    "request_id",
    "max_len",
    "head_max_len",
    "min_confidence",
    "lang",
    "hooks",
    "on_predict_start",
    "on_predict_end",
    "hooks_raise",
    "hooks_timeout",
)


def check_request(request: object) -> dict[str, Any]:
    """The arguments of `add_request` in a request of a batch.

    Raises:
        TypeError: it is not a mapping.
        ValueError: `state` or `questions` is missing, or a key is unknown.
    """
    if not isinstance(request, Mapping):
        raise TypeError(f"a request must be a mapping with 'state' and 'questions', not {type(request).__name__}")
    for name in _REQUIRED:
        if name not in request:
            raise ValueError(f"the request has no {name!r}; it needs 'state' and 'questions'")
    unknown = [name for name in request if name not in _KNOWN]
    if unknown:
        raise ValueError(f"the request has an unknown key {unknown[0]!r}; known are {', '.join(sorted(_KNOWN))}")
    return dict(request)
