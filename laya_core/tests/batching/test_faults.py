"""Passes that fail, memory that runs out, a thread that dies: who is answered and who hears of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from laya_core import Agent
from laya_core.batching import ContinuousBatchingConfig, ContinuousBatchingManager, EngineCrashed, EngineStopped
from laya_core.batching import scheduler as schedulers
from laya_core.batching.scheduler import FifoScheduler, register_scheduler

from .fake_runner import FakeOutOfMemory, FakeRunner, Poisoned

ASKED = {"n": {"type": "noul", "instructions": "Is it urgent?"}}
Managed = Callable[..., tuple[ContinuousBatchingManager, FakeRunner]]


@pytest.fixture
def managed(agent_on: Callable[[str], Agent]) -> Iterator[Managed]:
    """A started manager with a fake runner whose passes wait until `runner.open` is set."""
    agent = agent_on("bert")
    poison = agent.engine.encoder.tokenizer.encode(["poison"])[0][0]
    made: list[tuple[ContinuousBatchingManager, FakeRunner]] = []

    def make(rescues: bool = False, **config: Any) -> tuple[ContinuousBatchingManager, FakeRunner]:
        runner = FakeRunner(poison, rescues=rescues)
        manager = ContinuousBatchingManager(
            agent, ContinuousBatchingConfig(**{"max_batch_tokens": 4096, **config}), runner
        )
        made.append((manager, runner))
        manager.warmup()
        runner.open.clear()
        manager.add_request("holds the engine", ASKED, "first")
        runner.entered.acquire()
        return manager, runner

    yield make
    for manager, runner in made:
        runner.open.set()
        manager.destroy()


def test_only_the_request_of_the_failing_row_fails(managed: Managed) -> None:
    manager, runner = managed()
    ids = manager.add_requests(
        [{"state": "poison" if place == 5 else f"text {place}", "questions": ASKED} for place in range(16)]
    )
    runner.open.set()
    outputs = [manager.get_result(request_id) for request_id in ids]
    assert [output is not None and output.status for output in outputs] == ["finished"] * 5 + ["failed"] + [
        "finished"
    ] * 10
    assert outputs[5] is not None and isinstance(outputs[5].error, Poisoned)
    assert manager.stats().failed_passes == 5  # 16, 8, 4, 2 and the row alone


def test_identical_rows_share_a_pass_unless_that_is_off(managed: Managed) -> None:
    for share, computed in ((True, 2), (False, 5)):
        manager, runner = managed(allow_block_sharing=share)
        ids = manager.add_requests([{"state": "same" if n else "other", "questions": ASKED} for n in range(5)])
        runner.open.set()
        results = [output.result for output in map(manager.get_result, ids) if output is not None]
        assert results[1:] == [results[1]] * 4
        assert sum(map(len, runner.passes[1:])) == computed
        assert manager.stats().shared_rows == 5 - computed


def test_lack_of_memory_lowers_the_budget_and_is_said_once(managed: Managed, caplog: pytest.LogCaptureFixture) -> None:
    manager, runner = managed()
    runner.capacity = 2
    ids = manager.add_requests([{"state": f"text {n}", "questions": ASKED} for n in range(8)])
    with caplog.at_level(logging.WARNING):
        runner.open.set()
        outputs = [manager.get_result(request_id) for request_id in ids]
    assert [output is not None and output.status for output in outputs] == ["finished"] * 8
    stats = manager.stats()
    assert stats.out_of_memory == 3  # 8, then both halves
    assert stats.max_batch_tokens == 4096 >> 3
    assert [record.getMessage() for record in caplog.records] == [
        "a pass ran out of memory; passes get 2048 of 4096 tokens for a while"
    ]


@pytest.mark.parametrize("rescues", [True, False])
def test_a_row_too_big_even_alone_is_scored_elsewhere_or_fails_its_request(managed: Managed, rescues: bool) -> None:
    manager, runner = managed(rescues=rescues)
    runner.capacity = 0
    request_id = manager.add_request("text", ASKED)
    runner.open.set()
    output = manager.get_result(request_id)
    assert output is not None
    assert output.status == ("finished" if rescues else "failed")
    assert isinstance(output.error, FakeOutOfMemory) is not rescues


def test_a_dying_thread_fails_every_waiter_with_the_cause_and_the_manager_can_start_again(managed: Managed) -> None:
    manager, runner = managed()
    cause = SystemExit("gone")
    ids = manager.add_requests([{"state": f"text {n}", "questions": ASKED} for n in range(4)])
    with ThreadPoolExecutor(4) as threads:
        waiting = [threads.submit(manager.get_result, request_id) for request_id in ids]
        runner.failures = [cause]
        runner.open.set()
        outputs = [waiter.result(60) for waiter in waiting]
    for output in outputs:
        assert output is not None and isinstance(output.error, EngineCrashed)
        assert output.error.__cause__ is cause
    assert len({id(output.error) for output in outputs if output is not None}) == 4
    assert not manager.is_running()
    with pytest.raises(EngineStopped, match=r"SystemExit: gone|is stopped"):
        manager.add_request("text", ASKED)
    manager.start()
    again = manager.get_result(manager.add_request("text", ASKED))
    assert again is not None and again.status == "finished"


def test_a_scheduler_that_takes_no_row_hangs_nobody(
    agent_on: Callable[[str], Agent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedulers, "_factories", dict(schedulers._factories))

    class Idle(FifoScheduler[Any]):
        def next_pass(self, limits: Any, now: float) -> list[Any]:
            return []

    register_scheduler("idle", lambda config: Idle())
    config = ContinuousBatchingConfig(scheduler_type="idle")
    manager = ContinuousBatchingManager(agent_on("bert"), config, FakeRunner())
    manager.start()
    output = manager.get_result(manager.add_request("text", ASKED))
    assert output is not None and isinstance(output.error, EngineCrashed)
    assert "'idle' takes no row" in str(output.error)
    manager.destroy()


def test_a_hard_stop_fails_what_is_left_and_a_soft_one_answers_it(managed: Managed) -> None:
    for hard, status in ((True, "failed"), (False, "finished")):
        manager, runner = managed()
        request_id = manager.add_request("text", ASKED)
        manager.stop(block=False, hard_stop=hard)
        with pytest.raises(EngineStopped):
            manager.add_request("late", ASKED)
        runner.open.set()
        manager.stop()
        manager.stop(hard_stop=True)
        output = manager.get_result(request_id)
        assert output is not None and output.status == status
        assert isinstance(output.error, EngineStopped) is hard
        assert manager.get_result(request_id) is None
        assert not manager.is_running()
