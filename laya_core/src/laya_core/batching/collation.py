"""Collating the next pass while one runs, where that is wanted."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeAlias

from .scoring import PreparedPass

Prepare: TypeAlias = Callable[[], list[PreparedPass]]
"""Takes the rows of the next pass, and collates them."""


class Collator:
    """Has passes prepared one by one, in the thread that asks or ahead of time in one of its own.

    What prepares them is given with each call, so that nothing here keeps an engine alive.
    The engine's lock guards `has_pass`, `prepare_ahead` and `end`.

    Args:
        ahead: use a thread, from `start` on.
    """

    def __init__(self, ahead: bool) -> None:
        self._wants_thread = ahead
        self._thread: ThreadPoolExecutor | None = None
        self._ended: ThreadPoolExecutor | None = None
        self._ahead: Future[list[PreparedPass]] | None = None

    @property
    def has_pass(self) -> bool:
        """Whether a pass was prepared, or is being prepared, ahead of time."""
        return self._ahead is not None

    def start(self) -> None:
        """Begin a thread where one is wanted."""
        if self._wants_thread:
            self._thread = ThreadPoolExecutor(1, "laya-collate")

    def next_pass(self, prepare: Prepare) -> list[PreparedPass]:
        """The next pass: the one that was prepared ahead, or what `prepare` gives."""
        ahead, self._ahead = self._ahead, None
        return prepare() if ahead is None else ahead.result()

    def prepare_ahead(self, prepare: Prepare) -> None:
        """Prepare the pass after the next one, if there is a thread for it."""
        if self._thread is not None:
            self._ahead = self._thread.submit(prepare)

    def drop(self) -> None:
        """Forget the pass that was prepared ahead, once nothing works on it any more."""
        ahead, self._ahead = self._ahead, None
        if ahead is not None:
            ahead.exception()

    def end(self) -> None:
        """Let the thread come to its end; `join` waits for it."""
        if self._thread is not None:
            self._thread.shutdown(wait=False)
            self._ended, self._thread = self._thread, None

    def join(self) -> None:
        """Wait for the thread that was ended last."""
        if self._ended is not None:
            self._ended.shutdown()
