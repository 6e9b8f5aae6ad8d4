"""Windows over long documents: where they lie, and how their answers become one."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laya_core.windows import Window, WindowSize, cut_windows, merge_windows, window_size, with_window_count

sizes = st.integers(1, 300).flatmap(
    lambda length: st.integers(1, length).map(lambda stride: WindowSize(length, stride))
)


@given(st.integers(1, 3000), sizes)
def test_windows_cover_every_token_and_end_with_the_document(tokens: int, size: WindowSize) -> None:
    windows = cut_windows(tokens, size)
    assert windows[0].token_start == 0
    assert windows[-1].token_end == tokens
    assert all(0 < window.token_end - window.token_start <= size.length for window in windows)
    assert all(window.token_end - window.token_start == size.length for window in windows[:-1])
    for earlier, later in pairwise(windows):
        assert later.token_start == earlier.token_start + size.stride
        assert later.token_start <= earlier.token_end < later.token_end


@given(st.integers(1, 600), st.integers(1, 600), st.integers(1, 600), st.data())
def test_a_window_fits_the_room_and_a_stride_the_window(
    room: int, max_len: int, head_max_len: int, data: st.DataObject
) -> None:
    window = data.draw(st.none() | st.integers(1, 900))
    asked = window or max(64, max_len - head_max_len - 8)
    stride = data.draw(st.none() | st.integers(1, asked))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        size = window_size(room, max_len, head_max_len, window, stride)
    assert size.length == min(asked, room)
    clamped_stride = stride is not None and stride > size.length
    half = max(1, size.length // 2)
    assert size.stride == (half if stride is None or clamped_stride else stride)
    assert len(caught) == (window is not None and window > room) + clamped_stride


def test_the_window_is_what_the_budgets_leave_and_at_least_64() -> None:
    assert window_size(500, 512, 192) == WindowSize(312, 156)
    assert window_size(500, 100, 90) == WindowSize(64, 32)
    assert window_size(40, 512, 192) == WindowSize(40, 20)
    assert window_size(1, 512, 192) == WindowSize(1, 1)


def test_a_window_wider_than_the_room_is_clamped_with_a_warning() -> None:
    with pytest.warns(RuntimeWarning, match=r"window=300 is wider than the 100 tokens .* using 100"):
        assert window_size(100, 512, 192, window=300) == WindowSize(100, 50)


def test_a_stride_beyond_the_window_is_refused() -> None:
    with pytest.raises(ValueError, match="stride=80 is wider than the window of 64"):
        window_size(500, 512, 192, window=64, stride=80)
    with pytest.raises(ValueError, match="stride=313 is wider than the window of 312"):
        window_size(500, 512, 192, stride=313)


def test_a_stride_that_fitted_before_the_window_was_clamped_becomes_half_with_a_warning() -> None:
    with pytest.warns(RuntimeWarning) as caught:
        assert window_size(100, 512, 192, window=300, stride=200) == WindowSize(100, 50)
    assert ["window=300" in str(caught[0].message), "stride=200" in str(caught[1].message)] == [True, True]
    with pytest.warns(RuntimeWarning, match="stride=200"):
        assert window_size(100, 512, 192, stride=200) == WindowSize(100, 50)


@pytest.mark.parametrize("value", [0, -1, 1.5, "64", True, 64.0])
@pytest.mark.parametrize("name", ["window", "stride"])
def test_sizes_are_positive_whole_numbers(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} must be a positive whole number"):
        window_size(100, 512, 192, **{name: value})


@pytest.mark.parametrize("room", [0, -5])
def test_questions_without_room_for_a_state_are_refused(room: int) -> None:
    with pytest.raises(ValueError, match="no room for a state within max_len=512"):
        window_size(room, 512, 192)


def result(noul: float, confidence: float, **usage: Any) -> dict[str, Any]:
    return {
        "model": "m",
        "answers": {
            "n": {"type": "noul", "noul": noul, "answer_confidence": max(noul, 1 - noul)},
            "c": {"type": "choice", "choice": f"at {confidence}", "answer_confidence": confidence},
        },
        "usage": {"input_tokens": 10, "output_tokens": 0, **usage},
    }


WINDOWS = [Window(0, 10), Window(5, 15), Window(10, 18)]


def test_yes_is_decided_by_the_window_surest_of_yes_and_the_rest_by_the_most_confident() -> None:
    merged = merge_windows([result(0.1, 0.5), result(0.6, 0.4), result(0.3, 0.9)], WINDOWS)
    assert merged["answers"]["n"]["noul"] == 0.6
    assert merged["answers"]["n"]["window"] == {"index": 1, "token_start": 5, "token_end": 15, "count": 3}
    assert merged["answers"]["c"]["choice"] == "at 0.9"
    assert merged["answers"]["c"]["window"] == {"index": 2, "token_start": 10, "token_end": 18, "count": 3}
    assert merged["model"] == "m"


def test_the_first_of_equal_windows_decides() -> None:
    merged = merge_windows([result(0.6, 0.5), result(0.6, 0.5)], WINDOWS[:2])
    assert [answer["window"]["index"] for answer in merged["answers"].values()] == [0, 0]


def test_without_windows_there_is_no_attribution() -> None:
    merged = merge_windows([result(0.1, 0.5), result(0.6, 0.4)], None)
    assert not any("window" in answer for answer in merged["answers"].values())


def test_merging_leaves_the_results_of_the_windows_alone() -> None:
    results = [result(0.1, 0.5), result(0.6, 0.4)]
    merge_windows(results, WINDOWS[:2])
    assert results == [result(0.1, 0.5), result(0.6, 0.4)]


def test_usage_is_summed_and_truncation_counted() -> None:
    first = {"total": 3, "distinct": 2, "tokens_per_option": 4}
    second = {"total": 5, "distinct": 1, "tokens_per_option": 4}
    merged = merge_windows(
        [
            result(0.1, 0.5, state_tokens=7, state_tokens_dropped=2, truncated=True, truncated_questions=["n"]),
            result(0.6, 0.4, state_tokens=8, truncated=False, truncated_questions=[], options={"n": first}),
            result(0.3, 0.9, state_tokens=9, truncated=True, truncated_questions=["c"], options={"c": second}),
        ],
        WINDOWS,
    )
    assert merged["usage"] == {
        "input_tokens": 30,
        "output_tokens": 0,
        "state_tokens": 24,
        "state_tokens_dropped": 2,
        "truncated": 2,
        "truncated_questions": ["c"],
        "options": {"n": first, "c": second},
    }


def test_results_without_usage_are_counted_as_nothing() -> None:
    bare = {"model": "m", "answers": {}}
    merged = merge_windows([bare, bare], None)
    assert merged["usage"]["input_tokens"] == 0 and merged["usage"]["truncated_questions"] == []
    assert with_window_count(bare, 0)["usage"] == {"windows": 0}
    assert "usage" not in bare
