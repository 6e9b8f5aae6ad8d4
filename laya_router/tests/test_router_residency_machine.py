"""What a router keeps in memory under any sequence of calls from several threads, against a runtime that counts."""

from __future__ import annotations

import faulthandler
import gc
import sys
import threading
from collections import Counter
from contextlib import suppress
from typing import Any, TypeAlias

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from laya_hooks.testing import plugged
from laya_router import Router

from .fake_runtime import BuildFailed, FakeRuntime, give_way

NAMES = ("a", "b", "c", "d")
GUEST = "guest"
WATCHDOG_SECONDS = 60
QUESTIONS = {"q": {"type": "noul", "instructions": "?"}}
Step: TypeAlias = tuple[str, str]

steps = st.one_of(
    st.tuples(st.sampled_from(["load", "predict", "predict", "batch", "unload", "attach"]), st.sampled_from(NAMES)),
    st.tuples(st.sampled_from(["register", "register elsewhere", "unregister"]), st.sampled_from(NAMES[1:])),
    st.tuples(st.sampled_from(["attach", "predict", "unload"]), st.just(GUEST)),
    st.tuples(st.sampled_from(["unload all", "preload"]), st.just("")),
)


class Listener:
    """Writes down the lifecycle events, and may call the router back from them."""

    def __init__(self, meddles: bool) -> None:
        self.meddles = meddles
        self.log: list[tuple[str, str]] = []

    def on_load(self, ctx: Any) -> None:
        give_way()
        self.log.append(("load", ctx.model))
        if self.meddles and ctx.model == "a":
            with suppress(ValueError):
                ctx.router.unload("b")

    def on_evict(self, ctx: Any) -> None:
        give_way()
        self.log.append(("evict", ctx.model))
        if self.meddles and ctx.model == "c":
            with suppress(BuildFailed):
                ctx.router.load("a")


class ResidencyMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.runtime = FakeRuntime()
        self.plugins = plugged(self.runtime)
        self.plugins.__enter__()
        self.switch_interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-6)  # so that threads change places in the middle of everything
        gc.freeze()  # so that a collection looks at this example's objects alone
        self.attached: Counter[str] = Counter()
        self.errors: list[BaseException] = []

    def teardown(self) -> None:
        gc.unfreeze()
        sys.setswitchinterval(self.switch_interval)
        self.plugins.__exit__(None, None, None)

    @initialize(max_loaded=st.integers(1, 3), meddles=st.booleans())
    def make_router(self, max_loaded: int, meddles: bool) -> None:
        self.listener = Listener(meddles)
        self.capacity = max_loaded
        models = {name: f"{name}:0" for name in NAMES}
        self.router = Router(models=models, default="a", max_loaded=max_loaded, hooks=self.listener)

    @rule(name=st.sampled_from(NAMES), broken=st.booleans())
    def break_or_mend(self, name: str, broken: bool) -> None:
        sources = {f"{name}:{version}" for version in range(2)}
        self.runtime.broken = self.runtime.broken | sources if broken else self.runtime.broken - sources

    @rule(script=st.lists(steps, min_size=1, max_size=6))
    def one_thread(self, script: list[Step]) -> None:
        self.run([script])

    @rule(scripts=st.lists(st.lists(steps, min_size=1, max_size=5), min_size=2, max_size=4))
    def several_threads(self, scripts: list[list[Step]]) -> None:
        self.run(scripts)

    def run(self, scripts: list[list[Step]]) -> None:
        gc.collect()
        self.runtime.forget_peak()
        steps = [step for script in scripts for step in script]
        for action, name in steps:
            self.attached[name] += action == "attach"
        # All that are preloaded together need room, and each agent that is attached may need more, after them.
        self.capacity = max(self.capacity, 2 if ("preload", "") in steps else 0)
        self.capacity += sum(action == "attach" for action, _ in steps)
        start = threading.Barrier(len(scripts))
        threads = [threading.Thread(target=self.follow, args=(script, start), daemon=True) for script in scripts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WATCHDOG_SECONDS)
        if any(thread.is_alive() for thread in threads):
            faulthandler.dump_traceback(all_threads=True)
            raise AssertionError(f"a deadlock in {scripts}")
        assert not self.errors, self.errors
        # Every thread uses one agent at a time, and a hook that calls back one more.
        in_use = 2 * len(scripts)
        assert self.runtime.peak <= self.limit() + in_use, (self.runtime.peak, self.limit(), in_use)

    def follow(self, script: list[Step], start: threading.Barrier) -> None:
        start.wait(WATCHDOG_SECONDS)
        for action, name in script:
            try:
                self.take(action, name)
            except BuildFailed:
                pass
            except ValueError as error:
                if "unknown model" not in str(error) and "attach it again" not in str(error):
                    self.errors.append(error)
            except BaseException as error:
                self.errors.append(error)

    def take(self, action: str, name: str) -> None:
        router = self.router
        match action:
            case "load":
                assert router.load(name).model_id.startswith(f"{name}:")
            case "predict":
                result = router.predict("x", QUESTIONS, model=name)
                assert result["model"].startswith(f"{name}:") and result["routing"].model == name
            case "batch":
                results = router.predict_batch(
                    [{"state": "x", "questions": QUESTIONS, "model": each} for each in (name, "a", name)]
                )
                assert [result["model"].partition(":")[0] for result in results] == [name, "a", name]
            case "attach":
                router.attach(name, self.runtime.make(f"{name}:own", built=False))
            case "register":
                router.register(name, f"{name}:0")
            case "register elsewhere":
                router.register(name, f"{name}:1")
            case "unregister":
                router.unregister(name)
            case "unload":
                router.unload(name)
            case "unload all":
                router.unload()
            case "preload":
                router.preload(["a"] if "b" not in router.registered() else ["b", "a"])

    def limit(self) -> int:
        """How many agents may be resident; a guest cannot be built again, so it is never evicted for another."""
        return max(self.capacity, 1 + (GUEST in self.router.loaded))

    @invariant()
    def no_two_builds_ran_at_once(self) -> None:
        assert self.runtime.violations == []

    @invariant()
    def what_is_alive_is_what_is_resident_and_fits(self) -> None:
        if not hasattr(self, "router"):
            return
        gc.collect()
        assert self.runtime.alive == len(self.router.loaded) <= self.limit()
        assert set(self.router.loaded) <= set(self.router.registered())

    @invariant()
    def what_is_resident_comes_from_where_the_table_says(self) -> None:
        if not hasattr(self, "router"):
            return
        sources = self.router.registered()
        for name, agent in self.router.agents().items():
            assert agent.model_id in (sources[name], f"{name}:own")

    @invariant()
    def every_build_and_every_release_was_told_once_and_in_order(self) -> None:
        if not hasattr(self, "router"):
            return
        told: dict[str, list[str]] = {}
        for event, name in self.listener.log:
            told.setdefault(name, []).append(event)
        for name in (*NAMES, GUEST):
            events = told.get(name, [])
            assert events.count("load") == self.runtime.built[name]
            resident = events.count("load") + self.attached[name] - events.count("evict")
            assert resident == (name in self.router.loaded), (name, events)
            if not self.attached[name]:
                assert events == ["load", "evict"] * (len(events) // 2) + ["load"] * (len(events) % 2)


ResidencyMachine.TestCase.settings = settings(
    max_examples=40,
    stateful_step_count=8,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),  # threads fail now and then, which cannot be shrunk
    suppress_health_check=list(HealthCheck),
)
TestResidency = ResidencyMachine.TestCase
