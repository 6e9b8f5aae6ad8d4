"""The manager of text generation: streaming, handlers, cancelling, pausing, stopping, and what survives a failure."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from laya_core.batching.config import ContinuousBatchingConfig
from laya_core.text import TextAgent, TextOutput
from laya_hooks import QueueFull

Running = Callable[..., Any]
PROMPT = [1, 5, 6, 7]
GENERATED = [56, 51, 83, 51, 32, 39, 19, 82]  # after PROMPT


def test_a_stream_grows_by_one_token_and_ends(running: Running) -> None:
    with running() as manager:
        request_id = manager.add_request(PROMPT, streaming=True)
        outputs = list(manager.request_id_iter(request_id))
    assert [output.generated_tokens for output in outputs] == [GENERATED[:count] for count in range(1, 9)]
    assert [output.is_finished() for output in outputs] == [False] * 7 + [True]
    assert {output.request_id for output in outputs} == {request_id}


def test_without_streaming_one_output_comes(running: Running) -> None:
    with running() as manager:
        request_id = manager.add_request(PROMPT, request_id="mine")
        assert [output.generated_tokens for output in manager.request_id_iter(request_id)] == [GENERATED]
        assert manager.get_result("mine") is None


def test_results_are_taken_by_id_in_any_order(running: Running, greedy: Callable[..., list[int]]) -> None:
    prompts = [[1, number] for number in range(4, 24)]
    with running() as manager:
        ids = manager.add_requests(prompts)
        results = {request_id: manager.get_result(request_id).generated_tokens for request_id in reversed(ids)}
    assert [results[request_id] for request_id in ids] == [greedy(prompt, max_new_tokens=8) for prompt in prompts]


def test_iteration_gives_everything_that_comes(running: Running) -> None:
    with running() as manager:
        ids = manager.add_requests([PROMPT] * 5)
        assert sorted(output.request_id for output in manager) == sorted(ids)


def test_a_handler_is_called_on_the_loop_for_every_token(running: Running) -> None:
    async def scenario(manager: Any) -> list[tuple[int, bool]]:
        seen: list[tuple[int, bool]] = []
        done = asyncio.Event()

        def handle(output: TextOutput) -> None:
            assert asyncio.get_running_loop() is loop
            seen.append((len(output.generated_tokens), output.is_finished()))
            if output.is_finished():
                done.set()

        loop = asyncio.get_running_loop()
        manager.register_result_handler("a", handle)
        manager.add_request(PROMPT, request_id="a", streaming=True, max_new_tokens=3)
        await asyncio.wait_for(done.wait(), 60)
        return seen

    with running() as manager:
        assert asyncio.run(scenario(manager)) == [(1, False), (2, False), (3, True)]


def test_a_handler_registered_late_gets_the_result(running: Running) -> None:
    async def scenario(manager: Any) -> TextOutput:
        arrived: asyncio.Queue[TextOutput] = asyncio.Queue()
        manager.register_result_handler("a", arrived.put_nowait)
        return await asyncio.wait_for(arrived.get(), 60)

    with running() as manager:
        manager.add_request(PROMPT, request_id="a")
        manager.stop()  # so that the result is there
        assert asyncio.run(scenario(manager)).generated_tokens == GENERATED


def test_a_cancelled_request_ends_and_the_others_go_on(running: Running) -> None:
    with running() as manager:
        with manager.pause():
            first, second = manager.add_requests([PROMPT, PROMPT])
            manager.cancel_request(first)
            cancelled = manager.get_result(first)
            assert cancelled.cancelled and cancelled.is_finished()
            assert cancelled.error == f"request {first!r} was cancelled"
        assert manager.get_result(second).generated_tokens == GENERATED
        manager.cancel_request(second)
        manager.cancel_request("unheard of")
        assert manager.get_result(timeout=0) is None


@pytest.mark.parametrize("timeout", ["5", float("nan"), True, [1]])
def test_a_timeout_that_is_no_number_is_refused_before_anything_happens(
    running: Running, text_agent: TextAgent, timeout: Any
) -> None:
    refusal = pytest.raises(
        ValueError, match="timeout must be a number of seconds, or None to wait without a bound, not"
    )
    with running() as manager:
        request_id = manager.add_request(PROMPT)
        for wait in (manager.get_result, partial(manager.get_result, request_id), manager.stop, manager.join):
            with refusal:
                wait(timeout=timeout)
        assert manager.get_result(request_id, timeout=10**400).generated_tokens == GENERATED
        assert manager.get_result(timeout=-1.5) is None
    with refusal, text_agent.continuous_batching_context_manager(timeout=timeout):
        pytest.fail("the block was entered")


def test_a_request_cancelled_in_mid_stream_keeps_its_tokens(running: Running) -> None:
    with running() as manager:
        request_id = manager.add_request([1, 9], streaming=True, max_new_tokens=900, eos_token_id=-1)
        stream = manager.request_id_iter(request_id)
        next(stream)
        manager.cancel_request(request_id)
        *_, last = stream
        assert last.cancelled and 1 <= len(last.generated_tokens) < 900
        assert manager.get_result(manager.add_request(PROMPT, request_id=request_id)).generated_tokens == GENERATED


def test_a_live_id_is_refused(running: Running) -> None:
    with running() as manager, manager.pause():
        manager.add_request(PROMPT, request_id="a")
        with pytest.raises(ValueError, match="'a' is live"):
            manager.add_request(PROMPT, request_id="a")


def test_nothing_runs_inside_a_pause(running: Running) -> None:
    with running() as manager:
        with manager.pause(), manager.pause():
            request_id = manager.add_request(PROMPT)
            assert manager.get_result(request_id, timeout=0.2) is None
            with pytest.raises(RuntimeError, match=r"stop\(\) inside pause\(\)"):
                manager.stop()
            with pytest.raises(RuntimeError, match=r"stop\(\) inside pause\(\)"):
                manager.destroy()
            assert manager.is_running()
        assert manager.get_result(request_id).generated_tokens == GENERATED


def test_threads_hold_a_pause_together(running: Running) -> None:
    with running() as manager, ExitStack() as here:
        here.enter_context(manager.pause())
        inside, leave = threading.Event(), threading.Event()

        def hold() -> None:
            with manager.pause():
                inside.set()
                leave.wait(60)

        thread = threading.Thread(target=hold)
        thread.start()
        assert inside.wait(60)
        request_id = manager.add_request(PROMPT)
        here.close()
        assert manager.get_result(request_id, timeout=0.2) is None
        leave.set()
        thread.join(60)
        assert manager.get_result(request_id).generated_tokens == GENERATED


def test_stop_finishes_what_is_in_flight(running: Running) -> None:
    with running() as manager:
        ids = manager.add_requests([PROMPT] * 12)
        manager.stop()
        assert not manager.is_running()
        assert [manager.get_result(request_id).generated_tokens for request_id in ids] == [GENERATED] * 12
        with pytest.raises(RuntimeError, match="was stopped"):
            manager.add_request(PROMPT)
        manager.stop()


def test_a_hard_stop_fails_what_is_in_flight(running: Running) -> None:
    with running() as manager:
        with manager.pause():
            request_id = manager.add_request(PROMPT)
            waiter = threading.Thread(target=manager.stop, kwargs={"hard_stop": True})
            waiter.start()
            output = manager.get_result(request_id, timeout=60)
        waiter.join(60)
        assert output.error == "the manager was stopped" and output.is_finished() and not output.cancelled
        assert not manager.is_running() and not waiter.is_alive()


def test_stop_without_waiting_leads_to_the_same_end(running: Running) -> None:
    with running() as manager:
        request_id = manager.add_request(PROMPT)
        manager.stop(block=False)
        assert manager.get_result(request_id).generated_tokens == GENERATED
        manager.join(0.0, timeout=60)
        assert not manager.is_running()


def test_a_manager_that_never_started_fails_its_requests_when_stopped(text_agent: TextAgent) -> None:
    manager = text_agent.init_continuous_batching()
    request_id = manager.add_request(PROMPT)
    manager.stop()
    assert manager.get_result(request_id).error == "the manager was stopped before it was started"
    manager.destroy()


def test_a_stopped_manager_starts_again_and_a_destroyed_one_does_not(running: Running) -> None:
    with running() as manager:
        manager.stop()
        manager.start()
        assert manager.get_result(manager.add_request(PROMPT)).generated_tokens == GENERATED
        manager.destroy()
        manager.destroy()
        with pytest.raises(RuntimeError, match="was destroyed"):
            manager.start()


def test_a_manager_kept_for_the_next_session_comes_back(text_agent: TextAgent) -> None:
    config = ContinuousBatchingConfig(page_size=16, num_blocks=64)
    other = ContinuousBatchingConfig(page_size=16, num_blocks=32)
    with text_agent.continuous_batching_context_manager(
        continuous_batching_config=config, persistent_manager=True
    ) as manager:
        manager.get_result(manager.add_request(PROMPT))
    assert not manager.is_running()
    assert text_agent.init_continuous_batching(continuous_batching_config=other) is not manager
    with text_agent.continuous_batching_context_manager(
        continuous_batching_config=config, do_sample=False, max_new_tokens=8
    ) as different:
        assert different is not manager
    with text_agent.continuous_batching_context_manager(continuous_batching_config=config) as again:
        assert again is manager
        assert again.get_result(again.add_request(PROMPT, max_new_tokens=8)).generated_tokens == GENERATED


def test_a_batch_goes_through_a_running_manager(text_agent: TextAgent, running: Running) -> None:
    with running() as manager:
        request_id = manager.add_request(PROMPT, request_id="req_0")
        outputs = text_agent.generate_batch([[1, 9], PROMPT], max_new_tokens=3)
        assert [len(output.generated_tokens) for output in outputs.values()] == [3, 3]
        assert manager.get_result(request_id).generated_tokens == GENERATED
        assert manager.get_result(timeout=0) is None  # a batch's outputs are its caller's alone
        assert manager.is_running()


def test_a_persistent_manager_serves_later_batches_until_the_agent_closes(text_checkpoint: Path) -> None:
    with TextAgent(text_checkpoint, device="cpu") as agent:
        settings: dict[str, Any] = {"do_sample": False, "max_new_tokens": 8}
        agent.generate_batch([PROMPT], persistent_manager=True, **settings)
        (entry,) = agent.managers._entries
        outputs = agent.generate_batch([PROMPT], persistent_manager=True, **settings)
        assert outputs["req_0"].generated_tokens == GENERATED
        assert agent.managers._entries == [entry] and entry.manager.is_running()
    assert not entry.manager.is_running()
    with pytest.raises(RuntimeError, match="is closed"):
        agent.generate_batch([PROMPT])


def test_a_crash_of_the_engine_fails_every_waiter_with_the_cause(
    text_agent: TextAgent, running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running() as manager:
        manager.get_result(manager.add_request(PROMPT))
        with manager.pause():
            ids = manager.add_requests([PROMPT] * 3)

            def broken(*_: Any, **__: Any) -> None:
                raise ArithmeticError("the device fell off")

            monkeypatch.setattr(text_agent.model, "forward", broken)
        outputs = [manager.get_result(request_id, timeout=60) for request_id in ids]
        assert all(output is not None and "the device fell off" in output.error for output in outputs)
        manager._engine.join(0.0, timeout=60)
        assert not manager.is_running()
        with pytest.raises(RuntimeError, match=r"was stopped \(.*the device fell off"):
            manager.add_request(PROMPT)
        monkeypatch.undo()
        assert text_agent.generate_batch([PROMPT], max_new_tokens=8)["req_0"].generated_tokens == GENERATED


@pytest.mark.slow
def test_a_full_queue_is_refused_after_a_while(running: Running) -> None:
    with running(max_queue_size=1) as manager, manager.pause():
        manager.add_request(PROMPT)
        with pytest.raises(QueueFull, match="raise max_queue_size"):
            manager.add_requests([PROMPT] * 3)
