"""Parts of a pass on threads of one core each."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from laya_core import Agent
from laya_core.batching import ContinuousBatchingConfig
from laya_core.batching.compute_threads import ComputeThreads, parts_of
from laya_core.batching.model_runner import ModelRunner
from laya_core.prompt import TokenBudget
from laya_core.questions import Question, parse_questions

ASKED: dict[str, Any] = {
    "c": {"type": "choice", "instructions": "Which?", "criteria": ["billing", "support", "sales"]},
    "n": {"type": "noul", "instructions": "Is it urgent?"},
    "s": {"type": "score", "instructions": "How angry?", "criteria": ["calm", "annoyed", "furious"]},
}


@pytest.fixture
def two_cores() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def part_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("laya-pass-part")]


@given(st.lists(st.integers(1, 512), min_size=1, max_size=60), st.integers(1, 20))
def test_parts_are_the_rows_in_order_and_even(lengths: list[int], count: int) -> None:
    rows = [range(length) for length in sorted(lengths, reverse=True)]
    parts = parts_of(rows, count)
    assert [row for part in parts for row in part] == rows
    if len(parts) > 1:
        assert len(parts) == count
        assert all(parts)
        share = sum(lengths) / count
        assert share >= 96
        assert max(sum(map(len, part)) for part in parts) <= 1.15 * share


@pytest.mark.parametrize(
    ("lengths", "count", "sizes"),
    [
        ([100] * 4, 2, [2, 2]),
        ([100] * 3, 2, [3]),  # one thread would wait half of the time
        ([200, 100, 100], 2, [1, 2]),
        ([90, 90], 2, [2]),  # small parts are slow
        ([400] + [100] * 4, 2, [1, 4]),
        ([500], 2, [1]),
    ],
)
def test_rows_are_split_where_that_is_worth_it(lengths: list[int], count: int, sizes: list[int]) -> None:
    assert [len(part) for part in parts_of([range(length) for length in lengths], count)] == sizes


@pytest.mark.usefixtures("two_cores")
def test_only_the_compute_threads_are_held_to_one_core() -> None:
    threads = ComputeThreads(2)
    try:
        assert threads.map(lambda _: torch.get_num_threads(), range(6)) == [1] * 6
        assert torch.get_num_threads() == 2
        with ThreadPoolExecutor(1) as another:
            assert another.submit(torch.get_num_threads).result() == 2
    finally:
        threads.shutdown()
    assert part_threads() == []


def test_an_error_comes_when_every_part_has_ended() -> None:
    threads, ended = ComputeThreads(2), threading.Event()
    failed = threading.Event()

    def work(part: str) -> None:
        if part == "bad":
            failed.set()
            raise MemoryError("no room")
        failed.wait(30)
        ended.set()

    try:
        with pytest.raises(MemoryError, match="no room"):
            threads.map(work, ["bad", "slow"])
        assert ended.is_set()
    finally:
        threads.shutdown()


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("name", ["bert", "modernbert-parallel"])
def test_a_pass_in_parts_scores_as_one_pass(name: str, agent_on: Callable[[str], Agent]) -> None:
    engine = agent_on(name)._engine
    prefixes = [engine.encoder.prefix(question, budget) for question, budget in questions_and_budget(agent_on(name))]
    states = engine.encoder.encode_states([f"Ticket {n}. " + "please refund me " * n for n in range(12)])
    rows = [engine.encoder.row(prefix, state) for state in states for prefix in prefixes]
    rows.sort(key=len, reverse=True)
    runner = ModelRunner(engine, ContinuousBatchingConfig())
    whole = runner.run(rows, runner.collate(rows))
    runner.start()
    try:
        parts = runner.collate(rows)
        assert len(parts) == 2
        padded = runner.padded_tokens([len(row) for row in rows])
        in_parts = runner.run(rows, parts)
    finally:
        runner.stop()
    assert part_threads() == []
    computed = sum(inputs["input_ids"].numel() for _, inputs in parts)
    assert padded == computed < len(rows) * len(rows[0])
    for one, other in zip(whole, in_parts, strict=True):
        assert other.logits == pytest.approx(one.logits, abs=2e-4)
        assert other.act_probability == pytest.approx(one.act_probability, abs=2e-4)


def questions_and_budget(agent: Agent) -> Iterator[tuple[Question, TokenBudget]]:
    budget = TokenBudget(agent._engine.config.max_len, agent._engine.config.head_max_len)
    yield from ((question, budget) for question in parse_questions(ASKED).values())


@pytest.mark.usefixtures("two_cores")
def test_an_agent_answers_in_parts_as_alone(
    checkpoints: Any, load_agent: Callable[..., Agent], agent_on: Callable[[str], Agent]
) -> None:
    states = [f"Ticket {n}: " + "please refund me " * (n % 9) for n in range(30)]
    expected = agent_on("modernbert").predict_batch(states, ASKED)
    with load_agent(checkpoints / "modernbert", continuous_batching=True) as batched, ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda state: batched.predict(state, ASKED), states))
        assert len(part_threads()) == 2
    assert part_threads() == []
    for answer, alone in zip(answers, expected, strict=True):
        assert answer["answers"]["n"]["noul"] == pytest.approx(alone["answers"]["n"]["noul"], abs=2e-4)
