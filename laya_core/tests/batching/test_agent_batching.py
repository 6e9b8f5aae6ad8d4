"""An agent with a running manager: the same calls and answers, cancelling, queues, outputs and its end."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from laya_core import Agent
from laya_core.batching import ContinuousBatchingConfig, ContinuousBatchingManager, DecisionOutput
from laya_hooks import QueueFull, RequestCancelled, call_scope

from .fake_runner import FakeRunner

ASKED: dict[str, Any] = {
    "c": {"type": "choice", "instructions": "Which?", "criteria": ["billing", "support", "sales"]},
    "n": {"type": "noul", "instructions": "Is it urgent?"},
}
STATES = [f"Ticket {n}: " + "please refund me " * (n % 7) for n in range(24)]
NAMES = ("laya-passes", "laya-delivery", "laya-collate", "laya-pass-part")


def batching_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(NAMES)]


@pytest.fixture
def batched(checkpoints: Path, load_agent: Callable[..., Agent]) -> Iterator[Agent]:
    with load_agent(checkpoints / "bert", continuous_batching=True) as agent:
        yield agent
    for thread in threading.enumerate():
        if thread.name.startswith(NAMES):
            thread.join(30)  # closing waits for answers, and not for hooks on the delivery thread
    assert batching_threads() == []


@pytest.fixture
def held(agent_on: Callable[[str], Agent]) -> Iterator[tuple[Agent, ContinuousBatchingManager, FakeRunner]]:
    """An agent whose manager has room for one waiting request, and a pass that waits for `runner.open`."""
    agent, runner = agent_on("bert"), FakeRunner()
    manager = ContinuousBatchingManager(agent, ContinuousBatchingConfig(max_queue_size=1), runner)
    agent._manager = manager
    manager.warmup()
    runner.open.clear()
    manager.add_request("holds the engine", ASKED, "first")
    runner.entered.acquire()
    yield agent, manager, runner
    runner.open.set()
    manager.destroy()
    agent._manager = None


def test_calls_of_many_threads_share_passes_and_get_their_own_answers(
    batched: Agent, agent_on: Callable[[str], Agent]
) -> None:
    expected = [agent_on("bert").predict(state, ASKED) for state in STATES]
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda state: batched.predict(state, ASKED), STATES))
    for answer, alone in zip(answers, expected, strict=True):
        assert answer["usage"] == alone["usage"]
        assert answer["answers"]["n"]["noul"] == pytest.approx(alone["answers"]["n"]["noul"], abs=2e-4)
    stats = batched.init_continuous_batching().stats()
    assert (stats.rows, stats.finished) == (2 * len(STATES), len(STATES))


@pytest.mark.parametrize("timeout", ["5", float("nan"), True, [1]])
def test_a_timeout_that_is_no_number_is_refused_before_anything_happens(batched: Agent, timeout: Any) -> None:
    refusal = pytest.raises(
        ValueError, match="timeout must be a number of seconds, or None to wait without a bound, not"
    )
    manager = batched.init_continuous_batching()
    added = manager.add_request("text", ASKED, timeout=10**400)
    for refused in (
        lambda: manager.add_request("text", ASKED, timeout=timeout),
        lambda: manager.get_result(timeout=timeout),
        lambda: manager.get_result(added, timeout),
        lambda: manager.stop(timeout=timeout),
        lambda: manager.join(0.0, timeout),
    ):
        with refusal:
            refused()
    output = manager.get_result(added, timeout=60)
    assert output is not None and output.status == "finished"
    assert manager.get_result(timeout=-1.5) is None
    with refusal, batched.continuous_batching_context_manager(timeout=timeout):
        pytest.fail("the block was entered")


def test_ending_inside_pause_is_refused_and_changes_nothing(batched: Agent) -> None:
    manager = batched.init_continuous_batching()
    expected = batched.predict("text", ASKED)
    with manager.pause():
        for end in (batched.close, manager.destroy):
            with pytest.raises(RuntimeError, match=r"inside pause\(\) would wait for itself"):
                end()
    assert batched.predict("text", ASKED) == expected
    assert manager.is_running() and batched.init_continuous_batching() is manager


def test_a_caller_inside_pause_computes_itself(batched: Agent) -> None:
    manager = batched.init_continuous_batching()
    manager.warmup()
    with manager.pause():
        assert batched.predict("text", ASKED)["answers"]
        assert manager.stats().finished == 0
        for method in (lambda: batched.generate_batch([]), manager.warmup):
            with pytest.raises(RuntimeError, match=r"inside pause\(\)"):
                method()


def test_queue_and_inference_reach_the_timings(batched: Agent) -> None:
    contexts: list[Any] = []
    with call_scope() as scope:
        batched.predict("text", ASKED, on_predict_end=contexts.append)
    assert contexts[0].timings.keys() == {"tokenize", "queue", "inference"}
    assert scope.timings == contexts[0].timings


def test_a_client_that_goes_away_takes_its_rows_out_of_the_queue(held: Any) -> None:
    agent, manager, _ = held
    errors: list[Any] = []

    def call() -> None:
        with call_scope() as scope:
            scopes.append(scope)
            queued.set()
            agent.predict("text", ASKED, on_predict_end=lambda ctx: errors.append(ctx.error))

    scopes: list[Any] = []
    queued = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(call)
        assert queued.wait(60)
        scopes[0].cancel()
        with pytest.raises(RequestCancelled, match="cancelled"):
            waiting.result(60)
    assert [type(error) for error in errors] == [RequestCancelled]
    assert manager.stats().queued_rows == 0


def test_a_full_queue_is_refused_after_the_time_the_caller_gives(held: Any) -> None:
    _, manager, runner = held
    ended: list[Any] = []
    waiting = manager.add_request("waits", ASKED)
    with pytest.raises(QueueFull, match="max_queue_size=1"):
        manager.add_request("no room", ASKED, "full", timeout=0, on_predict_end=lambda ctx: ended.append(ctx.error))
    assert [type(error) for error in ended] == [QueueFull]
    assert manager.cancel_request(waiting)
    manager.add_request("room again", ASKED, "full", timeout=0)
    runner.open.set()
    assert manager.get_result("full").status == "finished"
    assert manager.get_result(waiting).status == "cancelled"


def test_a_live_id_is_refused_and_a_taken_one_is_free(held: Any) -> None:
    _, manager, runner = held
    with pytest.raises(ValueError, match="'first' is in use"):
        manager.add_request("text", ASKED, "first")
    runner.open.set()
    assert manager.get_result("first").status == "finished"
    manager.add_request("text", ASKED, "first")
    assert [output.status for output in manager.request_id_iter("first")] == ["finished"]


def test_a_malformed_request_fails_in_its_caller(batched: Agent) -> None:
    manager = batched.init_continuous_batching()
    for questions, kind in (({"n": {"type": "what"}}, ValueError), ("text", TypeError)):
        with pytest.raises(kind):
            manager.add_request("text", questions, "id")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="is None"):
        manager.add_request(None, ASKED, "id")
    with pytest.raises(ValueError, match="unknown key 'stat'"):
        manager.add_requests([{"state": "text", "questions": ASKED, "stat": 1}])
    assert manager.get_result(manager.add_request("text", ASKED, "id")).is_finished()  # type: ignore[union-attr]


def test_start_hooks_run_in_the_caller_and_end_hooks_in_a_copy_of_its_context(batched: Agent) -> None:
    variable: ContextVar[str] = ContextVar("variable", default="unset")
    seen: list[Any] = []
    manager = batched.init_continuous_batching()
    token = variable.set("the caller's")
    request_id = manager.add_request(
        "text",
        ASKED,
        on_predict_start=lambda ctx: seen.append((threading.current_thread(), variable.get())),
        on_predict_end=lambda ctx: seen.append((threading.current_thread().name, variable.get(), len(ctx.results))),
    )
    variable.reset(token)
    assert manager.get_result(request_id).status == "finished"  # type: ignore[union-attr]
    assert seen == [(threading.current_thread(), "the caller's"), ("laya-delivery", "the caller's", 1)]


def test_a_skipped_request_and_an_end_hook_that_fails(batched: Agent) -> None:
    manager = batched.init_continuous_batching()
    answer = {"answers": {"known": True}}
    skipped = manager.get_result(manager.add_request("text", ASKED, on_predict_start=lambda ctx: ctx.skip([answer])))
    assert skipped is not None and (skipped.status, skipped.result) == ("finished", answer)

    def fail(ctx: Any) -> None:
        raise KeyError("end hook")

    failed = manager.get_result(manager.add_request("text", ASKED, on_predict_end=fail))
    assert failed is not None and (failed.status, type(failed.error)) == ("failed", KeyError)


def test_streaming_gives_each_answer_and_then_the_result(batched: Agent) -> None:
    manager = batched.init_continuous_batching()
    request_id = manager.add_request("text", ASKED, streaming=True, record_timestamps=True)
    *partial, final = manager.request_id_iter(request_id)
    assert sorted(output.question for output in partial) == ["c", "n"]
    assert {output.status for output in partial} == {"running"}
    merged = {qid: answer for output in partial for qid, answer in output.result["answers"].items()}  # type: ignore[index]
    assert final.status == "finished" and final.result is not None and final.result["answers"] == merged
    assert final.timestamps is not None and final.timestamps.keys() == {"c", "n"}
    assert final.created_at <= final.scheduled_at <= final.finished_at  # type: ignore[operator]


def test_handlers_are_called_on_the_loop_of_whoever_registers(batched: Agent) -> None:
    manager = batched.init_continuous_batching()
    with pytest.raises(RuntimeError, match="running event loop"):
        manager.register_result_handler("id", print)

    async def main(early: bool) -> list[DecisionOutput]:
        outputs: list[DecisionOutput] = []
        done = asyncio.Event()

        def handler(output: DecisionOutput) -> None:
            outputs.append(output)
            if output.is_finished():
                done.set()

        request_id = manager.add_request("text", ASKED, streaming=True)
        if not early:
            manager.add_request("behind it", ASKED, "behind")
            await asyncio.to_thread(manager.get_result, "behind")
        manager.register_result_handler(request_id, handler)
        await asyncio.wait_for(done.wait(), 60)
        assert manager.get_result(request_id) is None
        return outputs

    for early in (True, False):
        assert [output.status for output in asyncio.run(main(early))] == ["running", "running", "finished"]


def test_generate_batch_answers_in_order_and_marks_what_is_refused(batched: Agent) -> None:
    outputs = batched.generate_batch(
        [
            {"state": "one", "questions": ASKED, "request_id": "a"},
            {"state": "two"},
            {"state": "three", "questions": ASKED, "request_id": "a"},
            "four",  # type: ignore[list-item]
            {"state": "five", "questions": {}},
        ],
        min_confidence=0.5,
    )
    assert [output.status for output in outputs.values()] == ["finished", "failed", "failed", "failed", "finished"]
    assert list(outputs) == [output.request_id for output in outputs.values()]
    first = outputs["a"].result
    assert first is not None and first["answers"]["n"]["abstention_threshold"] == 0.5
    assert batched._manager is not None and batched._manager.is_running()
    with pytest.raises(TypeError, match="inputs must be a list"):
        batched.generate_batch("text")  # type: ignore[arg-type]


def test_generate_batch_stops_its_manager_unless_it_is_to_stay(agent_on: Callable[[str], Agent]) -> None:
    agent = agent_on("bert")
    config = ContinuousBatchingConfig(return_logprobs=True, use_async_batching=True)
    inputs = [{"state": state, "questions": ASKED} for state in STATES]
    outputs = agent.generate_batch(inputs, continuous_batching_config=config)
    assert batching_threads() == []
    log_probs = next(iter(outputs.values())).log_probs
    assert log_probs is not None and {qid: len(values) for qid, values in log_probs.items()} == {"c": 3, "n": 2}
    agent.generate_batch(inputs[:1], continuous_batching_config=config, persistent_manager=True)
    manager = agent.init_continuous_batching()
    assert manager.is_running() and manager.config is config
    with pytest.raises(RuntimeError, match="another config"):
        agent.init_continuous_batching({"max_queue_size": 3})
    manager.stop(keep_for_next_session=True)
    assert agent.init_continuous_batching(config) is manager
    assert agent.init_continuous_batching(config) is not manager
    assert batching_threads() == []


def test_closing_frees_the_model_and_ends_every_thread(checkpoints: Path, load_agent: Callable[..., Agent]) -> None:
    gc.collect()
    gc.disable()
    try:
        agent = load_agent(checkpoints / "bert", continuous_batching=True)
        agent.predict("text", ASKED)
        model = weakref.ref(agent.engine.passes.model)
        manager = agent._manager
        agent.close()
        agent.close()
        assert model() is None
        with pytest.raises(RuntimeError, match="closed"):
            agent.predict("text", ASKED)
        assert manager is not None
        manager.stop()
        assert batching_threads() == []
        with pytest.raises(RuntimeError, match="destroyed"):
            manager.start()
    finally:
        gc.enable()


def test_an_agent_nobody_uses_any_more_takes_its_threads_with_it(
    checkpoints: Path, load_agent: Callable[..., Agent]
) -> None:
    agent = load_agent(checkpoints / "bert", continuous_batching=True)
    agent.predict("text", ASKED)
    threads = [thread for thread in threading.enumerate() if thread.name.startswith(NAMES)]
    assert len(threads) == 2
    del agent
    gc.collect()
    for thread in threads:
        thread.join(60)
    assert batching_threads() == []


def test_all_engines_of_a_process_share_one_pass_thread(
    batched: Agent, checkpoints: Path, load_agent: Callable[..., Agent]
) -> None:
    with load_agent(checkpoints / "modernbert", continuous_batching=True) as other:
        for agent in (batched, other, batched):
            agent.predict("text", ASKED)
        assert batching_threads().count("laya-passes") == 1


def test_graphs_need_a_cuda_device(checkpoints: Path, load_agent: Callable[..., Agent]) -> None:
    with pytest.raises(ValueError, match="use_cuda_graph=True: needs a CUDA device"):
        load_agent(checkpoints / "bert", continuous_batching={"use_cuda_graph": True})


def test_widths_are_padded_to_the_interval_and_answers_stay(
    agent_on: Callable[[str], Agent], checkpoints: Path, load_agent: Callable[..., Agent]
) -> None:
    expected = agent_on("modernbert").predict("text", ASKED)["answers"]["n"]["noul"]
    config = {"q_padding_interval_size": 64, "max_batch_tokens": 64}
    with load_agent(checkpoints / "modernbert", continuous_batching=config) as agent:
        assert agent.predict("text", ASKED)["answers"]["n"]["noul"] == pytest.approx(expected, abs=2e-4)
        stats = agent.init_continuous_batching().stats()
    assert (stats.passes, stats.padded_tokens) == (2, 128)


def test_a_queued_request_is_small(agent_on: Callable[[str], Agent]) -> None:
    manager = ContinuousBatchingManager(agent_on("bert"), ContinuousBatchingConfig(), FakeRunner())
    asked = {"n": ASKED["n"]}
    for number in range(50):
        manager.add_request(f"warm {number}", asked)
    gc.collect()
    tracemalloc.start()
    ids = [manager.add_request(f"text {number}", asked) for number in range(400)]
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    tokens = sum(row.ids.__sizeof__() for request in map(manager._outputs.request, ids) for row in request.rows)  # type: ignore[union-attr]
    assert (grown - tokens) / len(ids) <= 2048
    manager.destroy()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_the_manager_does_not_run_in_a_forked_child(batched: Agent) -> None:
    batched.init_continuous_batching().warmup()
    child = os.fork()
    if child == 0:
        manager = batched._manager
        os._exit(int(manager is None or manager.is_running() or manager.takes_requests))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert batched.predict("text", ASKED)["answers"]


def test_starts_and_stops_of_several_threads_leave_no_thread(agent_on: Callable[[str], Agent]) -> None:
    manager = ContinuousBatchingManager(agent_on("bert"), ContinuousBatchingConfig(), FakeRunner())

    def start_and_stop(_: int) -> None:
        with suppress(RuntimeError):  # another thread is stopping it
            manager.start()
        manager.stop()

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(start_and_stop, range(400)))
    manager.stop()
    assert batching_threads() == []
