"""The manager under random adds, cancels, waits, pauses, stops and failures, from several threads.

Whatever happens, every request ends in exactly one final status, every waiter wakes, no pass runs inside a pause, every
end hook runs once, and no thread is left.
"""

from __future__ import annotations

import asyncio
import faulthandler
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from laya_core import Agent
from laya_core.batching import ContinuousBatchingConfig, ContinuousBatchingManager, DecisionOutput
from laya_core.batching.errors import EngineCrashed, EngineStopped
from laya_hooks import QueueFull, RequestCancelled, call_scope

from .fake_runner import FakeOutOfMemory, FakeRunner, Poisoned, made_up

WATCHDOG_SECONDS = 60
THREADS = ("laya-passes", "laya-delivery", "laya-collate", "laya-pass-part")
QUESTIONS: dict[str, dict[str, Any]] = {
    "none": {},
    "one": {"n": {"type": "noul", "instructions": "Is it urgent?"}},
    "three": {
        "c": {"type": "choice", "instructions": "Which team?", "criteria": ["billing", "support", "sales"]},
        "s": {"type": "score", "instructions": "How angry?", "criteria": ["calm", "cross", "furious"]},
        "n": {"type": "noul", "instructions": "Is it urgent?"},
    },
}
EXPECTED_ERRORS = (Poisoned, FakeOutOfMemory, RequestCancelled, EngineStopped, EngineCrashed, QueueFull, RuntimeError)


def batching_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(THREADS)]


