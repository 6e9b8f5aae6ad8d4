from __future__ import annotations

import gc
import random
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from laya_router import Router
from laya_router.residency import Residency

PATHS = {name: f"./{name}" for name in ("a", "b", "c")}


def test_a_checkpoint_is_built_on_first_use_with_the_options_of_the_router(builds: Any) -> None:
    router = Router(device="cpu", token="t", load_options={"precision": "float32"})
    assert router.loaded == []
    first = router.load("ML")
    assert router.load("multilingual") is first
    assert builds.sources == [("convaiinnovations/laya", "multilingual")]
    assert builds.options == [{"device": "cpu", "token": "t", "precision": "float32"}]


def test_the_least_recently_used_goes_and_hooks_hear_of_it_first(builds: Any, recorder: Any) -> None:
    hook = recorder()
    router = Router(models=PATHS, hooks=hook)
    for name in ("a", "b", "a", "c"):
        router.load(name)
    assert router.loaded == ["a", "c"]
    assert hook.log == [
        ("on_load", "a", None),
        ("on_load", "b", None),
        ("on_evict", "b", None),
        ("on_load", "c", None),
    ]
    loaded = hook.contexts[-1]
    assert loaded.agent is router.load("c") and loaded.router is router and loaded.states == []
    assert hook.contexts[2].agent is None


def test_unload_frees_one_or_all_and_says_so_once(builds: Any, recorder: Any) -> None:
    hook = recorder()
    router = Router(models=PATHS, max_loaded=3)
    router.preload(["a", "b", "c"])
    router.add_hook(hook)
    router.unload("b")
    router.unload("b")
    assert router.loaded == ["a", "c"]
    router.unload()
    assert router.loaded == []
    assert hook.log == [("on_evict", name, None) for name in ("b", "a", "c")]
    with pytest.raises(ValueError, match="unknown model"):
        router.unload("nobody")


def test_preload_raises_the_cap_to_fit(builds: Any) -> None:
    router = Router(models=PATHS, max_loaded=1)
    router.preload(["a", "b", "c", "B"])
    assert router.loaded == ["a", "c", "b"]
    assert Router(models=PATHS, preload=["a"]).loaded == Router(models=PATHS, preload="a").loaded == ["a"]
    assert len(Router(max_loaded=1, preload=True).loaded) == len(Router().registered())


def test_preload_checks_every_name_before_it_builds(builds: Any) -> None:
    with pytest.raises(ValueError, match="unknown model 'nobody'"):
        Router(models=PATHS).preload(["a", "nobody"])
    assert builds.sources == []


def test_an_attached_agent_is_used_without_an_event_and_room_is_made_for_it(
    builds: Any, stub: Any, recorder: Any
) -> None:
    hook = recorder()
    router = Router(max_loaded=1, hooks=hook)
    agents = {name: stub(name) for name in ("english", "multilingual", "typed-decisions")}
    for name, agent in agents.items():
        router.attach(name, agent)
    assert router.loaded == list(agents)
    assert all(router.load(name) is agent for name, agent in agents.items())
    assert hook.log == [] and builds.sources == []


def test_an_attached_agent_without_a_source_is_never_evicted(builds: Any, stub: Any) -> None:
    router = Router(models=PATHS, max_loaded=1)
    agent = stub()
    router.attach("Mine", agent)
    router.load("a")
    router.load("b")
    assert router.loaded == ["mine", "b"]
    assert router.route("text", model="mine")["repo"] == "mine"
    assert router.registered()["mine"] == "mine"
    router.unload("mine")
    with pytest.raises(ValueError, match="attach it again"):
        router.load("mine")


def test_attaching_over_a_resident_agent_lets_that_one_go(builds: Any, stub: Any, recorder: Any) -> None:
    hook = recorder()
    router = Router(models=PATHS)
    router.load("a")
    router.add_hook(hook)
    agent = stub()
    router.attach("a", agent)
    router.attach("a", agent)
    assert hook.log == [("on_evict", "a", None)]
    assert router.load("a") is agent


