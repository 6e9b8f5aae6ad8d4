from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from laya_hooks.testing import plugged
from laya_router import Router

from .fake_runtime import FakeRuntime

SOURCES = {name: f"{name}:0" for name in ("a", "b", "c")}


@pytest.fixture
def runtime() -> Iterator[FakeRuntime]:
    runtime = FakeRuntime()
    with plugged(runtime):
        yield runtime


class Slow:
    """A load hook that stays in the event of one checkpoint until the test lets it go on."""

    def __init__(self, name: str = "a") -> None:
        self.name = name
        self.entered = threading.Event()
        self.go_on = threading.Event()
        self.log: list[tuple[str, str]] = []

    def on_load(self, ctx: Any) -> None:
        if ctx.model == self.name:
            self.entered.set()
            assert self.go_on.wait(30)
        self.log.append(("load", ctx.model))

    def on_evict(self, ctx: Any) -> None:
        self.log.append(("evict", ctx.model))


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def test_no_hook_hears_of_a_release_before_it_has_heard_of_the_build(
    runtime: FakeRuntime, pool: ThreadPoolExecutor
) -> None:
    slow = Slow()
    router = Router(models=SOURCES, hooks=slow)
    loading = pool.submit(router.load, "a")
    assert slow.entered.wait(30)
    router.unload("a")
    assert router.loaded == [] and slow.log == []
    slow.go_on.set()
    loading.result(30)
    assert slow.log == [("load", "a"), ("evict", "a")]


def test_a_slow_hook_holds_up_no_other_call(runtime: FakeRuntime, pool: ThreadPoolExecutor) -> None:
    slow = Slow()
    router = Router(models=SOURCES, max_loaded=1, hooks=slow)
    loading = pool.submit(router.load, "a")
    assert slow.entered.wait(30)
    assert router.predict("x", {}, model="b")["model"] == "b:0"
    assert router.load("a").model_id == "a:0"
    slow.go_on.set()
    loading.result(30)
    assert slow.log == [("load", "a"), ("evict", "a"), ("load", "b"), ("evict", "b"), ("load", "a")]


def test_what_a_hook_does_to_the_router_is_told_after_the_event_it_hears(runtime: FakeRuntime) -> None:
    log: list[tuple[str, str, str]] = []

    class Meddler:
        def __init__(self, own: str) -> None:
            self.own = own

        def on_load(self, ctx: Any) -> None:
            log.append((self.own, "load", ctx.model))
            if self.own == "first" and ctx.model == "a":
                ctx.router.unload("a")

        def on_evict(self, ctx: Any) -> None:
            log.append((self.own, "evict", ctx.model))

    Router(models=SOURCES, hooks=[Meddler("first"), Meddler("second")]).load("a")
    assert log == [(who, event, "a") for event in ("load", "evict") for who in ("first", "second")]


def test_an_error_reaches_the_call_it_belongs_to_and_is_a_warning_in_another(
    runtime: FakeRuntime, pool: ThreadPoolExecutor
) -> None:
    class Fails(Slow):
        def on_load(self, ctx: Any) -> None:
            super().on_load(ctx)
            raise LookupError(ctx.model)

    slow = Fails()
    router = Router(models=SOURCES, hooks=slow)
    loading = pool.submit(router.load, "a")
    assert slow.entered.wait(30)

    def load_meanwhile() -> BaseException | None:
        assert router.load("b").model_id == "b:0"
        slow.go_on.set()
        return loading.exception(30)

    with pytest.warns(RuntimeWarning, match="on_load of 'b', told for a call of another thread: LookupError"):
        error = load_meanwhile()
    assert isinstance(error, LookupError) and error.args == ("a",)
    assert slow.log == [("load", "a"), ("load", "b")] and router.loaded == ["a", "b"]


def test_a_serialised_hook_that_calls_the_router_while_another_loads_is_no_deadlock(
    runtime: FakeRuntime, pool: ThreadPoolExecutor
) -> None:
    slow = Slow()
    router = Router(models=SOURCES, hooks=slow, hooks_concurrent=False)
    loading = pool.submit(router.load, "a")
    assert slow.entered.wait(30)
    router.load("b")
    router.unload("a")
    slow.go_on.set()
    loading.result(30)
    assert slow.log == [("load", "a"), ("load", "b"), ("evict", "a")]


def test_an_eviction_during_a_call_frees_the_agent_when_the_call_ends(
    runtime: FakeRuntime, pool: ThreadPoolExecutor
) -> None:
    router = Router(models=SOURCES, max_loaded=1)
    entered, go_on = threading.Event(), threading.Event()

    def hold(ctx: Any) -> None:
        entered.set()
        assert go_on.wait(30)

    call = pool.submit(router.predict, "x", {}, model="a", on_predict_start=hold)
    assert entered.wait(30)
    router.load("b")
    assert router.loaded == ["b"] and runtime.alive == 2
    go_on.set()
    assert call.result(30)["model"] == "a:0"
    del call
    assert runtime.alive == 1
