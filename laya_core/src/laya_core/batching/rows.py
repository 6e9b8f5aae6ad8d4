"""Requests on their way through the engine: rows in, scores out, and who is told when they end."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from time import perf_counter
from typing import TYPE_CHECKING

from attrs import frozen

from .request import RequestStatus

if TYPE_CHECKING:
    from laya_core.decoding import RowScores
    from laya_core.prompt import Row


class RowTicket:
    """One row's place in the queue and in a pass."""

    __slots__ = ("index", "owner")

    def __init__(self, owner: RowRequest, index: int) -> None:
        self.owner = owner
        self.index = index

    @property
    def row(self) -> Row:
        """What the model scores."""
        return self.owner.rows[self.index]

    @property
    def length(self) -> int:
        """Tokens of the row."""
        return len(self.owner.rows[self.index])

    @property
    def arrived(self) -> float:
        """When it was queued, in `perf_counter` seconds."""
        return self.owner.queued_at


class RowRequest:
    """Rows that are answered together. The engine's lock guards every field but `rows`.

    Args:
        rows: what is to be scored, in order.
    """

    __slots__ = (
        "__weakref__",
        "created_at",
        "error",
        "finished_at",
        "left",
        "queued",
        "queued_at",
        "rows",
        "scheduled_at",
        "scores",
        "status",
        "tickets",
    )

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = rows
        self.scores: Sequence[RowScores | None] = ()  # a list once the first row is scored
        self.left = len(rows)
        self.queued = 0
        self.tickets: Sequence[RowTicket] = ()
        self.status: RequestStatus = "waiting"
        self.error: BaseException | None = None
        self.created_at = self.queued_at = perf_counter()  # `queued_at` is set anew when it is queued later
        self.scheduled_at: float | None = None
        self.finished_at: float | None = None

    @property
    def has_ended(self) -> bool:
        """Whether its final status is known."""
        return self.finished_at is not None

    def on_row(self, index: int) -> None:
        """Called when a row is scored; holds the engine's lock, so it must not block."""

    def on_end(self) -> None:
        """Called once, when the final status is known; holds the engine's lock, so it must not block."""


class AwaitedRows(RowRequest):
    """Rows of a caller that waits for them in its own thread."""

    __slots__ = ("_ended",)

    def __init__(self, rows: Sequence[Row]) -> None:
        super().__init__(rows)
        self._ended = Lock()  # lighter than an Event: one of them is made for every call
        self._ended.acquire()

    def on_end(self) -> None:
        self._ended.release()

    def wait(self) -> list[RowScores]:
        """Block until the rows have ended, and return their scores.

        Raises:
            BaseException: what the request failed with.
        """
        self._ended.acquire()
        error, self.error = self.error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # it refers to this frame through its traceback
        return [score for score in self.scores if score is not None]


@frozen
class ScoredRows:
    """Scores of a call's rows, and the seconds it waited for its first pass and was in passes."""

    scores: Sequence[RowScores]
    queue: float
    inference: float
