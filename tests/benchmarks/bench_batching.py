"""Calls of many threads with and without the batching engine, in turns on one agent.

    python tests/benchmarks/bench_batching.py [--rounds 5] [--threads 16] [--calls 48] [--scheduler fifo] …

Prints requests per second and latencies of both sides, their ratios (median of the rounds), the padding of the passes,
and the memory that queued requests take.
"""

from __future__ import annotations

import argparse
import gc
import random
import statistics
import tempfile
import tracemalloc
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import torch
from attrs import frozen
from batching_checkpoint import write_checkpoint

from laya_core import Agent
from laya_core.batching import ContinuousBatchingConfig, ContinuousBatchingManager

TEXT = "please refund the invoice my account was charged twice and nobody answers since monday it is broken"
QUESTIONS: dict[str, Any] = {
    "team": {
        "type": "choice",
        "instructions": "Which team should answer?",
        "criteria": ["billing", "support", "sales"],
    },
    "anger": {"type": "score", "instructions": "How angry is the customer?", "criteria": ["calm", "cross", "furious"]},
    "refund": {"type": "noul", "instructions": "Does the customer want money back?"},
}


def states(count: int, words: tuple[int, int]) -> list[str]:
    dice = random.Random(0)
    return [" ".join(dice.choices(TEXT.split(), k=dice.randint(*words))) for _ in range(count)]


@frozen
class Measured:
    """One side in one round: requests per second, the seconds of each call in order, processor seconds a request."""

    rate: float
    latencies: list[float]
    processor: float


def timed(call: Callable[[str], object], texts: list[str], threads: int) -> Measured:
    """Let `threads` callers ask about all texts."""

    def one(text: str) -> float:
        started = perf_counter()
        call(text)
        return perf_counter() - started

    started, used = perf_counter(), process_time()
    if threads == 1:
        latencies = list(map(one, texts))
    else:
        with ThreadPoolExecutor(threads) as pool:
            latencies = list(pool.map(one, texts))
    seconds, used = perf_counter() - started, process_time() - used
    return Measured(len(texts) / seconds, sorted(latencies), used / len(texts))


def percentile(ordered: list[float], percent: int) -> float:
    return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] * 1000


def compare(agent: Agent, manager: ContinuousBatchingManager, threads: int, calls: int, rounds: int) -> None:
    texts = states(calls, (10, 60))

    def ask(text: str) -> object:
        return agent.predict(text, QUESTIONS)

    ask(texts[0])
    sides: dict[str, list[Measured]] = {"without": [], "engine": []}
    for number in range(rounds):
        for side in ("without", "engine") if number % 2 else ("engine", "without"):
            agent._manager = manager if side == "engine" else None
            sides[side].append(timed(ask, texts, threads))
    agent._manager = manager
    for side, measured in sides.items():
        rate = statistics.median(each.rate for each in measured)
        p50, p99 = (statistics.median(percentile(each.latencies, p) for each in measured) for p in (50, 99))
        print(f"{threads:3} threads, {side:8} {rate:7.2f} requests/s   p50 {p50:8.1f} ms   p99 {p99:8.1f} ms")
    pairs = list(zip(sides["engine"], sides["without"], strict=True))
    rates = sorted(engine.rate / without.rate for engine, without in pairs)
    used = statistics.median(engine.processor / without.processor for engine, without in pairs)
    tails = statistics.median(percentile(one.latencies, 99) / percentile(other.latencies, 99) for one, other in pairs)
    print(f"{threads:3} threads, ratio    {statistics.median(rates):.3f} × ({rates[0]:.3f} to {rates[-1]:.3f})", end="")
    print(f"   p99 {tails:.3f} ×   processor time a request {used:.3f} ×", flush=True)


def queued_memory(agent: Agent, questions: dict[str, Any], count: int) -> float:
    """Bytes a queued request takes beyond its tokens."""
    manager = ContinuousBatchingManager(agent, ContinuousBatchingConfig())
    texts = states(count + 100, (10, 30))
    for text in texts[:100]:
        manager.add_request(text, questions)
    gc.collect()
    tracemalloc.start()
    requests = [manager._outputs.request(manager.add_request(text, questions)) for text in texts[100:]]
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - requests.__sizeof__()
    tracemalloc.stop()
    # The list of a request's state and the numbers in it; its rows share both.
    tokens = sum(
        (state := request.rows[0].state).__sizeof__() + 16 + 28 * len({id(token) for token in state if token > 256})
        for request in requests
        if request is not None
    )
    manager.destroy()
    return (grown - tokens) / count


def cancel_and_get(agent: Agent, queued: int, sampled: int = 500) -> tuple[float, float]:
    """Microseconds that `cancel_request` and `get_result` of one request take while `queued` others wait."""
    manager = ContinuousBatchingManager(agent, ContinuousBatchingConfig())
    manager.start()
    question = {"refund": QUESTIONS["refund"]}
    with manager.pause():
        ids = [manager.add_request(text, question) for text in states(queued + sampled, (10, 30))]
        chosen = random.Random(0).sample(ids, sampled)
        cancel = median_microseconds(manager.cancel_request, chosen)
        get = median_microseconds(partial(manager.get_result, timeout=60), chosen)
    manager.destroy()
    return cancel, get


def median_microseconds(call: Callable[[str], object], arguments: list[str]) -> float:
    """What one call takes; the median, as a collection or another process may fall into any of them."""
    spent = []
    for argument in arguments:
        started = perf_counter()
        call(argument)
        spent.append(perf_counter() - started)
    return statistics.median(spent) * 1e6


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=16)
    parser.add_argument("--calls", type=int, default=48)
    parser.add_argument("--torch-threads", type=int, default=2)
    parser.add_argument("--precision", default="auto")
    parser.add_argument("--scheduler", default="fifo")
    parser.add_argument("--queued", type=int, default=10_000)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.torch_threads)
    warnings.simplefilter("ignore", RuntimeWarning)
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = write_checkpoint(Path(folder) / "checkpoint")
        config = {"scheduler_type": arguments.scheduler}
        options: dict[str, Any] = {"device": "cpu", "precision": arguments.precision}
        with Agent(checkpoint, continuous_batching=config, **options) as agent:
            manager = agent.init_continuous_batching()
            manager.warmup()
            budget = manager.stats().max_batch_tokens
            print(f"{agent.dtype}, {torch.get_num_threads()} torch threads, {budget} tokens a pass", flush=True)
            compare(agent, manager, arguments.threads, arguments.calls, arguments.rounds)
            stats = manager.stats()
            print(f"padding {stats.padding:.1%} of the tokens, {stats.rows / stats.passes:.1f} rows a pass")
            compare(agent, manager, 1, max(6, arguments.calls // 4), arguments.rounds)
            for name, questions in (("1 question", {"refund": QUESTIONS["refund"]}), ("3 questions", QUESTIONS)):
                if arguments.queued:
                    size = queued_memory(agent, questions, arguments.queued)
                    print(f"{arguments.queued} queued requests of {name}: {size:.0f} bytes each beyond their tokens")
            for queued in (arguments.queued // 10, arguments.queued):
                cancel, get = cancel_and_get(agent, queued)
                print(f"{queued:6} queued requests: cancel_request {cancel:.1f} µs, get_result {get:.1f} µs")


if __name__ == "__main__":
    main()
