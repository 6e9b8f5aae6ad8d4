"""Outputs reach whoever asked for them, once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

import pytest
from transformers.generation.continuous_batching import RequestStatus

from laya_core.text.mailbox import Mailbox
from laya_core.text.output import TextOutput


def output(request_id: str, *tokens: int, last: bool = True) -> TextOutput:
    status = RequestStatus.FINISHED if last else RequestStatus.DECODING
    return TextOutput(request_id, [1], list(tokens), [], None, status, 0.0)


@pytest.fixture
def mailbox() -> Mailbox:
    box = Mailbox()
    for request_id in "ab":
        box.expect(request_id)
    return box


def in_a_thread(call: Callable[[], TextOutput | None]) -> Callable[[], TextOutput | None]:
    """Start a call in a thread; the returned function waits for its result."""
    results: list[TextOutput | None] = []
    thread = threading.Thread(target=lambda: results.append(call()), daemon=True)
    thread.start()

    def result() -> TextOutput | None:
        thread.join(30)
        assert not thread.is_alive()
        return results[0]

    return result


def test_outputs_of_a_request_come_in_order_and_once(mailbox: Mailbox) -> None:
    mailbox.put(output("a", 1, last=False))
    mailbox.put(output("b", 9))
    mailbox.put(output("a", 1, 2))
    assert [mailbox.take("a"), mailbox.take("a"), mailbox.take("a")] == [
        output("a", 1, last=False),
        output("a", 1, 2),
        None,
    ]
    assert mailbox.take("b") == output("b", 9)


def test_any_output_is_that_of_the_request_that_has_waited_longest(mailbox: Mailbox) -> None:
    mailbox.put(output("b", 9))
    mailbox.put(output("a", 1))
    assert [mailbox.take_any(), mailbox.take_any(), mailbox.take_any()] == [output("b", 9), output("a", 1), None]


def test_waiting_ends_with_the_timeout(mailbox: Mailbox) -> None:
    assert mailbox.take("a", timeout=0) is None
    assert mailbox.take("a", timeout=0.01) is None
    assert mailbox.take_any(timeout=0.01) is None


def test_an_unknown_request_is_not_waited_for(mailbox: Mailbox) -> None:
    assert mailbox.take("c") is None


def test_every_waiter_gets_its_own_output(mailbox: Mailbox) -> None:
    first, second = in_a_thread(lambda: mailbox.take("a")), in_a_thread(lambda: mailbox.take("b"))
    mailbox.put(output("b", 9))
    mailbox.put(output("a", 1))
    assert (first(), second()) == (output("a", 1), output("b", 9))


def test_two_waiters_for_one_output_both_wake(mailbox: Mailbox) -> None:
    waiters = [in_a_thread(lambda: mailbox.take("a")) for _ in range(2)]
    mailbox.put(output("a", 1))
    assert sorted(waiter() is None for waiter in waiters) == [False, True]


def test_waiters_for_any_wake_when_nothing_is_left() -> None:
    mailbox = Mailbox()
    mailbox.expect("a")
    waiters = [in_a_thread(mailbox.take_any) for _ in range(3)]
    mailbox.put(output("a", 1))
    assert sorted(waiter() is None for waiter in waiters) == [False, True, True]


def test_a_forgotten_request_wakes_its_waiters(mailbox: Mailbox) -> None:
    waiter = in_a_thread(lambda: mailbox.take("a"))
    mailbox.forget("a")
    assert waiter() is None


def test_a_live_id_is_refused_and_a_finished_one_may_come_again(mailbox: Mailbox) -> None:
    with pytest.raises(ValueError, match="'a' is live"):
        mailbox.expect("a")
    mailbox.put(output("a", 1))
    mailbox.expect("a")
    mailbox.put(output("a", 2))
    assert [mailbox.take("a"), mailbox.take("a"), mailbox.take("a")] == [output("a", 1), output("a", 2), None]


def test_a_handler_needs_a_running_loop(mailbox: Mailbox) -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        mailbox.register("a", print)


def test_a_handler_gets_what_waits_and_what_comes(mailbox: Mailbox) -> None:
    async def scenario() -> list[TextOutput]:
        seen: list[TextOutput] = []
        done = asyncio.Event()

        def handle(arrived: TextOutput) -> None:
            seen.append(arrived)
            if arrived.is_finished():
                done.set()

        mailbox.put(output("a", 1, last=False))
        mailbox.register("a", handle)
        await asyncio.to_thread(mailbox.put, output("a", 1, 2))
        await asyncio.wait_for(done.wait(), 30)
        return seen

    assert asyncio.run(scenario()) == [output("a", 1, last=False), output("a", 1, 2)]
    assert mailbox.take("a") is None


def test_a_handler_may_come_before_its_request_and_after_its_end(mailbox: Mailbox) -> None:
    async def scenario() -> list[TextOutput]:
        seen: asyncio.Queue[TextOutput] = asyncio.Queue()
        mailbox.register("early", seen.put_nowait)
        mailbox.expect("early")
        mailbox.put(output("early", 1))
        mailbox.put(output("a", 2))
        mailbox.register("a", seen.put_nowait)
        return [await asyncio.wait_for(seen.get(), 30) for _ in range(2)]

    assert asyncio.run(scenario()) == [output("early", 1), output("a", 2)]


def test_a_closed_loop_loses_its_outputs_and_nothing_else(mailbox: Mailbox) -> None:
    async def scenario() -> None:
        mailbox.register("a", print)

    asyncio.run(scenario())
    mailbox.put(output("a", 1))
    mailbox.put(output("b", 2))
    assert mailbox.take("b") == output("b", 2)
