"""A runtime without models: it builds agents through `laya_load_agent`, counts those alive, and watches the rules."""

from __future__ import annotations

import os
import threading
import weakref
from collections import Counter
from typing import Any

from laya_hooks import hookimpl


def give_way(times: int = 20) -> None:
    """Let other threads run in the middle of something."""
    for _ in range(times):
        os.sched_yield()


class BuildFailed(Exception):
    """What a source that cannot be built raises."""


class FakeAgent:
    """Answers with the source it was built from; it must never be used while the runtime thinks it is gone."""

    device = "cpu"
    revision = None
    cpu_fallback_count = 0
    last_fallback_reason = None

    def __init__(self, source: str) -> None:
        self.model_id = source

    def system_one(self, state: Any, questions: Any, **controls: Any) -> dict[str, Any]:
        give_way()
        return {"model": self.model_id, "answers": {}, "usage": {}}

    def predict_batch(self, states: list[Any], questions: Any, **controls: Any) -> list[dict[str, Any]]:
        return [self.system_one(state, questions) for state in states]

    def close(self) -> None:
        raise AssertionError("a router never closes an agent")


class FakeRuntime:
    """Builds fake agents for sources like "a:1"; the part before the colon is the checkpoint's name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards everything below
        self.built: Counter[str] = Counter()
        self.broken: set[str] = set()
        self.violations: list[str] = []
        self._alive = 0
        self.peak = 0
        self._building: Counter[str] = Counter()

    @hookimpl
    def laya_load_agent(self, source: Any, options: Any) -> FakeAgent:
        name = str(source).partition(":")[0]
        with self._lock:
            self._building[name] += 1
            if self._building.total() > 1:
                self.violations.append(f"builds at once: {dict(self._building)}")
        try:
            give_way()
            if source in self.broken:
                raise BuildFailed(source)
            return self.make(str(source))
        finally:
            with self._lock:
                self._building[name] -= 1

    def make(self, source: str, built: bool = True) -> FakeAgent:
        """An agent that counts as alive until it is freed; `built` counts it as a build, too."""
        agent = FakeAgent(source)
        weakref.finalize(agent, self._freed)
        with self._lock:
            self.built[source.partition(":")[0]] += built
            self._alive += 1
            self.peak = max(self.peak, self._alive)
        return agent

    @property
    def alive(self) -> int:
        """How many agents exist."""
        with self._lock:
            return self._alive

    def forget_peak(self) -> None:
        """Count the peak anew from here."""
        with self._lock:
            self.peak = self._alive

    def _freed(self) -> None:
        self._alive -= 1  # no lock, as this runs wherever the last reference goes; decrements happen under the GIL
