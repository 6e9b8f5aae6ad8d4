"""The process-wide hooks."""

from __future__ import annotations

import pytest

import laya_hooks
from laya_hooks import defaults_already_run, hookimpl
from laya_hooks.testing import FakeAgent, FakeRouter, Recorder, plugged


@pytest.fixture(autouse=True)
def isolated():
    with plugged():
        yield


def names(trace):
    return [(seen.hook, seen.event) for seen in trace]


def test_defaults_run_before_installed_and_per_call_hooks():
    trace = []
    agent = FakeAgent(hooks=Recorder("installed", trace))
    laya_hooks.add_default_hook(Recorder("default", trace))
    agent.predict("x", {}, hooks=Recorder("call", trace))
    assert [name for name, event in names(trace) if event == "on_predict_start"] == ["default", "installed", "call"]


def test_set_replaces_add_appends_and_clear_removes():
    a, b, c = Recorder("a"), Recorder("b"), Recorder("c")
    laya_hooks.set_default_hooks(hooks=[a])
    laya_hooks.add_default_hook(b)
    assert laya_hooks.default_hooks() == [a, b]
    laya_hooks.set_default_hooks([c], on_predict_end=print)
    assert laya_hooks.default_hooks()[0] is c
    assert laya_hooks.default_hooks()[1].on_predict_end is print
    laya_hooks.clear_default_hooks()
    assert laya_hooks.default_hooks() == []


def test_what_is_no_hook_changes_nothing():
    hook = Recorder()
    laya_hooks.set_default_hooks(hook)
    for change in (laya_hooks.set_default_hooks, laya_hooks.add_default_hook):
        with pytest.raises(TypeError):
            change([Recorder(), print])
    assert laya_hooks.default_hooks() == [hook]


def test_the_list_is_a_copy():
    laya_hooks.add_default_hook(Recorder())
    laya_hooks.default_hooks().clear()
    assert len(laya_hooks.default_hooks()) == 1


def test_compose_puts_the_defaults_first():
    default, own = Recorder("default"), Recorder("own")
    laya_hooks.add_default_hook(default)
    assert laya_hooks.compose_hooks([own]) == [default, own]
    assert laya_hooks.compose_hooks() == [default]


def test_changes_apply_to_agents_that_exist_but_not_to_calls_in_flight():
    added = Recorder("added")
    agent = FakeAgent()
    agent.predict("x", {}, on_predict_start=lambda ctx: laya_hooks.add_default_hook(added))
    assert added.events == []
    agent.predict("x", {})
    assert added.events == ["on_predict_start", "on_predict_end"]


def test_plugins_come_before_hooks_added_in_code_and_markers_order_them_per_event():
    trace = []

    class Marked(Recorder):
        @hookimpl(tryfirst=True)
        def on_predict_start(self, ctx):
            trace.append((self.name, "on_predict_start"))

        @hookimpl(trylast=True)
        def on_predict_end(self, ctx):
            trace.append((self.name, "on_predict_end"))

    class Plain:
        def on_predict_start(self, ctx):
            trace.append(("plain", "on_predict_start"))

        def on_predict_end(self, ctx):
            trace.append(("plain", "on_predict_end"))

    marked = [Marked(name, events=["on_load"]) for name in ("m1", "m2")]
    plain = Plain()
    with plugged(marked[0], plain, marked[1]):
        added = Recorder("code")
        laya_hooks.add_default_hook(added)
        FakeAgent().predict("x", {})
        assert trace == [
            ("m1", "on_predict_start"),
            ("m2", "on_predict_start"),
            ("plain", "on_predict_start"),
            ("plain", "on_predict_end"),
            ("m1", "on_predict_end"),
            ("m2", "on_predict_end"),
        ]
        assert laya_hooks.default_hooks() == [marked[0], plain, marked[1], added]


def test_clear_and_set_remove_plugin_hooks_and_restore_brings_them_back_first():
    plugin, added = Recorder("plugin"), Recorder("added")
    with plugged(plugin):
        laya_hooks.clear_default_hooks()
        assert laya_hooks.default_hooks() == []
        laya_hooks.set_default_hooks(added)
        assert laya_hooks.default_hooks() == [added]
        laya_hooks.restore_plugin_hooks()
        assert laya_hooks.default_hooks() == [plugin, added]
        FakeAgent().predict("x", {})
    assert plugin.events == added.events == ["on_predict_start", "on_predict_end"]


def test_markers_mean_nothing_outside_of_plugins():
    trace = []

    class Last:
        @hookimpl(trylast=True)
        def on_predict_start(self, ctx):
            trace.append("last")

    FakeAgent(hooks=[Last()]).predict("x", {}, on_predict_start=lambda ctx: trace.append("call"))
    assert trace == ["last", "call"]


def test_defaults_run_once_around_a_routers_call():
    trace = []
    laya_hooks.add_default_hook(Recorder("default", trace))
    router = FakeRouter(lambda name: FakeAgent(name, hooks=[Recorder("agent", trace)]))
    router.predict("x", {})
    assert names(trace) == [
        ("default", "on_route"),
        ("default", "on_load"),
        ("default", "on_predict_start"),
        ("agent", "on_predict_start"),
        ("agent", "on_predict_end"),
        ("default", "on_predict_end"),
    ]


def test_an_agent_that_a_hook_calls_inside_a_routers_call_gets_the_defaults():
    other = FakeAgent("other")
    seen = Recorder("default", events=["on_predict_start"])
    laya_hooks.add_default_hook(seen)
    inner = Recorder("inner", acts={"on_predict_end": lambda ctx: other.predict("nested", {})})
    FakeRouter(lambda name: FakeAgent(name, hooks=[inner])).predict("x", {})
    assert [entry.states for entry in seen.trace] == [("x",), ("nested",)]


def test_the_routers_mark_is_used_up_by_one_call_and_ends_with_its_block():
    seen = Recorder(events=["on_predict_start"])
    laya_hooks.add_default_hook(seen)
    agent = FakeAgent()
    with defaults_already_run():
        agent.predict("first", {})
        agent.predict("second", {})
    with defaults_already_run():
        pass
    agent.predict("third", {})
    assert [entry.states for entry in seen.trace] == [("second",), ("third",)]
