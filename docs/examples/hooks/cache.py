"""Answers that were given before are served again: `python docs/examples/hooks/cache.py`."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import laya
from laya import PredictContext

CACHE: dict[str, dict[str, Any]] = {}
QUESTIONS = {"refund": {"type": "noul", "instructions": "Does the customer want money back?"}}


def key(ctx: PredictContext, index: int) -> str:
    """Name everything the answer depends on.

    Not `sort_keys=True`: the order of criteria is positional, so two orders are two questions. The checkpoint and the
    token budgets change the answer too.
    """
    parts = [ctx.states[index], ctx.questions, ctx.model, ctx.max_len, ctx.head_max_len]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def cache_read(ctx: PredictContext) -> None:
    """Skip inference if every state of the call is known."""
    hits = [CACHE.get(key(ctx, index)) for index in range(len(ctx.states))]
    if all(hit is not None for hit in hits):
        ctx.skip(hits)


def cache_write(ctx: PredictContext) -> None:
    """Keep the results; a failed call has none."""
    for index, result in enumerate(ctx.results or []):
        CACHE[key(ctx, index)] = result


def main() -> None:
    agent = laya.load("mini", on_predict_start=cache_read, on_predict_end=cache_write)
    for state in ("I was charged twice", "The app is slow", "I was charged twice"):
        agent.predict(state, QUESTIONS, on_predict_end=report)


def report(ctx: PredictContext) -> None:
    """`ctx.timings` has an entry for inference only if the model ran."""
    origin = "the model" if "inference" in ctx.timings else "the cache"
    print(f"{ctx.states[0]!r} answered by {origin}; {len(CACHE)} in the cache")


if __name__ == "__main__":
    main()
