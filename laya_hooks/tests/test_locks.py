"""hooks_concurrent=False: one hook at a time, re-entrant along the lineage of a call."""

from __future__ import annotations

import contextvars
import threading

import pytest

from laya_hooks import PredictContext, dispatch
from laya_hooks.testing import FakeAgent, Recorder

LONG = 60.0
SHORT = 0.05


class Exclusive:
    """A hook that notices when two of its calls overlap."""

    def __init__(self):
        self._inside = threading.Semaphore(1)
        self.overlaps = 0
        self.calls = 0

    def on_predict_start(self, ctx):
        if not self._inside.acquire(blocking=False):
            self.overlaps += 1
            return
        self.calls += 1
        threading.Event().wait(0.001)
        self._inside.release()

    on_predict_end = on_predict_start


@pytest.fixture
def gate():
    gate = threading.Event()
    yield gate
    gate.set()


def run_all(*works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("timeout", [None, LONG])
def test_hooks_of_many_threads_run_one_at_a_time(timeout):
    hook = Exclusive()
    agent = FakeAgent(hooks=[hook], hooks_concurrent=False, hooks_timeout=timeout)
    run_all(*[lambda: [agent.predict("x", {}) for _ in range(5)]] * 6)
    assert (hook.overlaps, hook.calls) == (0, 60)


def test_by_default_hooks_of_two_threads_overlap():
    both_inside = threading.Barrier(2, timeout=LONG)
    agent = FakeAgent(on_predict_start=lambda ctx: both_inside.wait())
    run_all(*[lambda: agent.predict("x", {})] * 2)
    assert not both_inside.broken


def nesting(agents, depth):
    """A start hook that calls the agent again, `depth` times in all."""
    calls = []

    def nest(ctx):
        calls.append(threading.get_ident())
        if len(calls) < depth:
            agents[0].predict("x", {})

    return nest, calls


@pytest.mark.parametrize("timeout", [None, LONG])
def test_a_hook_may_call_its_own_agent(timeout):
    agents = []
    nest, calls = nesting(agents, depth=3)
    agents.append(FakeAgent(on_predict_start=nest, hooks_concurrent=False, hooks_timeout=timeout))
    agents[0].predict("x", {})
    assert len(calls) == 3
    assert len(set(calls)) == (1 if timeout is None else 3)


@pytest.mark.parametrize("lock", [threading.RLock, threading.Lock])
@pytest.mark.parametrize("timeout", [None, LONG])
def test_any_lock_is_re_entered_along_the_lineage(lock, timeout):
    held, seen = lock(), []

    def nest(ctx):
        seen.append(ctx.states[0])
        if ctx.states[0] > 0:
            dispatch([hook], "on_load", PredictContext([ctx.states[0] - 1], {}), lock=held, timeout=timeout)

    hook = Recorder(acts={"on_load": nest})
    dispatch([hook], "on_load", PredictContext([2], {}), lock=held, timeout=timeout)
    assert seen == [2, 1, 0]
    assert held.acquire(blocking=False)


def test_a_hook_may_call_its_agent_in_an_empty_context():
    agents, results = [], []

    def nest(ctx):
        if not results:
            results.append(None)
            results[0] = contextvars.Context().run(agents[0].predict, "inner", {})

    agents.append(FakeAgent(on_predict_start=nest, hooks_concurrent=False))
    agents[0].predict("x", {})
    assert results[0]["model"] == "fake"


def test_threads_started_by_one_hook_still_exclude_each_other():
    inner = Exclusive()
    agents = []

    def fan_out(ctx):
        if ctx.states == ["outer"]:
            contexts = [contextvars.copy_context() for _ in range(4)]
            run_all(*[lambda context=context: context.run(agents[0].predict, "inner", {}) for context in contexts])

    agents.append(FakeAgent(hooks=[inner], on_predict_start=fan_out, hooks_concurrent=False))
    agents[0].predict("outer", {})
    assert inner.overlaps == 0


def test_a_context_kept_from_a_hook_gives_no_access_once_that_hook_is_done(gate):
    contexts, inside, done = [], threading.Event(), threading.Event()

    def keep(ctx):
        contexts.append(contextvars.copy_context())

    def block(ctx):
        inside.set()
        gate.wait(LONG)

    agent = FakeAgent(hooks_concurrent=False)
    agent.predict("x", {}, on_predict_start=keep)
    blocking = threading.Thread(target=lambda: agent.predict("x", {}, on_predict_start=block))
    blocking.start()
    inside.wait(LONG)
    late = threading.Thread(
        target=lambda: contexts[0].run(agent.predict, "x", {}, on_predict_start=lambda ctx: done.set()), daemon=True
    )
    late.start()
    assert not done.wait(SHORT)
    gate.set()
    assert done.wait(LONG)
    blocking.join()
    late.join()


def test_waiting_for_the_lock_counts_and_the_hook_is_never_run_late(gate):
    inside, late = threading.Event(), []

    def hold(ctx):
        inside.set()
        gate.wait(LONG)

    agent = FakeAgent(hooks_concurrent=False)
    holder = threading.Thread(target=lambda: agent.predict("x", {}, on_predict_start=hold))
    holder.start()
    inside.wait(LONG)
    with pytest.raises(TimeoutError, match=r"did not get its turn .* it was not run"):
        agent.predict("x", {}, on_predict_start=late.append, hooks_timeout=SHORT)
    gate.set()
    holder.join()
    agent.predict("x", {}, on_predict_start=lambda ctx: None)
    assert late == []


def test_a_hook_that_overran_keeps_the_lock_until_it_ends(gate):
    def overrun(ctx):
        gate.wait(LONG)

    agent = FakeAgent(hooks_concurrent=False)
    with pytest.raises(TimeoutError, match="took longer"):
        agent.predict("x", {}, on_predict_start=overrun, hooks_timeout=SHORT)
    with pytest.raises(TimeoutError, match="did not get its turn"):
        agent.predict("x", {}, on_predict_start=lambda ctx: None, hooks_timeout=SHORT)
    gate.set()
    ran = []
    agent.predict("x", {}, on_predict_start=ran.append, hooks_timeout=LONG)
    assert len(ran) == 1


def test_a_nested_hook_that_overran_keeps_the_lock_after_the_hook_around_it_ended(gate):
    agent = FakeAgent(hooks_concurrent=False)

    def overrun(ctx):
        gate.wait(LONG)

    def nest(ctx):
        with pytest.raises(TimeoutError, match="took longer"):
            agent.predict("inner", {}, on_predict_start=overrun, hooks_timeout=SHORT)

    agent.predict("x", {}, on_predict_start=nest)
    with pytest.raises(TimeoutError, match="did not get its turn"):
        agent.predict("x", {}, on_predict_start=lambda ctx: None, hooks_timeout=SHORT)
    gate.set()
    ran = []
    agent.predict("x", {}, on_predict_start=ran.append, hooks_timeout=LONG)
    assert len(ran) == 1


def test_the_lock_is_given_back_when_a_hook_raises():
    agent = FakeAgent(hooks_concurrent=False)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            agent.predict("x", {}, on_predict_start=lambda ctx: 1 / 0)
