"""What callers of the batching engine get: the output of one request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

from attrs import frozen

RequestStatus: TypeAlias = Literal["waiting", "running", "finished", "cancelled", "failed"]

FINAL_STATUSES: Final[frozenset[RequestStatus]] = frozenset({"finished", "cancelled", "failed"})


@frozen(eq=False)
class DecisionOutput:
    """The output of one request: the final one, or with streaming also one for each answered question.

    Args:
        request_id: the id `add_request` returned.
        status: "running" for the output of a single question, otherwise how the request ended.
        result: the normal result; for a single question it holds that answer alone. None if there is none.
        error: why the request failed or was cancelled.
        question: the id of the question a streamed output is about; None for the final output.
        created_at, scheduled_at, finished_at: `time.perf_counter()` seconds at which the request was added, the
            first of its rows entered a pass, and its last row was done; None for what did not happen.
        timestamps: with `record_timestamps`, question id to the second at which its row was done.
        log_probs: with `return_logprobs`, question id to the logarithms of the calibrated probabilities, in the
            order of the options (false, true for yes/no questions).
    """

    request_id: str
    status: RequestStatus
    result: dict[str, Any] | None = None
    error: BaseException | None = None
    question: Any = None
    created_at: float | None = None
    scheduled_at: float | None = None
    finished_at: float | None = None
    timestamps: Mapping[Any, float] | None = None
    log_probs: Mapping[Any, tuple[float, ...]] | None = None

    def is_finished(self) -> bool:
        """Whether this is the last output of its request, however it ended."""
        return self.status in FINAL_STATUSES
