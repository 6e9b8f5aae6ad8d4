"""One agent, many threads, and closing it while calls run."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event, Thread
from typing import Any

import pytest

from laya_core import Agent
from laya_hooks import PredictContext

QUESTIONS: dict[str, Any] = {
    "c": {"type": "choice", "instructions": "Which department?", "criteria": ["billing", "technical", "other"]},
    "n": {"type": "noul", "instructions": "Does the user threaten to leave?"},
}
PATIENCE_S = 60


def calls(agent: Agent) -> list[Callable[[], Any]]:
    texts = [f"Ticket {number}: " + "please refund me " * number for number in range(8)]
    return [
        *(lambda text=text: agent.predict(text, QUESTIONS) for text in texts),
        lambda: agent.predict_batch(texts, QUESTIONS),
        lambda: agent.predict_batch(texts, QUESTIONS, batch_size=3, sort_by_length=True),
        lambda: agent.predict_long("please refund me " * 200, QUESTIONS),
        lambda: agent.predict("text", {"q": QUESTIONS["n"]}, max_len=40, min_confidence=0.5),
    ]


def test_eight_threads_get_the_answers_of_one(agent: Agent) -> None:
    work = calls(agent) * 3
    expected = [call() for call in work]
    barrier = Barrier(8)

    def share(number: int) -> list[Any]:
        barrier.wait(PATIENCE_S)
        return [call() for call in work[number::8]]

    with ThreadPoolExecutor(8) as threads:
        shares = list(threads.map(share, range(8)))
    for number, answers in enumerate(shares):
        assert answers == expected[number::8]


def test_hooks_of_one_call_are_not_seen_by_another(agent: Agent) -> None:
    def ask(number: int) -> tuple[list[str], Any]:
        seen: list[Any] = []
        agent.predict(f"text {number}", QUESTIONS, on_predict_end=lambda ctx: seen.append(ctx.states[0]))
        return seen

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(ask, range(40))) == [[f"text {number}"] for number in range(40)]


def test_hooks_that_may_not_run_at_once_do_not(checkpoint: Path, load_agent: Callable[..., Agent]) -> None:
    inside: list[int] = []
    most: list[int] = []

    def start(ctx: PredictContext) -> None:
        inside.append(1)
        most.append(len(inside))
        inside.pop()

    with load_agent(checkpoint, on_predict_start=start, hooks_concurrent=False) as agent, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: agent.predict("text", QUESTIONS), range(40)))
    assert most == [1] * 40


def test_a_closed_agent_refuses_calls_and_says_what_to_do(checkpoint: Path, load_agent: Callable[..., Agent]) -> None:
    agent = load_agent(checkpoint)
    agent.close()
    agent.close()
    events: list[Any] = []
    for call in (
        lambda: agent.predict("text", QUESTIONS, on_predict_start=events.append),
        lambda: agent.predict_batch([], QUESTIONS, on_predict_start=events.append),
        lambda: agent.predict_long("text", QUESTIONS, on_predict_start=events.append),
    ):
        with pytest.raises(RuntimeError, match="closed; load the checkpoint again"):
            call()
    assert events == []
    assert repr(agent) == f"<Agent {checkpoint} (closed)>"


def test_leaving_the_block_closes_the_agent_after_an_error_too(
    checkpoint: Path, load_agent: Callable[..., Agent]
) -> None:
    with pytest.raises(KeyError), load_agent(checkpoint) as agent:
        raise KeyError("inside")
    with pytest.raises(RuntimeError, match="closed"):
        agent.predict("text", QUESTIONS)


@pytest.mark.parametrize("event", ["on_predict_start", "on_predict_end"])
@pytest.mark.parametrize("call", ["predict", "predict_batch", "predict_long"])
def test_a_call_in_flight_finishes_although_the_agent_is_closed(
    call: str, event: str, checkpoint: Path, load_agent: Callable[..., Agent], agent: Agent
) -> None:
    loaded = load_agent(checkpoint)
    state: Any = ["one", "two"] if call == "predict_batch" else "please refund me " * 200
    expected = getattr(agent, call)(state, QUESTIONS)
    model = weakref.ref(loaded.engine._runner.model)
    reached, closed = Event(), Event()
    results: list[Any] = []

    def wait(ctx: PredictContext) -> None:
        reached.set()
        assert closed.wait(PATIENCE_S)

    def ask() -> None:
        results.append(getattr(loaded, call)(state, QUESTIONS, **{event: wait}))

    thread = Thread(target=ask)
    thread.start()
    assert reached.wait(PATIENCE_S)
    loaded.close()
    with pytest.raises(RuntimeError, match="closed"):
        loaded.predict("text", QUESTIONS)
    assert model() is not None
    closed.set()
    thread.join(PATIENCE_S)
    assert results == [expected]
    del thread, ask
    gc.collect()
    assert model() is None


def test_installing_hooks_while_calls_run_changes_no_answer(agent: Agent) -> None:
    expected = agent.predict("text", QUESTIONS)
    done = Event()

    def install() -> None:
        while not done.is_set():
            with agent.hooks_installed(lambda_hook()):
                pass

    def lambda_hook() -> Any:
        class Nothing:
            def on_predict_start(self, ctx: PredictContext) -> None:
                ctx.seen = True  # type: ignore[attr-defined]

        return Nothing()

    thread = Thread(target=install)
    thread.start()
    try:
        with ThreadPoolExecutor(4) as threads:
            answers = list(threads.map(lambda _: agent.predict("text", QUESTIONS), range(40)))
    finally:
        done.set()
        thread.join(PATIENCE_S)
    assert answers == [expected] * 40
    assert agent.hooks == []
