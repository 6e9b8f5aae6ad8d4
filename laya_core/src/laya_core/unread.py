"""Questions of which the token budgets leave a part unread: told once per question of an agent, as a warning.

The usage of a result tells what of a state was cut; what it says of questions is fixed by the published format.
"""

from __future__ import annotations

import sys
import warnings
from functools import lru_cache
from typing import Final

from attrs import frozen

_REMEMBERED: Final = 1024
_OUR_PACKAGES: Final = frozenset({"laya", "laya_core", "laya_hooks", "laya_router", "laya_serve"})


@frozen
class Unread:
    """What of one question is read, in tokens.

    Args:
        head, head_read: its type and instructions, and what of them is read.
        options, options_cut: how many options it has, and how many of them are not read to their end.
        option_read: the most that is read of one of these, its marker aside.
        head_max_len, max_len: the budgets.
        more_would_be_read: whether larger budgets change anything.
    """

    head: int
    head_read: int
    options: int
    options_cut: int
    option_read: int
    head_max_len: int
    max_len: int
    more_would_be_read: bool

    def __str__(self) -> str:
        parts = []
        if self.head_read < self.head:
            parts.append(f"{self.head_read} of {self.head} tokens of its type and instructions are read")
        if self.options_cut:
            parts.append(f"{self.options_cut} of {self.options} options are cut to {self.option_read} tokens")
        budgets = f"head_max_len={self.head_max_len}, max_len={self.max_len}"
        advice = "shorten it, or give larger budgets" if self.more_would_be_read else "shorten it"
        return f"{' and '.join(parts)} ({budgets}); {advice}"


class UnreadWarnings:
    """Warns of each question once, or each time where warnings are errors; of many the oldest are forgotten."""

    def __init__(self) -> None:
        self._told = lru_cache(maxsize=_REMEMBERED)(_warn)

    def tell(self, qid: object, unread: Unread) -> None:
        """Warn of the question, unless that was done."""
        self._told(qid, unread)


def _warn(qid: object, unread: Unread) -> None:
    filename, line, module = _caller()
    message = f"question {qid!r} is not read whole: {unread}"
    # Without a registry, which would keep every text there ever was.
    warnings.warn_explicit(message, RuntimeWarning, filename, line, module, registry=None)


def _caller() -> tuple[str, int, str]:
    """File, line and module of the innermost code that is not ours."""
    frame = sys._getframe(1)
    while frame.f_back is not None and _package(frame.f_globals) in _OUR_PACKAGES:
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno, str(frame.f_globals.get("__name__", "laya_core"))


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