def test_pointing_a_name_elsewhere_lets_its_agent_go(builds: Any) -> None:
    router = Router(models=PATHS)
    old = router.load("a")
    router.register("a", "./a")
    assert router.load("a") is old
    router.register("a", "./new")
    assert router.loaded == []
    assert router.load("a").model_id == "./new"
    router.unregister("a")
    assert router.loaded == []


def test_a_failed_build_leaves_no_trace(builds: Any, recorder: Any) -> None:
    hook = recorder()
    router = Router(models=PATHS, hooks=hook)
    builds.failure = OSError("disk on fire")
    with pytest.raises(OSError, match="disk on fire"):
        router.load("a")
    assert router.loaded == [] and hook.log == []
    builds.failure = None
    assert router.load("a").model_id == "./a"


@pytest.mark.parametrize("failing", ["on_load", "on_evict"])
def test_a_failing_lifecycle_hook_reaches_the_caller_and_changes_nothing(
    builds: Any, recorder: Any, failing: str
) -> None:
    hook = recorder()
    router = Router(models=PATHS, max_loaded=1, hooks=hook)
    router.load("a")

    def fail(ctx: Any) -> None:
        hook.log.append(("raised", ctx.model, None))
        raise LookupError(failing)

    setattr(hook, failing, fail)
    with pytest.raises(LookupError, match=failing):
        router.load("b")
    assert router.loaded == ["b"]
    assert [entry[1] for entry in hook.log[1:]] == ["a", "b"]


def test_a_lifecycle_hook_may_call_the_router(builds: Any) -> None:
    class Companion:
        def on_load(self, ctx: Any) -> None:
            if ctx.model == "a":
                ctx.router.load("b")

    router = Router(models=PATHS, hooks=Companion())
    router.load("a")
    assert router.loaded == ["a", "b"]


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (-1, ValueError), (1.5, TypeError), (True, TypeError)])
def test_the_cap_is_a_whole_number(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="max_loaded"):
        Router(max_loaded=value)


class Gate:
    """A build that waits until the test opens it, and says when it has begun."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.open = threading.Event()
        self.names: list[str] = []
        self.failure: BaseException | None = None

    def __call__(self, name: str) -> Any:
        self.names.append(name)
        self.begun.set()
        assert self.open.wait(10)
        if self.failure is not None:
            raise self.failure
        return object()


class Noted:
    """Writes down what came into memory and what left it."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str]] = []

    def loaded(self, name: str, agent: Any) -> None:
        self.log.append(("loaded", name))

    def evicted(self, name: str) -> None:
        self.log.append(("evicted", name))


@pytest.fixture
def noted() -> Noted:
    return Noted()


def residency(build: Callable[[str], Any], capacity: int = 2) -> Residency:
    return Residency(capacity, build, lambda _: True)


class CountedFuture(Future[Any]):
    """A future that tells the test of each thread that comes to wait for it."""

    waiting = threading.Semaphore(0)

    def result(self, timeout: float | None = None) -> Any:
        self.waiting.release()
        return super().result(timeout)


@pytest.fixture
def waiting(monkeypatch: pytest.MonkeyPatch) -> threading.Semaphore:
    monkeypatch.setattr(CountedFuture, "waiting", threading.Semaphore(0))
    monkeypatch.setattr("laya_router.residency.Future", CountedFuture)
    return CountedFuture.waiting


def test_many_threads_share_one_build(noted: Noted) -> None:
    gate = Gate()
    agents = residency(gate)
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(agents.get, "a", noted) for _ in range(8)]
        assert gate.begun.wait(10)
        gate.open.set()
        loaded = [future.result(10) for future in asked]
    assert gate.names == ["a"]
    assert len({id(agent) for agent in loaded}) == 1
    assert noted.log == [("loaded", "a")]