class ManagerMachine(RuleBasedStateMachine):
    agent: ClassVar[Agent]

    @initialize(
        config=st.fixed_dictionaries(
            {
                "scheduler_type": st.sampled_from(["fifo", "shortest"]),
                "max_batch_tokens": st.sampled_from([None, 1, 64, 400]),
                "max_queue_size": st.sampled_from([0, 0, 3]),
                "max_requests_per_batch": st.sampled_from([None, 2]),
                "use_async_batching": st.booleans(),
                "allow_block_sharing": st.booleans(),
                "max_overtake_seconds": st.sampled_from([0.0, 0.25]),
            }
        ),
        start=st.booleans(),
        rescues=st.booleans(),
    )
    def begin(self, config: dict[str, Any], start: bool, rescues: bool) -> None:
        self.assert_no_thread()
        poison = self.agent.engine.encoder.tokenizer.encode(["poison"])[0][0]
        self.runner = FakeRunner(poison, rescues=rescues)
        self.manager = ContinuousBatchingManager(self.agent, ContinuousBatchingConfig(**config), self.runner)
        self.agent._manager = self.manager
        self.pool = ThreadPoolExecutor(12, "test")
        self.holders = [ThreadPoolExecutor(1, f"holder-{n}") for n in range(2)]
        self.held: list[list[ExitStack]] = [[], []]
        self.loop = asyncio.new_event_loop()
        self.looping = threading.Thread(target=self.loop.run_forever, name="test-loop")
        self.looping.start()
        self.added: dict[str, tuple[str, str]] = {}
        self.outputs: list[DecisionOutput] = []
        self.ends: Counter[str] = Counter()
        self.refused: list[str] = []
        self.pending: list[tuple[str, Future[Any]]] = []
        self.number = 0
        self.alive = False
        if start:
            self.start()

    # Requests

    @rule(
        kind=st.sampled_from(["text", "text", "text", "same", "poison"]),
        asked=st.sampled_from(["one", "three", "three", "none"]),
        streaming=st.booleans(),
        timeout=st.sampled_from([0.0, 0.01]),
        words=st.integers(0, 40),
    )
    def add(self, kind: str, asked: str, streaming: bool, timeout: float, words: int) -> None:
        state, request_id = self.state(kind, words), f"r{self.number}"
        try:
            added = self.manager.add_request(
                state,
                QUESTIONS[asked],
                request_id,
                streaming,
                record_timestamps=streaming,
                timeout=timeout,
                on_predict_end=lambda ctx: self.ends.update([request_id]),
            )
        except (EngineStopped, QueueFull):
            self.refused.append(request_id)
            return
        assert added == request_id
        self.added[request_id] = (state, asked)

    @rule(kind=st.sampled_from(["text", "same", "poison"]), cancel=st.sampled_from([False, False, True]))
    def predict(self, kind: str, cancel: bool) -> None:
        state = self.state(kind, 5)

        def call() -> Any:
            with call_scope() as scope:
                if cancel:
                    self.pool.submit(scope.cancel)
                return self.agent.predict(state, QUESTIONS["three"])

        self.later("predict", call)

    @rule(place=st.integers(0, 50))
    def cancel(self, place: int) -> None:
        if self.added:
            self.manager.cancel_request(list(self.added)[place % len(self.added)])
        assert not self.manager.cancel_request("nobody")

    # Waiters

    @rule(place=st.integers(0, 50), timeout=st.sampled_from([None, None, 0.0, 0.01]))
    def wait_for_one(self, place: int, timeout: float | None) -> None:
        if self.added:
            request_id = list(self.added)[place % len(self.added)]
            self.later("get_result of one", lambda: self.keep(self.manager.get_result(request_id, timeout)))

    @rule(timeout=st.sampled_from([None, 0.0, 0.01]))
    def wait_for_any(self, timeout: float | None) -> None:
        self.later("get_result", lambda: self.keep(self.manager.get_result(timeout=timeout)))

    @rule(place=st.integers(0, 50))
    def iterate(self, place: int) -> None:
        if self.added:
            request_id = list(self.added)[place % len(self.added)]
            self.later(
                "request_id_iter", lambda: [self.keep(each) for each in self.manager.request_id_iter(request_id)]
            )

    @rule(place=st.integers(0, 50))
    def handle(self, place: int) -> None:
        if not self.added:
            return
        request_id = list(self.added)[place % len(self.added)]

        async def register() -> None:
            with suppress(ValueError):  # its last output was taken
                self.manager.register_result_handler(request_id, self.keep)

        asyncio.run_coroutine_threadsafe(register(), self.loop).result(WATCHDOG_SECONDS)

    # Trouble

    @rule(capacity=st.sampled_from([None, None, 1, 2, 0]))
    def memory(self, capacity: int | None) -> None:
        self.runner.capacity = capacity

    @rule(count=st.integers(1, 3), out_of_memory=st.booleans())
    def fail_at_random(self, count: int, out_of_memory: bool) -> None:
        self.runner.failures += [FakeOutOfMemory("now") if out_of_memory else RuntimeError("now")] * count

    @rule()
    def crash(self) -> None:
        self.runner.failures.append(SystemExit("the engine's thread dies"))

    @rule(holder=st.integers(0, 1))
    def pause(self, holder: int) -> None:
        def enter() -> ExitStack:
            stack = ExitStack()
            stack.enter_context(self.manager.pause())
            return stack

        self.held[holder].append(self.holders[holder].submit(enter).result(WATCHDOG_SECONDS))
        self.runner.paused.set()

    @precondition(lambda self: any(self.held))
    @rule(holder=st.integers(0, 1))
    def resume(self, holder: int) -> None:
        if self.held[holder]:
            if sum(map(len, self.held)) == 1:
                self.runner.paused.clear()
            stack = self.held[holder].pop()
            self.holders[holder].submit(stack.close).result(WATCHDOG_SECONDS)

    @precondition(lambda self: any(self.held))
    @rule()
    def stop_from_inside_a_pause(self) -> None:
        holder = next(number for number, held in enumerate(self.held) if held)
        with pytest.raises(RuntimeError, match=r"inside pause\(\)"):
            self.holders[holder].submit(self.manager.stop).result(WATCHDOG_SECONDS)

    # Life

    @rule()
    def start(self) -> None:
        with suppress(RuntimeError):  # it is stopping
            self.manager.start()

    @rule(hard=st.booleans(), block=st.booleans())
    def stop(self, hard: bool, block: bool) -> None:
        self.later("stop", lambda: self.manager.stop(block=block, hard_stop=hard))

    @rule()
    def look(self) -> None:
        stats = self.manager.stats()
        assert 0 <= stats.real_tokens <= stats.padded_tokens
        assert 0 <= stats.shared_rows <= stats.rows
        assert 0 <= stats.queued_requests <= stats.queued_rows
        assert stats.finished + stats.cancelled + stats.failed <= self.number

    def teardown(self) -> None:
        if not hasattr(self, "manager"):
            return
        try:
            self.settle()
        finally:
            self.agent._manager = None
            self.runner.failures.clear()
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.looping.join(WATCHDOG_SECONDS)
            self.loop.close()
            for executor in (self.pool, *self.holders):
                executor.shutdown(wait=False)

    def settle(self) -> None:
        """Let everything come to its end, and look at how each request ended."""
        for holder in (0, 1):
            while self.held[holder]:
                self.resume(holder)
        stopping = self.pool.submit(self.manager.stop)
        self.pending.append(("the last stop", stopping))
        for what, future in self.pending:
            self.outcome(what, future)
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self.loop).result(WATCHDOG_SECONDS)
        while (output := self.manager.get_result(timeout=0)) is not None:
            self.keep(output)
        assert self.runner.wrongs == []
        assert self.runner.started == 0
        finals = Counter(output.request_id for output in self.outputs if output.is_finished())
        assert finals == Counter(dict.fromkeys(self.added, 1))
        assert {name: self.ends[name] for name in self.added} == dict.fromkeys(self.added, 1)
        for output in self.outputs:
            self.check(output)
        stats = self.manager.stats()
        assert (stats.queued_rows, stats.queued_requests) == (0, 0)
        with pytest.raises(EngineStopped):
            self.manager.add_request("text", QUESTIONS["one"])
        self.assert_no_thread()

    def check(self, output: DecisionOutput) -> None:
        state, asked = self.added[output.request_id]
        if output.status == "running":
            assert output.question in QUESTIONS[asked]
            assert output.result is not None and list(output.result["answers"]) == [output.question]
        elif output.status == "finished":
            assert output.error is None
            assert output.result == self.expected(state, asked)
        else:
            assert isinstance(output.error, EXPECTED_ERRORS), output.error
            assert output.result is None
            assert (output.status == "cancelled") == isinstance(output.error, RequestCancelled)

    def expected(self, state: str, asked: str) -> Any:
        context = self.agent._context([state], QUESTIONS[asked])
        prepared = self.agent._prepare(self.agent.engine, context, None, None)
        return prepared.results([made_up(row) for row in prepared.rows])[0]

    def outcome(self, what: str, future: Future[Any]) -> None:
        try:
            future.result(WATCHDOG_SECONDS)
        except TimeoutError:
            faulthandler.dump_traceback()
            raise AssertionError(f"{what} hangs") from None
        except EXPECTED_ERRORS:
            assert what == "predict", what

    def assert_no_thread(self) -> None:
        assert batching_threads() == []

    def state(self, kind: str, words: int) -> str:
        self.number += 1
        return {"same": "the same", "poison": f"poison {self.number}"}.get(kind, f"{self.number} " + "word " * words)

    def keep(self, output: DecisionOutput | None) -> None:
        if output is not None:
            self.outputs.append(output)

    def later(self, what: str, call: Callable[[], Any]) -> None:
        if sum(not future.done() for _, future in self.pending) < 10:
            self.pending.append((what, self.pool.submit(call)))


@pytest.mark.timeout(900)
def test_every_request_ends_once_and_nobody_is_left_waiting(agent_on: Callable[[str], Agent]) -> None:
    ManagerMachine.agent = agent_on("bert")
    run_state_machine_as_test(
        ManagerMachine,
        settings=settings(
            max_examples=80,
            stateful_step_count=30,
            derandomize=True,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow],
        ),
    )
