"""Long documents: where the windows lie, and how their answers become one."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import frozen

_LEAST_WINDOW: Final = 64
_SPARE_TOKENS: Final = 8
_SUMMED: Final = ("input_tokens", "output_tokens", "state_tokens", "state_tokens_dropped")


@frozen
class Window:
    """Tokens `token_start` to `token_end` (exclusive) of the document."""

    token_start: int
    token_end: int


@frozen
class WindowSize:
    """Tokens of a window, and from the start of one window to the start of the next."""

    length: int
    stride: int


def window_size(
    room: int, max_len: int, head_max_len: int, window: int | None = None, stride: int | None = None
) -> WindowSize:
    """The size of windows for questions that leave `room` tokens for a state.

    Args:
        window: tokens asked for; None means max(64, max_len - head_max_len - 8), at most the room.
        stride: tokens asked for; None means half a window.

    Raises:
        ValueError: the questions leave no room, a size is not a positive whole number, or the stride would skip text.
    """
    if room < 1:
        raise ValueError(f"the questions leave no room for a state within max_len={max_len}; shorten them")
    for name, value in (("window", window), ("stride", stride)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
            raise ValueError(f"{name} must be a positive whole number of tokens, not {value!r}")
    asked = window or max(_LEAST_WINDOW, max_len - head_max_len - _SPARE_TOKENS)
    length = min(asked, room)
    if window is not None and window > room:
        _warn(f"window={window} is wider than the {room} tokens the questions leave; using {room}")
    if stride is None:
        return WindowSize(length, max(1, length // 2))
    if stride > asked:
        raise ValueError(
            f"stride={stride} is wider than the window of {asked} tokens; text between windows would be lost"
        )
    if stride > length:
        _warn(f"stride={stride} is wider than the window, now {length} tokens; using {max(1, length // 2)}")
        return WindowSize(length, max(1, length // 2))
    return WindowSize(length, stride)


def cut_windows(tokens: int, size: WindowSize) -> list[Window]:
    """Windows that cover `tokens` tokens; the last one ends with the document."""
    windows = [Window(0, min(size.length, tokens))]
    while windows[-1].token_end < tokens:
        start = windows[-1].token_start + size.stride
        windows.append(Window(start, min(start + size.length, tokens)))
    return windows


def merge_windows(results: Sequence[Mapping[str, Any]], windows: Sequence[Window] | None) -> dict[str, Any]:
    """One result for a document from the results of its windows.

    A yes/no answer comes from the window with the highest probability of yes, any other from the window with the
    highest answer_confidence.

    Args:
        results: one per window, in order.
        windows: the spans they answer for, or None when the scored texts are not those spans.
    """
    first = results[0]
    answers = {}
    for qid in first["answers"]:
        deciding = max(range(len(results)), key=lambda index: _evidence(results[index]["answers"][qid]))
        answer = dict(results[deciding]["answers"][qid])
        if windows is not None:
            span = windows[deciding]
            answer["window"] = {
                "index": deciding,
                "token_start": span.token_start,
                "token_end": span.token_end,
                "count": len(windows),
            }
        answers[qid] = answer
    return {
        **first,
        "answers": answers,
        "usage": _merged_usage([result.get("usage", {}) for result in results]),
    }


def with_window_count(result: Mapping[str, Any], windows: int) -> dict[str, Any]:
    """`result` with the number of windows the model read in its usage."""
    return {**result, "usage": {**result.get("usage", {}), "windows": windows}}


def _evidence(answer: Mapping[str, Any]) -> float:
    return float(answer["noul"] if answer["type"] == "noul" else answer["answer_confidence"])


def _merged_usage(usages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    merged: dict[str, Any] = {name: sum(usage.get(name, 0) for usage in usages) for name in _SUMMED}
    merged["truncated"] = sum(bool(usage.get("truncated")) for usage in usages)
    merged["truncated_questions"] = list(usages[-1].get("truncated_questions", ()))
    options = {qid: record for usage in usages for qid, record in usage.get("options", {}).items()}
    return {**merged, "options": options} if options else merged


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)