def test_a_failed_build_releases_every_waiter_with_its_error(waiting: threading.Semaphore, noted: Noted) -> None:
    gate = Gate()
    gate.failure = OSError("broken")
    agents = residency(gate)
    with ThreadPoolExecutor(4) as pool:
        asked = [pool.submit(agents.get, "a", noted) for _ in range(4)]
        assert gate.begun.wait(10)
        for _ in range(3):
            assert waiting.acquire(timeout=10)
        gate.open.set()
        errors = [future.exception(10) for future in asked]
    assert errors == [gate.failure] * 4
    assert gate.names == ["a"]
    assert list(agents.agents()) == [] and noted.log == []


def test_an_interrupted_build_is_taken_over_by_one_of_the_waiters(waiting: threading.Semaphore, noted: Noted) -> None:
    gate = Gate()
    gate.failure = KeyboardInterrupt()
    agents = residency(gate)
    with ThreadPoolExecutor(2) as pool:
        builder = pool.submit(agents.get, "a", noted)
        assert gate.begun.wait(10)
        waiter = pool.submit(agents.get, "a", noted)
        assert waiting.acquire(timeout=10)
        pending = agents._pending["a"]
        pending.add_done_callback(lambda _: setattr(gate, "failure", None))
        gate.open.set()
        assert isinstance(builder.exception(10), KeyboardInterrupt)
        assert waiter.result(10) is agents.resident("a")
    assert gate.names == ["a", "a"] and noted.log == [("loaded", "a")]


def test_builds_of_different_names_take_turns_and_resident_agents_stay_reachable(noted: Noted) -> None:
    gate = Gate()
    agents = residency(gate)
    kept = object()
    agents.put("kept", kept, noted)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(agents.get, "a", noted)
        assert gate.begun.wait(10)
        second = pool.submit(agents.get, "b", noted)
        assert agents.resident("kept") is kept
        assert list(agents.agents()) == ["kept"] and gate.names == ["a"]
        gate.open.set()
        first.result(10), second.result(10)
    assert gate.names == ["a", "b"]
    assert noted.log == [("loaded", "a"), ("evicted", "kept"), ("loaded", "b")]


def test_a_build_that_loads_from_the_same_router_is_refused_rather_than_stuck(noted: Noted) -> None:
    agents: Residency = residency(lambda name: agents.get("other" if name == "a" else "a", noted))
    with pytest.raises(RuntimeError, match="within the build"):
        agents.get("a", noted)
    assert list(agents.agents()) == []


def test_a_name_dropped_during_its_build_is_not_kept_but_announced(noted: Noted) -> None:
    gate = Gate()
    agents = residency(gate)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(agents.get, "a", noted)
        assert gate.begun.wait(10)
        agents.drop(["a"], noted)
        assert noted.log == []
        gate.open.set()
        assert asked.result(10) is not None
    assert list(agents.agents()) == []
    assert noted.log == [("loaded", "a"), ("evicted", "a")]


def test_letting_all_go_keeps_what_is_being_built(noted: Noted) -> None:
    gate = Gate()
    agents = residency(gate)
    agents.put("kept", object(), noted)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(agents.get, "a", noted)
        assert gate.begun.wait(10)
        agents.drop_all(noted)
        gate.open.set()
        agent = asked.result(10)
    assert agents.agents() == {"a": agent}
    assert noted.log == [("evicted", "kept"), ("loaded", "a")]


def test_an_evicted_agent_in_use_lives_until_its_last_user_lets_go(stub: Any, noted: Noted) -> None:
    agents = residency(stub, capacity=1)
    in_use = agents.get("a", noted)
    watched = weakref.ref(in_use)
    agents.get("b", noted)
    assert list(agents.agents()) == ["b"]
    gc.collect()
    assert watched() is in_use
    del in_use
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize("capacity", [1, 2])
def test_under_many_threads_everyone_gets_the_agent_asked_for(capacity: int) -> None:
    agents = residency(lambda name: [name], capacity)

    def ask(seed: int) -> list[str]:
        names = random.Random(seed).choices("abc", k=50)
        return [name for name in names if agents.get(name, Noted()) != [name]]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(8))) == [[]] * 8
    assert len(agents.agents()) <= capacity
    assert not agents._pending
