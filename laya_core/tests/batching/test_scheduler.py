"""Schedulers: properties of every pass they make, whatever was queued and cancelled meanwhile."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from attrs import frozen
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from laya_core.batching import scheduler as schedulers
from laya_core.batching.backoff import MemoryBackoff
from laya_core.batching.config import ContinuousBatchingConfig
from laya_core.batching.packing import PassLimits, group_by_length, pack
from laya_core.batching.scheduler import FifoScheduler, ShortestScheduler, make_scheduler, register_scheduler

PATIENCE = 0.25


@frozen(eq=False)
class FakeRow:
    length: int
    owner: object
    arrived: float
    number: int


lengths = st.one_of(st.integers(0, 3), st.integers(10, 120), st.just(5_000))
limits = st.builds(
    PassLimits,
    max_tokens=st.integers(1, 2_000),
    max_requests=st.none() | st.integers(1, 5),
    padding_interval=st.sampled_from([1, 1, 8, 64]),
    group_cost=st.sampled_from([0, 64, 10_000]),
)
requests = st.lists(st.lists(lengths, min_size=1, max_size=4), max_size=12)
kinds = st.sampled_from([FifoScheduler, lambda: ShortestScheduler(PATIENCE)])


def rows_of(requests: list[list[int]], gap: float = 0.0) -> list[FakeRow]:
    made: list[FakeRow] = []
    for place, request in enumerate(requests):
        owner = object()
        made += [FakeRow(length, owner, place * gap, len(made) + n) for n, length in enumerate(request)]
    return made


def flat(groups: list[list[FakeRow]]) -> list[FakeRow]:
    return [row for group in groups for row in group]


@given(kinds, requests, limits, st.data())
def test_no_row_is_lost_or_run_twice_and_budgets_hold(
    kind: Callable[[], Any], requests: list[list[int]], limits: PassLimits, data: st.DataObject
) -> None:
    scheduler, waiting, now = kind(), set(), 0.0
    arriving = rows_of(requests, gap=0.1)
    while arriving or waiting:
        count = data.draw(st.integers(0 if waiting else 1, 6), label="arriving")
        for row in arriving[:count]:
            scheduler.add(row)
            waiting.add(row)
            now = max(now, row.arrived)
        del arriving[:count]
        if waiting and data.draw(st.booleans(), label="cancel"):
            gone = data.draw(st.sampled_from(sorted(waiting, key=lambda row: row.number)), label="cancelled")
            waiting.remove(gone)
            assert scheduler.remove(gone)
            assert not scheduler.remove(gone)
        assert len(scheduler) == len(waiting)
        groups = scheduler.next_pass(limits, now)
        taken = flat(groups)
        assert bool(taken) == bool(waiting)
        assert len(set(taken)) == len(taken)
        assert set(taken) <= waiting
        waiting -= set(taken)
        if len(taken) > 1:
            assert sum(map(limits.padded_tokens, groups)) <= limits.max_tokens
        if limits.max_requests is not None:
            assert len({row.owner for row in taken}) <= limits.max_requests
        assert all(groups)
    assert scheduler.next_pass(limits, now) == []


@given(requests, limits)
def test_fifo_never_lets_a_row_overtake(requests: list[list[int]], limits: PassLimits) -> None:
    scheduler: Any = FifoScheduler()
    rows = rows_of(requests)
    for row in rows:
        scheduler.add(row)
    passes = []
    while len(scheduler):
        passes.append(flat(scheduler.next_pass(limits, 0.0)))
    order = [row.number for taken in passes for row in sorted(taken, key=lambda row: row.number)]
    assert order == [row.number for row in rows]


@given(requests, limits, st.lists(st.floats(0, 0.5), min_size=1, max_size=30))
def test_shortest_overtakes_no_row_that_waited_long_enough(
    requests: list[list[int]], limits: PassLimits, steps: list[float]
) -> None:
    scheduler: Any = ShortestScheduler(PATIENCE)
    rows, now = rows_of(requests, gap=0.05), 0.0
    arriving, waiting = list(rows), set()
    for step in steps:
        now += step
        while arriving and arriving[0].arrived <= now:
            waiting.add(arriving[0])
            scheduler.add(arriving.pop(0))
        taken = set(flat(scheduler.next_pass(limits, now)))
        waiting -= taken
        overdue = [row.number for row in waiting if now - row.arrived >= PATIENCE]
        if overdue:
            assert all(row.number < min(overdue) for row in taken)


def test_shortest_prefers_rows_of_like_length() -> None:
    scheduler: Any = ShortestScheduler(PATIENCE)
    for row in rows_of([[100], [20], [101], [21], [22], [102]]):
        scheduler.add(row)
    limits = PassLimits(max_tokens=70)
    assert [row.length for row in flat(scheduler.next_pass(limits, 0.0))] in ([22, 21, 20], [20, 21, 22])


def test_shortest_without_patience_is_fifo() -> None:
    scheduler: Any = ShortestScheduler(0.0)
    for row in rows_of([[90], [20], [50], [20]]):
        scheduler.add(row)
    limits = PassLimits(max_tokens=1)
    assert [flat(scheduler.next_pass(limits, 0.0))[0].length for _ in range(4)] == [90, 20, 50, 20]


@given(requests, limits)
def test_grouping_costs_no_more_than_one_group_or_a_group_per_width(
    requests: list[list[int]], limits: PassLimits
) -> None:
    rows = rows_of(requests)
    assume(rows)
    groups = group_by_length(rows, limits)
    assert sorted(row.number for row in flat(groups)) == [row.number for row in rows]
    widest = [max(row.length for row in group) for group in groups]
    assert all(longer > shorter for longer, shorter in pairwise(widest))

    def cost(groups: list[list[FakeRow]]) -> int:
        return sum(limits.padded_tokens(group) + limits.group_cost for group in groups)

    by_width: dict[int, list[FakeRow]] = {}
    for row in rows:
        by_width.setdefault(limits.width(row.length), []).append(row)
    assert cost(groups) <= min(cost([rows]), cost(list(by_width.values())))


@given(st.lists(st.integers(1, 9), min_size=1, max_size=7), st.integers(0, 20))
def test_grouping_is_the_best_of_all_groupings(lengths: list[int], group_cost: int) -> None:
    limits = PassLimits(max_tokens=10_000, group_cost=group_cost)
    rows = sorted(rows_of([lengths]), key=lambda row: -row.length)

    def best(start: int) -> int:
        if start == len(rows):
            return 0
        return min(
            limits.padded_tokens(rows[start:end]) + group_cost + best(end) for end in range(start + 1, len(rows) + 1)
        )

    groups = group_by_length(rows, limits)
    assert sum(limits.padded_tokens(group) + group_cost for group in groups) == best(0)


@given(st.lists(st.integers(40, 120), min_size=30, max_size=60))
def test_rows_of_ordinary_length_are_padded_by_at_most_15_percent(lengths: list[int]) -> None:
    limits = PassLimits(max_tokens=100_000)
    groups = pack(rows_of([lengths]), limits)
    padded = sum(map(limits.padded_tokens, groups))
    assert padded - sum(lengths) <= 0.15 * padded


@pytest.mark.parametrize("kind", [FifoScheduler, lambda: ShortestScheduler(PATIENCE)])
def test_a_long_queue_is_worked_off_in_linear_steps(kind: Callable[[], Any]) -> None:
    scheduler, looked_at = kind(), [0]

    class Counted(FakeRow):
        @property
        def owner(self) -> object:  # read once for every row a pass looks at
            looked_at[0] += 1
            return self

        @owner.setter
        def owner(self, value: object) -> None: ...

    rows = [Counted(50, None, 0.0, number) for number in range(3_000)]
    for row in rows:
        scheduler.add(row)
    while len(scheduler):
        scheduler.next_pass(PassLimits(max_tokens=1_000), 10.0)
    assert looked_at[0] <= 2 * len(rows)


def test_schedulers_are_chosen_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    built_in = {name: schedulers._factories[name] for name in ("fifo", "shortest")}
    monkeypatch.setattr(schedulers, "_factories", built_in)
    assert isinstance(make_scheduler(ContinuousBatchingConfig()), FifoScheduler)
    assert isinstance(make_scheduler(ContinuousBatchingConfig(scheduler_type="shortest")), ShortestScheduler)
    with pytest.raises(ValueError, match="scheduler_type='prefill_first': must be one of 'fifo', 'shortest'"):
        make_scheduler(ContinuousBatchingConfig(scheduler_type="prefill_first"))

    class Newest(FifoScheduler[Any]): ...

    register_scheduler("newest", lambda config: Newest())
    assert isinstance(make_scheduler(ContinuousBatchingConfig(scheduler_type="newest")), Newest)
    with pytest.raises(ValueError, match="'fifo' already"):
        register_scheduler("fifo", lambda config: Newest())


def test_the_scheduler_needs_neither_torch_nor_threads() -> None:
    from pathlib import Path

    for module in ("scheduler", "packing", "backoff"):
        source = Path(schedulers.__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
        assert "import torch" not in source and "import threading" not in source and "import time" not in source
    probe = "import sys, laya_core.batching.scheduler; print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


@given(st.integers(1, 100_000), st.lists(st.tuples(st.floats(0, 100), st.booleans()), max_size=40))
@settings(max_examples=50)
def test_the_budget_falls_when_memory_runs_out_and_comes_back(full: int, events: list[tuple[float, bool]]) -> None:
    backoff, now = MemoryBackoff(full, recovery=30.0), 0.0
    for step, trouble in events:
        now += step
        before = backoff.limit(now)
        assert 1 <= before <= full
        if trouble:
            after = backoff.halve(now)
            assert after == max(1, before // 2) == backoff.limit(now)
            assert backoff.limit(now + 29.9) == after
    assert backoff.limit(now + 30.0 * 64) == full
    assert not backoff.is_lowered
