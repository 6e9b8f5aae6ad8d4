"""A forked child starts without the threads and the lock holders of its parent."""

from __future__ import annotations

import asyncio
import os
import threading

import pytest

from laya_hooks import AsyncHook
from laya_hooks.testing import FakeAgent, plugged

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def in_a_child(work):
    """Run `work` in a forked child, and fail if it fails or hangs there."""
    child = os.fork()
    if child == 0:
        watchdog = threading.Timer(60, os._exit, (3,))
        watchdog.daemon = True
        watchdog.start()
        try:
            work()
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Remote:
    async def on_predict_start(self, ctx):
        await asyncio.sleep(0)


def test_background_loops_are_made_anew():
    agent = FakeAgent(hooks=[AsyncHook(Remote())])

    async def main():
        agent.predict("x", {})

    asyncio.run(main())
    in_a_child(lambda: asyncio.run(main()))
    asyncio.run(main())


def test_a_lock_that_a_hook_of_the_parent_holds_is_free_in_the_child():
    inside, leave = threading.Event(), threading.Event()

    def hold(ctx):
        inside.set()
        leave.wait(60)

    agent = FakeAgent(hooks_concurrent=False)
    holder = threading.Thread(target=agent.predict, args=("x", {}), kwargs={"on_predict_start": hold})
    holder.start()
    inside.wait(60)
    in_a_child(lambda: agent.predict("x", {}, on_predict_start=lambda ctx: None))
    leave.set()
    holder.join()


def test_a_hook_may_fork_and_the_child_may_finish_the_call():
    agent = FakeAgent(hooks_concurrent=False)
    in_hook = []

    def fork(ctx):
        in_hook.append(os.fork())
        if in_hook[0]:
            return
        agent.predict("nested", {}, on_predict_end=lambda ctx: None)

    agent.predict("x", {}, on_predict_start=fork)
    if not in_hook[0]:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(in_hook[0], 0)[1]) == 0


def test_hooks_can_be_installed_in_a_child_of_busy_threads():
    stop = threading.Event()
    agent = FakeAgent()

    def busy():
        hook = Remote()
        while not stop.is_set():
            agent.add_hook(hook)
            agent.remove_hook(hook)

    threads = [threading.Thread(target=busy) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        with plugged():
            for _ in range(5):
                in_a_child(lambda: agent.add_hook(Remote()))
    finally:
        stop.set()
        for thread in threads:
            thread.join()
