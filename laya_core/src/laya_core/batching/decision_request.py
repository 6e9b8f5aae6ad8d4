"""A request of `add_request`: rows of a hooked call whose end is told by the delivery thread."""

from __future__ import annotations

from contextvars import Context
from queue import SimpleQueue
from time import perf_counter
from typing import Any, TypeAlias

from laya_core.prepared import PreparedCall
from laya_core.timings import record_timings
from laya_hooks.lifecycle import HookedCall

from .request import DecisionOutput
from .rows import RowRequest

Event: TypeAlias = "tuple[DecisionRequest, int | None]"
"""A row that is done, by its number, or None for the end of the request."""


class DecisionRequest(RowRequest):
    """One state and its questions, with the hooks and the context of whoever added it.

    Args:
        request_id: its id.
        call: the started call, whose start hooks ran.
        prepared: its rows; None when a start hook supplied the results.
        context: the contextvars in which its end hooks run.
        events: where the delivery thread hears of it.
        streaming: tell of every row.
        record_timestamps: note when each row was done.
        with_log_probs: outputs carry log probabilities.
    """

    __slots__ = (
        "_call",
        "_context",
        "_events",
        "_prepared",
        "_row_times",
        "_streaming",
        "_with_log_probs",
        "request_id",
    )

    def __init__(
        self,
        request_id: str,
        call: HookedCall,
        prepared: PreparedCall | None,
        context: Context,
        events: SimpleQueue[Event | None],
        *,
        streaming: bool = False,
        record_timestamps: bool = False,
        with_log_probs: bool = False,
    ) -> None:
        super().__init__(() if prepared is None else prepared.rows)
        self.request_id = request_id
        self._call = call
        self._prepared = prepared
        self._context = context
        self._events = events
        self._streaming = streaming
        self._row_times: dict[Any, float] | None = {} if record_timestamps else None
        self._with_log_probs = with_log_probs

    def on_row(self, index: int) -> None:
        if self._row_times is not None and self._prepared is not None:
            self._row_times[self._prepared.question_id(index)] = perf_counter()
        if self._streaming:
            self._events.put((self, index))

    def on_end(self) -> None:
        self._events.put((self, None))

    def output_of_row(self, index: int) -> DecisionOutput:
        """The output of one question that is scored, on the delivery thread."""
        prepared, scores = self._prepared, self.scores[index]
        assert prepared is not None and scores is not None
        qid = prepared.question_id(index)
        return DecisionOutput(
            self.request_id,
            "running",
            result=prepared.result_of_row(index, scores),
            question=qid,
            created_at=self.created_at,
            scheduled_at=self.scheduled_at,
            timestamps=None if self._row_times is None else {qid: self._row_times[qid]},
        )

    def conclude(self) -> DecisionOutput:
        """Run the end hooks in the context of the caller, on the delivery thread, and return the final output."""
        return self._context.run(self._conclude)

    def _conclude(self) -> DecisionOutput:
        ctx, error, log_probs = self._call.ctx, self.error, None
        if self.scheduled_at is not None and self.finished_at is not None:
            record_timings(
                ctx, queue=self.scheduled_at - self.queued_at, inference=self.finished_at - self.scheduled_at
            )
        try:
            if error is None and self._prepared is not None:
                scores = [score for score in self.scores if score is not None]
                ctx.results = self._prepared.results(scores)
                if self._with_log_probs:
                    log_probs = self._prepared.log_probs(scores)
        except Exception as failure:
            error = failure
        result = None
        if error is not None:
            error = self._call.fail(error)
        else:
            try:
                self._call.succeed()
                result = first_result(ctx.results)
            except BaseException as failure:  # KeyboardInterrupt of a hook, too: it belongs to the request
                error = failure
        status = self.status if self.status != "finished" or error is None else "failed"
        return DecisionOutput(
            self.request_id,
            status,
            result=result,
            error=error,
            created_at=self.created_at,
            scheduled_at=self.scheduled_at,
            finished_at=self.finished_at,
            timestamps=self._row_times,
            log_probs=log_probs if error is None else None,
        )


def first_result(results: list[dict[str, Any]] | None) -> dict[str, Any]:
    """The result of a call about one state.

    Raises:
        ValueError: hooks left none.
    """
    if not results:
        raise ValueError("a hook left no state or no result of this call; predict needs one of each")
    return results[0]
