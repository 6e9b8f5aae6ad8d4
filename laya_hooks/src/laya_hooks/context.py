"""The object every hook of a call receives."""

from __future__ import annotations

from random import Random
from time import perf_counter
from typing import Any, Final

import attrs

from .locks import after_fork_in_child

_UUID4_MASK: Final = ~((0xF << 76) | (0x3 << 62))
_UUID4_BITS: Final = (0x4 << 76) | (0x2 << 62)


# A generator of its own, so that `random.seed` in a program does not make run ids repeat, nor a fork.
_random: Final = Random()
after_fork_in_child(_random.seed)


def new_run_id() -> str:
    """Return a random UUID (version 4) as 32 hexadecimal digits; unique, but not a secret."""
    # The hot path of every call: `uuid.uuid4().hex` gives the same at several times the cost.
    return "%032x" % (_random.getrandbits(128) & _UUID4_MASK | _UUID4_BITS)


@attrs.define(eq=False, slots=False)
class PredictContext:
    """One public call, mutable, compared by identity; a hook may keep attributes of its own on it.

    Args:
        states: what is asked about, one entry per result.
        questions: question id to question.
        run_id: identifies the call in start, error and end.
        results: one result per state once known; set by `skip` or by inference.
        decision: the routing decision; `on_route` may replace it.
        model: model id of the agent, or the resolved checkpoint name of the router.
        max_len, head_max_len: token budgets of this call; None means the checkpoint's own.
        usage: token counts of the results, from `on_predict_end` on.
        started_at: `time.perf_counter()` seconds.
        elapsed_ms: milliseconds since `started_at`, from `on_predict_end` on.
        error: what made the call fail, in `on_error` and `on_predict_end`.
        timings: milliseconds by stage (`tokenize`, `queue`, `inference`) as far as they are known.
    """

    states: list[Any]
    questions: dict[str, Any]
    run_id: str = attrs.field(factory=new_run_id)
    results: list[dict[str, Any]] | None = None
    decision: dict[str, Any] | None = None
    model: str | None = None
    agent: Any = attrs.field(default=None, repr=False)
    router: Any = attrs.field(default=None, repr=False)
    max_len: int | None = None
    head_max_len: int | None = None
    usage: dict[str, int] | None = None
    started_at: float = attrs.field(factory=perf_counter)
    elapsed_ms: float | None = None
    error: BaseException | None = None
    timings: dict[str, float] = attrs.field(factory=dict)

    def skip(self, results: list[dict[str, Any]] | tuple[dict[str, Any], ...]) -> None:
        """Answer with `results` in place of inference; for `on_predict_start`.

        Args:
            results: one result per state, or a single one for the whole document in `predict_long`.

        Raises:
            TypeError: `results` is not a list or tuple.
            ValueError: it holds neither one result per state nor exactly one.
        """
        if not isinstance(results, (list, tuple)):
            raise TypeError(
                f"skip() takes a list or tuple with one result per state, not {type(results).__name__}; "
                "wrap a single result as skip([result])"
            )
        if len(results) not in (len(self.states), 1):
            raise ValueError(f"skip() got {len(results)} results for {len(self.states)} states")
        self.results = list(results)
