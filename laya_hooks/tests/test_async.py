"""Async events: where coroutines run, what they see, and which loops are refused."""

from __future__ import annotations

import asyncio
import threading
import warnings
from asyncio import CancelledError
from contextvars import ContextVar

import pytest

from laya_hooks import AsyncHook, run_coroutine_sync
from laya_hooks.testing import FakeAgent

user: ContextVar[str] = ContextVar("user", default="nobody")


class Remote:
    """An async hook that notes where its events run, and may do something there."""

    def __init__(self, act=None):
        self.seen = []
        self.act = act

    async def on_predict_start(self, ctx):
        self.seen.append((asyncio.get_running_loop(), threading.get_ident(), user.get()))
        await asyncio.sleep(0)
        if self.act is not None:
            self.act()


@pytest.fixture
def other_loop():
    """A loop that runs in a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    yield loop
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_without_a_running_loop_the_coroutine_runs_in_the_callers_thread():
    hook = Remote()
    FakeAgent(hooks=[AsyncHook(hook)]).predict("x", {})
    ((loop, thread, _),) = hook.seen
    assert thread == threading.get_ident()
    assert loop.is_closed()


def test_inside_a_running_loop_it_runs_on_a_background_loop_the_same_every_time():
    hook = Remote()
    agent = FakeAgent(hooks=[AsyncHook(hook)])

    async def main():
        for _ in range(2):
            agent.predict("x", {})
        return asyncio.get_running_loop()

    own = asyncio.run(main())
    loops = {loop for loop, _, _ in hook.seen}
    assert len(loops) == 1
    assert own not in loops
    assert threading.get_ident() not in {thread for _, thread, _ in hook.seen}


def test_a_plain_hook_may_be_async_without_the_wrapper_and_so_may_a_callable():
    hook, called = Remote(), []

    async def call(ctx):
        called.append(ctx.results)

    FakeAgent(hooks=[hook]).predict("x", {}, on_predict_end=[call])
    assert len(hook.seen) == len(called) == 1


def test_sync_events_of_a_wrapped_hook_run_as_they_are():
    class Mixed(Remote):
        def on_predict_end(self, ctx):
            self.seen.append("end")

    hook = Mixed()
    wrapped = AsyncHook(hook)
    FakeAgent(hooks=[wrapped]).predict("x", {})
    assert hook.seen[1:] == ["end"]
    assert not hasattr(wrapped, "on_load")


@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize("timeout", [None, 60.0])
def test_coroutines_see_a_copy_of_the_callers_context(in_loop, timeout):
    hook = Remote(lambda: user.set("eve"))
    agent = FakeAgent(hooks=[hook])
    token = user.set("ada")

    async def main():
        agent.predict("x", {}, hooks_timeout=timeout)
        return user.get()

    try:
        if in_loop:
            assert asyncio.run(main()) == "ada"
        else:
            agent.predict("x", {}, hooks_timeout=timeout)
            assert user.get() == "ada"
        assert hook.seen[0][2] == "ada"
    finally:
        user.reset(token)


@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt("no"), SystemExit("no"), CancelledError("no")])
def test_what_a_coroutine_raises_arrives_as_it_is(in_loop, error):
    async def fail():
        raise error

    async def main():
        with pytest.raises(type(error)) as raised:
            run_coroutine_sync(fail())
        return raised.value

    if in_loop:
        assert asyncio.run(main()) is error
    else:
        with pytest.raises(type(error)) as raised:
            run_coroutine_sync(fail())
        assert raised.value is error


def test_the_background_loop_survives_what_coroutines_raise():
    async def leave():
        raise SystemExit

    async def answer():
        return 42

    async def main():
        with pytest.raises(SystemExit):
            run_coroutine_sync(leave())
        return run_coroutine_sync(answer())

    assert asyncio.run(main()) == 42


def test_any_awaitable_is_run():
    class Later:
        def __await__(self):
            yield from asyncio.sleep(0).__await__()
            return 42

    assert run_coroutine_sync(Later()) == 42


def test_a_given_loop_runs_the_coroutine(other_loop):
    hook = Remote()
    FakeAgent(hooks=[AsyncHook(hook, loop=other_loop)]).predict("x", {})
    assert hook.seen[0][0] is other_loop


def refused(call, message):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=message):
            call()


def test_a_loop_that_does_not_run_is_refused_and_the_coroutine_closed():
    loop = asyncio.new_event_loop()
    loop.close()
    agent = FakeAgent(hooks=[AsyncHook(Remote(), loop=loop)])
    refused(lambda: agent.predict("x", {}), "is not running")


def test_a_timeout_does_not_hide_that_a_loop_does_not_run():
    loop = asyncio.new_event_loop()
    loop.close()
    agent = FakeAgent(hooks=[AsyncHook(Remote(), loop=loop)], hooks_timeout=60)
    refused(lambda: agent.predict("x", {}), "is not running")


@pytest.mark.parametrize("timeout", [None, 60.0])
def test_the_callers_own_loop_is_refused_and_the_coroutine_closed(timeout):
    async def main():
        agent = FakeAgent(hooks=[AsyncHook(Remote(), loop=asyncio.get_running_loop())])
        refused(lambda: agent.predict("x", {}, hooks_timeout=timeout), "is the caller's own")

    asyncio.run(main())


def test_a_loop_blocked_further_up_is_refused():
    async def main():
        inner = FakeAgent(hooks=[AsyncHook(Remote(), loop=asyncio.get_running_loop())])
        outer = Remote(lambda: inner.predict("x", {}))
        refused(lambda: FakeAgent(hooks=[AsyncHook(outer)]).predict("x", {}), "is the caller's own")
        assert len(outer.seen) == 1

    asyncio.run(main())


def test_a_loop_is_usable_again_once_nothing_waits_for_it(other_loop):
    """A thread started by a hook keeps a copy of the context in which the loop was blocked."""
    results = []

    async def main():
        import contextvars

        contexts = []
        FakeAgent().predict(
            "x", {}, on_predict_start=lambda ctx: contexts.append(contextvars.copy_context()), hooks_timeout=60
        )
        agent = FakeAgent(hooks=[AsyncHook(Remote(), loop=asyncio.get_running_loop())])
        work = asyncio.to_thread(contexts[0].run, agent.predict, "x", {})
        results.append(await work)

    asyncio.run(main())
    assert results[0]["model"] == "fake"


@pytest.mark.parametrize("depth", [2, 4])
def test_async_hooks_may_call_agents_with_async_hooks(depth):
    hooks = [Remote()]
    for _ in range(depth - 1):
        agent = FakeAgent(hooks=[AsyncHook(hooks[-1])])
        hooks.append(Remote(lambda agent=agent: agent.predict("x", {})))

    async def main():
        FakeAgent(hooks=[AsyncHook(hooks[-1])]).predict("x", {})

    asyncio.run(main())
    loops = [hook.seen[0][0] for hook in hooks]
    assert len(set(loops)) == depth


def test_callers_in_many_loops_at_once_do_not_wait_for_one_another():
    both_inside = threading.Barrier(4, timeout=60)
    agent = FakeAgent(hooks=[AsyncHook(Remote(both_inside.wait))])
    results = []

    async def main():
        results.append(agent.predict("x", {}))

    threads = [threading.Thread(target=asyncio.run, args=(main(),)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4


def test_a_loop_that_stops_before_the_hook_is_done_is_an_error():
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def stop_and_go_on():
        loop.stop()
        await asyncio.sleep(3600)

    with pytest.raises(RuntimeError, match="stopped before the hook was done"):
        run_coroutine_sync(stop_and_go_on(), loop)
    thread.join()
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()
