"""What hooks cost a call: the machinery alone, around an inference that does nothing.

Marks: at most 5 µs without hooks, at most 25 µs with ten hooks that do nothing, and no lock between threads.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch

import pytest

from laya_hooks import HookRegistry, PredictContext, run_call
from laya_hooks.testing import plugged

NO_HOOKS_MICROSECONDS = 5.0
TEN_HOOKS_MICROSECONDS = 25.0
ANSWER = [{"answers": {}}]


class Instant(HookRegistry):
    """An agent that knows the answer, with the machinery of a real one around it."""

    def __init__(self, **hook_arguments: Any) -> None:
        self._init_hooks(**hook_arguments)

    def predict(self, states: list[Any], questions: dict[str, Any], hooks: object = None) -> list[dict[str, Any]]:
        chain = self.hook_chain(hooks)
        ctx = PredictContext(states, questions, model="instant", agent=self)
        return run_call(chain, ctx, _known)


class Nothing:
    def on_predict_start(self, ctx: PredictContext) -> None: ...

    def on_predict_end(self, ctx: PredictContext) -> None: ...


def _known(ctx: PredictContext) -> list[dict[str, Any]]:
    return ANSWER


@pytest.fixture(autouse=True)
def no_plugins() -> Iterator[None]:
    with plugged():
        yield


def _fastest_microseconds(benchmark: Any) -> float:
    return float(benchmark.stats["min"]) * 1e6


def test_a_call_without_hooks(benchmark: Any) -> None:
    agent, states, questions = Instant(), ["x"], {}
    benchmark.pedantic(agent.predict, (states, questions), iterations=500, rounds=400, warmup_rounds=5)
    assert _fastest_microseconds(benchmark) <= NO_HOOKS_MICROSECONDS


def test_a_call_with_ten_hooks_that_do_nothing(benchmark: Any) -> None:
    agent, states, questions = Instant(hooks=[Nothing() for _ in range(10)]), ["x"], {}
    benchmark.pedantic(agent.predict, (states, questions), iterations=200, rounds=400, warmup_rounds=5)
    assert _fastest_microseconds(benchmark) <= TEN_HOOKS_MICROSECONDS


class _CountedLock:
    """A lock that counts how often it is taken."""

    taken = 0

    def __init__(self, lock: Any) -> None:
        self._lock = lock

    def acquire(self, *arguments: Any, **keywords: Any) -> bool:
        _CountedLock.taken += 1
        return bool(self._lock.acquire(*arguments, **keywords))

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *exc: object) -> None:
        self.release()


def test_eight_threads_on_one_agent_take_no_lock(benchmark: Any) -> None:
    agent = Instant()
    agent.predict(["x"], {})  # takes the snapshot of the defaults

    def one_thread(start: threading.Barrier) -> None:
        start.wait()
        for _ in range(500):
            agent.predict(["x"], {})

    def all_threads() -> None:
        start = threading.Barrier(8)
        with ThreadPoolExecutor(8) as pool:
            for future in [pool.submit(one_thread, start) for _ in range(8)]:
                future.result()

    from laya_hooks import defaults, plugins, registry

    locks = [(defaults, "_writes"), (registry, "_writes"), (plugins, "_discovering")]
    patches = [patch.object(module, name, _CountedLock(getattr(module, name)._lock)) for module, name in locks]
    _CountedLock.taken = 0
    for each in patches:
        each.start()
    try:
        benchmark.pedantic(all_threads, rounds=5)
        assert _CountedLock.taken == 0
        agent.add_hook(Nothing())
        assert _CountedLock.taken == 1
    finally:
        for each in patches:
            each.stop()
