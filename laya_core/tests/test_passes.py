"""Which rows run together, and the tensors of a pass."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from laya_core.passes import PassRunner, plan_passes, plan_state_batches
from laya_core.prompt import EncodedState, Prefix, Row

row_lengths = st.lists(st.integers(1, 600), max_size=80)
PAD = 0


@given(row_lengths, st.integers(1, 4000))
def test_every_row_runs_once_and_a_pass_stays_within_its_budget(lengths: list[int], budget: int) -> None:
    passes = list(plan_passes(lengths, budget))
    assert sorted(number for numbers in passes for number in numbers) == list(range(len(lengths)))
    for numbers in passes:
        width = max(lengths[number] for number in numbers)
        assert len(numbers) == 1 or len(numbers) * width <= budget


@given(row_lengths, st.integers(1, 4000))
def test_rows_of_like_length_run_together(lengths: list[int], budget: int) -> None:
    passes = [[lengths[number] for number in numbers] for numbers in plan_passes(lengths, budget)]
    assert [length for group in passes for length in group] == sorted(lengths, reverse=True)
    # So the padding of all passes together is at most one row of the longest length for each row of the first pass.
    padding = sum(max(group) * len(group) - sum(group) for group in passes)
    fullest = max(map(len, passes), default=0)
    assert padding <= fullest * max(lengths, default=0)


@given(row_lengths, st.integers(1, 4000))
def test_no_pass_could_take_the_first_row_of_the_next(lengths: list[int], budget: int) -> None:
    passes = list(plan_passes(lengths, budget))
    for numbers in passes[:-1]:
        assert (len(numbers) + 1) * lengths[numbers[0]] > budget


@given(st.integers(0, 20), st.integers(1, 4), st.integers(1, 25), st.booleans(), st.data())
def test_state_batches_keep_the_rows_of_a_state_together(
    states: int, rows_per_state: int, batch_size: int, sort_by_length: bool, data: st.DataObject
) -> None:
    count = states * rows_per_state
    lengths = data.draw(st.lists(st.integers(1, 100), min_size=count, max_size=count))
    passes = list(plan_state_batches(lengths, rows_per_state, batch_size, sort_by_length))
    flat = [number for numbers in passes for number in numbers]
    assert sorted(flat) == list(range(count))
    assert all(len(numbers) == batch_size * rows_per_state for numbers in passes[:-1])
    order = [number // rows_per_state for number in flat[::rows_per_state]]
    assert flat == [state * rows_per_state + row for state in order for row in range(rows_per_state)]
    if sort_by_length:
        firsts = [lengths[state * rows_per_state] for state in order]
        assert firsts == sorted(firsts, reverse=True)
    else:
        assert order == list(range(states))


class Recorder:
    """In place of a model: keeps the tensors it is given and answers with the number of the row."""

    def __init__(self) -> None:
        self.given: dict[str, Any] = {}

    def __call__(self, **tensors: Any) -> tuple[torch.Tensor, torch.Tensor]:
        self.given = tensors
        rows, options = tensors["markers"].shape
        logits = torch.arange(rows * options, dtype=torch.float32).view(rows, options)
        return logits, torch.tensor([[0.0, 0.0]] * rows)


def prefix(ids: int, markers: list[int], type_id: int = 0, parallel: bool = False, max_len: int = 99) -> Prefix:
    return Prefix(
        ids=tuple(range(10, 10 + ids)),
        markers=tuple(markers),
        sep_id=2,
        type_id=type_id,
        order=tuple(range(len(markers))),
        state_room=50,
        max_len=max_len,
        position_ids=tuple(range(ids)) if parallel else None,
        segments=tuple(1 if place in markers else 0 for place in range(ids)) if parallel else None,
        cut=None,
    )


def row(of: Prefix, state: int) -> Row:
    return Row(of, list(range(100, 100 + min(state, of.state_room))), max(0, state - of.state_room))


def run(rows: list[Row], half_window: int | None = None) -> tuple[list[Any], dict[str, Any]]:
    model = Recorder()
    runner = PassRunner(model, torch.device("cpu"), PAD, half_window)  # type: ignore[arg-type]
    return runner.run(rows), model.given


def test_rows_are_padded_to_the_longest_and_markers_to_the_most() -> None:
    scores, given_tensors = run([row(prefix(4, [2], type_id=2), 1), row(prefix(5, [1, 3], type_id=1), 3)])
    assert given_tensors["input_ids"].tolist() == [
        [10, 11, 12, 13, 100, 2, PAD, PAD, PAD],
        [10, 11, 12, 13, 14, 100, 101, 102, 2],
    ]
    assert given_tensors["padding_mask"].tolist() == [[True] * 6 + [False] * 3, [True] * 9]
    assert given_tensors["markers"].tolist() == [[2, 0], [1, 3]]
    assert given_tensors["marker_mask"].tolist() == [[True, False], [True, True]]
    assert given_tensors["type_ids"].tolist() == [2, 1]
    assert "position_ids" not in given_tensors and "encoder_mask" not in given_tensors
    assert [score.logits for score in scores] == [(0.0,), (2.0, 3.0)]
    assert [score.act_probability for score in scores] == [0.5, 0.5]


def test_in_the_parallel_layout_the_state_goes_on_behind_the_prefix() -> None:
    long, short = row(prefix(4, [2], parallel=True), 3), row(prefix(4, [2], parallel=True), 0)
    _, given_tensors = run([long, short])
    assert given_tensors["position_ids"].tolist() == [[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 0, 0, 0]]
    looks = given_tensors["encoder_mask"][:, 0]
    assert not looks[1, :, 5:].any()
    assert looks[1, :5, :5].all()
    assert looks.any(-1).all(), "a query that sees no key gives NaN"


def test_a_row_that_was_cut_within_its_prefix_keeps_the_places_it_has() -> None:
    _, given_tensors = run([row(prefix(6, [2, 4], parallel=True, max_len=5), 3)])
    assert given_tensors["input_ids"].tolist() == [[10, 11, 12, 13, 14]]
    assert given_tensors["position_ids"].tolist() == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize("parallel", [False, True])
def test_a_pass_leaves_its_rows_alone(parallel: bool) -> None:
    rows = [row(prefix(4, [2], parallel=parallel), 3), row(prefix(5, [2, 3], parallel=parallel), 1)]
    before = [list(one.ids) for one in rows]
    run(rows)
    assert [one.ids for one in rows] == before


def test_an_encoded_state_that_fits_is_not_copied() -> None:
    state = EncodedState([1, 2, 3], keep_end=True)
    assert state.cut(3) is state.ids
    assert state.cut(2) == [2, 3]
    assert state.cut(0) == []
    assert EncodedState([1, 2, 3], keep_end=False).cut(2) == [1, 2]
