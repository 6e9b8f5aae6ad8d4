"""The engine: fallback when a device runs out of memory, cancelled requests, and what is freed."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch

from laya_core import Agent, engine
from laya_core.decoding import RowScores
from laya_core.prompt import Row
from laya_hooks import RequestCancelled, call_scope

QUESTION = {"q": {"type": "choice", "instructions": "Which?", "criteria": ["a", "b", "c"]}}
STATES = ["one", "two " * 30, "three " * 60, "four"]
FULL = "CUDA out of memory. Tried to allocate 2.00 GiB"


class Device:
    """A runner on a device that is not the CPU: it computes on the CPU and fails in the passes it is told to."""

    device = torch.device("meta")

    def __init__(self, real: Any, failures: dict[int, Exception]) -> None:
        self.real = real
        self.model = real.model
        self.token_budget = real.token_budget
        self.failures = failures
        self.passes = 0

    def run(self, rows: Sequence[Row]) -> list[RowScores]:
        self.passes += 1
        if failure := self.failures.pop(self.passes, None):
            raise failure
        scores: list[RowScores] = self.real.run(rows)
        return scores


@pytest.fixture
def on_device(checkpoint: Path, load_agent: Callable[..., Agent]) -> Iterator[Callable[..., tuple[Agent, Device]]]:
    """An agent on a device; the keyword `failures` says which passes fail, counted from 1."""
    with load_agent(checkpoint) as agent:

        def put(**failures: Any) -> tuple[Agent, Device]:
            device = Device(agent.engine._runner, failures["failures"])
            agent.engine._runner = device  # type: ignore[assignment]
            return agent, device

        yield put


def test_out_of_memory_moves_this_request_alone_to_the_cpu(on_device: Any, agent: Agent) -> None:
    loaded, device = on_device(failures={1: torch.OutOfMemoryError(FULL)})
    expected = agent.predict("text", QUESTION)
    assert loaded.predict("text", QUESTION) == expected
    assert (loaded.cpu_fallback_count, loaded.last_fallback_reason) == (1, FULL)
    assert device.passes == 1
    assert loaded.predict("text", QUESTION) == expected
    assert (loaded.cpu_fallback_count, device.passes) == (1, 2)
    assert loaded.engine.device == torch.device("meta")


def test_all_rows_of_the_request_run_again_when_a_later_pass_fails(on_device: Any, agent: Agent) -> None:
    loaded, device = on_device(failures={3: torch.OutOfMemoryError(FULL)})
    expected = agent.predict_batch(STATES, QUESTION, batch_size=1)
    assert loaded.predict_batch(STATES, QUESTION, batch_size=1) == expected
    assert device.passes == 3
    assert loaded.cpu_fallback_count == 1


def test_the_last_reason_is_kept_and_the_cpu_model_built_once(on_device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded, _ = on_device(failures={1: torch.OutOfMemoryError("first"), 2: RuntimeError("second: out of memory")})
    built: list[torch.device] = []
    real = engine.load_model

    def load_model(directory: Path, config: Any, device: torch.device, dtype: torch.dtype) -> Any:
        built.append(device)
        assert dtype is torch.float32
        return real(directory, config, device, dtype)

    monkeypatch.setattr(engine, "load_model", load_model)
    for _ in range(3):
        loaded.predict("text", QUESTION)
    assert (loaded.cpu_fallback_count, loaded.last_fallback_reason) == (2, "second: out of memory")
    assert built == [torch.device("cpu")]


def test_requests_that_fail_at_once_are_all_answered_and_counted(on_device: Any, agent: Agent) -> None:
    loaded, _ = on_device(failures={number: torch.OutOfMemoryError(FULL) for number in range(1, 5)})
    expected = agent.predict("text", QUESTION)
    answers: list[Any] = []
    threads = [Thread(target=lambda: answers.append(loaded.predict("text", QUESTION))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 8
    assert loaded.cpu_fallback_count == 4


def test_a_closed_agent_still_tells_what_it_was(on_device: Any) -> None:
    loaded, _ = on_device(failures={1: torch.OutOfMemoryError(FULL)})
    loaded.predict("text", QUESTION)
    loaded.close()
    assert (loaded.device, loaded.dtype) == ("cpu", torch.float32)
    assert (loaded.cpu_fallback_count, loaded.last_fallback_reason) == (1, FULL)


def test_other_errors_are_not_retried(on_device: Any) -> None:
    loaded, device = on_device(failures={1: RuntimeError("shapes do not match")})
    with pytest.raises(RuntimeError, match="shapes do not match"):
        loaded.predict("text", QUESTION)
    assert (loaded.cpu_fallback_count, loaded.last_fallback_reason, device.passes) == (0, None, 1)


def test_the_cpu_has_nowhere_to_fall_back_to(on_device: Any) -> None:
    loaded, device = on_device(failures={1: RuntimeError("DefaultCPUAllocator: out of memory")})
    device.device = torch.device("cpu")
    with pytest.raises(RuntimeError, match="DefaultCPUAllocator"):
        loaded.predict("text", QUESTION)
    assert loaded.cpu_fallback_count == 0


def test_hooks_see_one_call_when_a_request_falls_back(on_device: Any) -> None:
    loaded, _ = on_device(failures={1: torch.OutOfMemoryError(FULL)})
    seen: list[str] = []
    loaded.predict(
        "text",
        QUESTION,
        on_predict_start=lambda ctx: seen.append("start"),
        on_predict_end=lambda ctx: seen.append(f"end {ctx.error} {len(ctx.results)}"),
    )
    assert seen == ["start", "end None 1"]


def test_a_cancelled_request_runs_no_pass(on_device: Any) -> None:
    loaded, device = on_device(failures={})
    with call_scope() as scope:
        scope.cancel()
        with pytest.raises(RequestCancelled):
            loaded.predict("text", QUESTION)
    assert device.passes == 0


def test_a_request_that_is_cancelled_meanwhile_stops_before_the_next_pass(on_device: Any) -> None:
    loaded, device = on_device(failures={})
    run = device.run
    errors: list[Any] = []
    with call_scope() as scope:

        def cancelling(rows: Sequence[Row]) -> list[RowScores]:
            scope.cancel()
            return run(rows)

        device.run = cancelling
        with pytest.raises(RequestCancelled):
            loaded.predict_batch(STATES, QUESTION, batch_size=1, on_predict_end=lambda ctx: errors.append(ctx.error))
    assert device.passes == 1
    assert [type(error) for error in errors] == [RequestCancelled]
    assert loaded.predict("text", QUESTION)["answers"]


def test_timings_reach_the_context_and_the_scope(agent: Agent) -> None:
    contexts: list[Any] = []
    with call_scope() as scope:
        agent.predict("text", QUESTION, on_predict_end=contexts.append)
    assert contexts[0].timings.keys() == {"tokenize", "inference"}
    assert scope.timings == contexts[0].timings
    assert min(scope.timings.values()) > 0


def test_leaving_the_block_frees_model_and_tokenizer_at_once(
    checkpoint: Path, load_agent: Callable[..., Agent]
) -> None:
    gc.collect()
    gc.disable()
    try:
        with load_agent(checkpoint) as agent:
            agent.predict("text", QUESTION)
            kept = [weakref.ref(agent.engine._runner.model), weakref.ref(agent.engine.encoder)]
        assert [reference() for reference in kept] == [None, None]
    finally:
        gc.enable()
