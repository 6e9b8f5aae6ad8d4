"""Counts, tokens and a latency histogram, in the text format of Prometheus: `python docs/examples/hooks/metrics.py`."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections import Counter
from typing import Final

import laya
from laya import BaseHook, PredictContext

QUESTIONS = {"refund": {"type": "noul", "instructions": "Does the customer want money back?"}}
BUCKETS_MS: Final = (10, 50, 250, 1000)


class Metrics(BaseHook):
    """One instance serves every thread, so what it counts is behind a lock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: Counter[str] = Counter()
        self._tokens = 0
        self._latency = [0] * (len(BUCKETS_MS) + 1)

    def on_predict_end(self, ctx: PredictContext) -> None:
        outcome = "answered" if ctx.error is None else type(ctx.error).__name__
        tokens = (ctx.usage or {}).get("input_tokens", 0)
        bucket = bisect_left(BUCKETS_MS, ctx.elapsed_ms or 0.0)
        with self._lock:
            self._calls[outcome] += 1
            self._tokens += tokens
            self._latency[bucket] += 1

    def render(self) -> str:
        with self._lock:
            lines = [f'laya_calls_total{{outcome="{outcome}"}} {count}' for outcome, count in self._calls.items()]
            lines.append(f"laya_input_tokens_total {self._tokens}")
            below = 0
            for bound, count in zip((*map(str, BUCKETS_MS), "+Inf"), self._latency, strict=True):
                below += count
                lines.append(f'laya_latency_ms_bucket{{le="{bound}"}} {below}')
        return "\n".join(lines)


def main() -> None:
    metrics = Metrics()
    agent = laya.load("mini", hooks=metrics)
    for state in ("I want my money back", "Thank you, all is well", None):
        try:
            agent.predict(state, QUESTIONS)
        except TypeError as error:
            print("not a state:", error)
    print(metrics.render())


if __name__ == "__main__":
    main()
