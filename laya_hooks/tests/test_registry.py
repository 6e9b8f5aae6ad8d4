"""Hooks installed on an agent: added, removed, scoped, per call."""

from __future__ import annotations

import threading
import types

import pytest

import laya_hooks
from laya_hooks.testing import FakeAgent, FakeRouter, Recorder


def in_a_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def test_installed_hooks_run_before_per_call_hooks_and_callables():
    trace = []
    agent = FakeAgent(hooks=[Recorder("a", trace), Recorder("b", trace)])
    agent.predict("x", {}, hooks=Recorder("c", trace), on_predict_end=lambda ctx: trace.append("callable"))
    assert [getattr(seen, "hook", seen) for seen in trace] == ["a", "b", "c", "a", "b", "c", "callable"]


def test_add_hook_chains_and_takes_a_hook_or_a_sequence():
    a, b, c = Recorder("a"), Recorder("b"), Recorder("c")
    agent = FakeAgent()
    assert agent.add_hook(a).add_hook([b, c]) is agent
    assert agent.hooks == [a, b, c]


def test_add_hook_takes_no_bare_callable():
    with pytest.raises(TypeError, match="on_predict_start="):
        FakeAgent().add_hook(print)


def test_hooks_are_a_copy():
    agent = FakeAgent(hooks=[Recorder()])
    agent.hooks.clear()
    assert len(agent.hooks) == 1


def test_remove_hook_goes_by_identity_and_tells_whether_it_was_there():
    class Equal(Recorder):
        def __eq__(self, other):
            return True

        __hash__ = None

    first, second = Equal(), Equal()
    agent = FakeAgent(hooks=[first])
    assert agent.remove_hook(second) is False
    assert agent.remove_hook(first) is True
    assert agent.remove_hook(first) is False


def test_a_hook_installed_twice_runs_twice_and_loses_its_newest_place_first():
    a, b = Recorder("a"), Recorder("b")
    agent = FakeAgent(hooks=[a, b, a])
    agent.predict("x", {})
    assert len(a.trace) == 4
    agent.remove_hook(a)
    assert agent.hooks == [a, b]


def test_a_block_installs_for_its_time_even_if_it_raises():
    agent, hook = FakeAgent(), Recorder()
    with agent.hooks_installed(hook, [Recorder("b")]):
        assert [installed.name for installed in agent.hooks] == ["recorder", "b"]
    assert agent.hooks == []
    with pytest.raises(ZeroDivisionError), agent.hooks_installed(hook):
        raise ZeroDivisionError
    assert agent.hooks == []


def test_a_block_with_something_that_is_no_hook_installs_nothing():
    agent = FakeAgent()
    with pytest.raises(TypeError), agent.hooks_installed(Recorder(), 3):
        pass
    assert agent.hooks == []


def test_leaving_a_block_removes_what_it_added_and_nothing_else():
    before, block, meanwhile = Recorder("before"), Recorder("block"), Recorder("meanwhile")
    agent = FakeAgent(hooks=[before, block])
    with agent.hooks_installed(block, before):
        agent.add_hook(meanwhile)
    assert agent.hooks == [before, block, meanwhile]


def test_leaving_a_block_whose_hook_is_gone_leaves_the_others():
    hook, other = Recorder(), Recorder("other")
    agent = FakeAgent(hooks=[other])
    with agent.hooks_installed(hook):
        agent.remove_hook(hook)
    assert agent.hooks == [other]


def test_overlapping_blocks_of_two_threads_take_away_their_own_hooks():
    agent, mine, theirs, shared = FakeAgent(), Recorder("mine"), Recorder("theirs"), Recorder("shared")
    entered, leave = threading.Event(), threading.Event()

    def other_thread():
        with agent.hooks_installed(theirs, shared):
            entered.set()
            leave.wait(60)

    with agent.hooks_installed(mine, shared):
        thread = threading.Thread(target=other_thread)
        thread.start()
        entered.wait(60)
    assert agent.hooks == [shared, theirs] or agent.hooks == [theirs, shared]
    leave.set()
    thread.join()
    assert agent.hooks == []


