"""The kit for plugin authors: it accepts good hooks and says what is wrong with bad ones."""

from __future__ import annotations

import asyncio
import threading

import pytest
from hypothesis import given, settings

from laya_hooks import HOOK_EVENTS, AsyncHook, BaseHook, dispatch, hookimpl
from laya_hooks.errors import PluginError
from laya_hooks.testing import FakeAgent, FakeRouter, Recorder, check_hook, plugged, situations
from laya_hooks.testing.strategies import event_traces, failing_hooks, hook_lists


class Audit(BaseHook):
    def __init__(self):
        self.lines = []

    def on_predict_end(self, ctx):
        self.lines.append((ctx.run_id, len(ctx.results or []), ctx.elapsed_ms))


class Remote:
    async def on_predict_end(self, ctx):
        await asyncio.sleep(0)


class Cache:
    def __init__(self):
        self.known = {}

    def on_predict_start(self, ctx):
        hits = [self.known.get(repr(state)) for state in ctx.states]
        if hits and all(hits):
            ctx.skip([dict(hit) for hit in hits])

    def on_predict_end(self, ctx):
        if ctx.error is None and len(ctx.results) == len(ctx.states):
            self.known.update(zip(map(repr, ctx.states), ctx.results, strict=True))


@pytest.mark.parametrize("hook", [Audit(), Remote(), AsyncHook(Remote()), Cache(), Recorder()])
def test_good_hooks_pass(hook):
    report = check_hook(hook)
    assert set(report.events) <= set(HOOK_EVENTS)
    assert "a call whose inference fails" in report.situations


class ForgetsFailures:
    def on_predict_end(self, ctx):
        return len(ctx.results)


class DropsResults:
    def on_predict_end(self, ctx):
        ctx.results = (ctx.results or [])[:0] * 0 + [{}, {}, {}, {}, {}]


class TouchesTheRunId:
    def on_predict_start(self, ctx):
        ctx.run_id = "mine"


class LosesTheDecision:
    def on_route(self, ctx):
        ctx.decision = None


class TwoArguments:
    def on_load(self, ctx, extra): ...


class Generator:
    def on_load(self, ctx):
        yield


class NotThreadSafe:
    """Fails when two threads are in it at once, and sees to it that the first two of the kit's threads are."""

    def __init__(self):
        self.inside = 0
        self.meeting = threading.Barrier(2, timeout=60)
        self.met = False

    def on_predict_start(self, ctx):
        self.inside += 1
        if threading.current_thread().name.startswith("Thread-") and not self.met:
            self.meeting.wait()
            self.met = True
        if self.inside > 1:
            raise RuntimeError("two at once")
        self.inside -= 1


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        (Audit, "is a class; pass an instance"),
        (object(), "is not a hook"),
        (ForgetsFailures(), r"on_predict_end raised TypeError: object of type 'NoneType' has no len\(\) \(ctx.results"),
        (ForgetsFailures(), "in a call whose inference fails: on_predict_end"),
        (DropsResults(), "on_predict_end left 5 results for 1 states"),
        (TouchesTheRunId(), "on_predict_start changed ctx.run_id"),
        (LosesTheDecision(), "on_route left ctx.decision without a model"),
        (TwoArguments(), r"on_load\(ctx, extra\) does not take the context as its one positional argument"),
        (Generator(), "on_load of .*Generator object.* is a generator function"),
        (NotThreadSafe(), "in calls from 8 threads at once: on_predict_start raised RuntimeError: two at once"),
    ],
)
def test_bad_hooks_fail_with_what_happened_and_where(hook, message):
    with pytest.raises(AssertionError, match=message):
        check_hook(hook)


def test_errors_by_design_are_allowed_by_name():
    class Guard:
        def on_predict_start(self, ctx):
            if len(ctx.states) > 1:
                raise PermissionError("one state at a time")

    with pytest.raises(AssertionError, match="on_predict_start raised PermissionError: one state at a time"):
        check_hook(Guard())
    assert check_hook(Guard(), may_raise=PermissionError).hook == "Guard"


def test_every_situation_reaches_its_events():
    trace = []
    for situation in situations():
        situation.run(Recorder(trace=trace))
    assert {seen.event for seen in trace} == set(HOOK_EVENTS)


@settings(max_examples=30, derandomize=True, deadline=None)
@given(hook_lists(failing=False), event_traces())
def test_drawn_hooks_take_drawn_traces(hooks, steps):
    for event, ctx in steps:
        dispatch(hooks, event, ctx)
    for hook in hooks:
        assert hook.events == [event for event, _ in steps if hasattr(hook, event)]


@settings(max_examples=30, derandomize=True, deadline=None)
@given(failing_hooks())
def test_a_failing_hook_fails_in_its_one_event(hook):
    event = hook.name.removeprefix("failing in ")
    router = FakeRouter(max_loaded=1, hooks=[hook])
    try:
        router.predict("x", {})
        router.load("multilingual")
        router.predict("x", {}, model="multilingual", on_predict_start=lambda ctx: 1 / 0)
    except Exception:
        assert hook.events[-1] in (event, "on_load", "on_predict_end")
    assert event in hook.events


def test_plugged_entries_are_the_only_plugins_and_only_for_the_block():
    import laya_hooks

    before = laya_hooks.default_hooks()
    hook = Recorder()
    with plugged(hook, lambda: [Audit(), Audit()]) as records:
        assert laya_hooks.default_hooks()[0] is hook
        assert len(laya_hooks.default_hooks()) == 3
        assert [record.status for record in records] == ["loaded", "loaded"]
        laya_hooks.add_default_hook(Audit())
    assert laya_hooks.default_hooks() == before


def test_plugged_refuses_what_discovery_would_skip():
    class Unknown:
        @hookimpl
        def on_predict_begin(self, ctx): ...

    with pytest.raises(PluginError, match="on_predict_begin is no event"), plugged(Unknown()):
        pass
    with pytest.warns(RuntimeWarning, match="on_predict_begin is no event"), plugged(Unknown(), strict=False):
        pass


def test_the_fakes_follow_the_routers_rules():
    trace = []
    router = FakeRouter(lambda name: FakeAgent(name), max_loaded=1, hooks=[Recorder("r", trace)])
    requests = [
        {"state": state, "questions": {}, "model": model}
        for state, model in [("a", "english"), ("b", "multilingual"), ("c", "english")]
    ]
    results = router.predict_batch(requests)
    assert [result["routing"]["model"] for result in results] == ["english", "multilingual", "english"]
    assert [(seen.event, *(seen.states or (seen.model,))) for seen in trace] == [
        ("on_route", "a"),
        ("on_route", "b"),
        ("on_route", "c"),
        ("on_load", "english"),
        ("on_predict_start", "a"),
        ("on_predict_start", "c"),
        ("on_predict_end", "c"),
        ("on_predict_end", "a"),
        ("on_evict", "english"),
        ("on_load", "multilingual"),
        ("on_predict_start", "b"),
        ("on_predict_end", "b"),
    ]