def test_changes_during_a_call_do_not_touch_it():
    added = Recorder("added")

    def change(ctx):
        in_a_thread(lambda: ctx.agent.add_hook(added))
        in_a_thread(lambda: ctx.agent.remove_hook(removed))

    removed = Recorder("removed", acts={"on_predict_start": change})
    agent = FakeAgent(hooks=[removed])
    agent.predict("x", {})
    assert removed.events == ["on_predict_start", "on_predict_end"]
    assert added.events == []
    agent.predict("x", {})
    assert added.events == ["on_predict_start", "on_predict_end"]


def test_many_threads_may_install_and_remove_at_once():
    agent = FakeAgent()

    def work():
        for _ in range(200):
            hook = Recorder()
            agent.add_hook(hook)
            with agent.hooks_installed(Recorder()):
                pass
            assert agent.remove_hook(hook)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert agent.hooks == []


def test_settings_of_a_call_replace_those_of_the_agent():
    def fail(ctx):
        raise ValueError("no")

    quiet, loud = FakeAgent(hooks_raise=False), FakeAgent()
    with pytest.raises(ValueError, match="no"):
        quiet.predict("x", {}, on_predict_start=fail, hooks_raise=True)
    with pytest.warns(RuntimeWarning, match="ValueError: no"):
        loud.predict("x", {}, on_predict_start=fail, hooks_raise=False)


def test_a_call_may_run_its_hooks_under_a_timeout_and_an_agent_all_of_them():
    threads = []

    def note(ctx):
        threads.append(threading.get_ident())

    FakeAgent().predict("x", {}, on_predict_start=note)
    FakeAgent().predict("x", {}, on_predict_start=note, hooks_timeout=60)
    FakeAgent(hooks_timeout=60).predict("x", {}, on_predict_start=note)
    assert [ident == threading.get_ident() for ident in threads] == [True, False, False]


@pytest.mark.parametrize("arguments", [{"hooks_timeout": 0}, {"hooks_timeout": True}])
def test_a_bad_timeout_is_refused_at_construction_and_at_the_call(arguments):
    with pytest.raises(ValueError, match="hooks_timeout"):
        FakeAgent(**arguments)
    with pytest.raises(ValueError, match="hooks_timeout"):
        FakeAgent().predict("x", {}, **arguments)


@pytest.mark.parametrize("arguments", [{"hooks": Recorder}, {"hooks": print}, {"on_predict_end": 3}])
def test_what_is_no_hook_is_refused_at_construction_and_at_the_call(arguments):
    with pytest.raises(TypeError):
        FakeAgent(**arguments)
    with pytest.raises(TypeError):
        FakeAgent().predict("x", {}, **arguments)


class Redact:
    def on_predict_start(self, ctx):
        ctx.states = ["[redacted]"]
        yield


@pytest.mark.parametrize(
    "install",
    [
        lambda hook: FakeAgent(hooks=[hook]),
        lambda hook: FakeAgent(on_predict_start=hook.on_predict_start),
        lambda hook: FakeAgent().add_hook(hook),
        lambda hook: FakeAgent().hooks_installed(hook).__enter__(),
        lambda hook: FakeAgent().predict("x", {}, hooks=hook),
        lambda hook: FakeAgent().predict("x", {}, on_predict_end=hook.on_predict_start),
        lambda hook: FakeRouter(hooks=hook),
        lambda hook: FakeRouter().predict("x", {}, hooks=hook),
        laya_hooks.set_default_hooks,
        laya_hooks.add_default_hook,
        laya_hooks.compose_hooks,
    ],
)
def test_a_generator_function_is_refused_wherever_a_hook_can_be_given(install):
    with pytest.raises(TypeError, match="is a generator function, so calling it would run nothing of its body"):
        install(Redact())


def test_a_generator_made_awaitable_runs():
    @types.coroutine
    def redact(ctx):
        ctx.states = ["[redacted]"]
        yield

    recorder = Recorder()
    FakeAgent(on_predict_start=redact).predict("x", {}, hooks=recorder)
    assert recorder.trace[-1].states == ("[redacted]",)
