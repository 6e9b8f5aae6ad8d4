from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from laya_router.detection.units import SAMPLE_CHARACTERS, UNIT_CHARACTERS, string_values, units_of


def test_values_come_in_reading_order_without_keys_numbers_and_bytes() -> None:
    state = {"ключ": ["a", {"другой": "b"}], "n": 3, "raw": b"c", "t": ("d",), "none": None}
    assert list(string_values(state)) == ["a", "b", "d"]


def test_a_state_that_contains_itself_is_read_once() -> None:
    state: dict[str, Any] = {"text": "hello"}
    state["self"] = [state, "again"]
    assert list(string_values(state)) == ["hello", "again"]


def test_depth_costs_no_recursion() -> None:
    state: Any = "inside"
    for _ in range(20_000):
        state = [state]
    assert units_of(state) == ["inside"]
    while isinstance(state, list):  # taken apart by hand, as freeing so deep a list may recurse
        state = state.pop()


def test_lines_are_stripped_and_come_once() -> None:
    assert units_of(["  one \n\n two", "one", "\t\n"]) == ["one", "two"]


def test_a_long_state_is_sampled_from_one_end_to_the_other() -> None:
    units = units_of("\n".join(f"{number:06d}" for number in range(40_000)))
    assert sum(map(len, units)) <= SAMPLE_CHARACTERS
    assert units[0] == "000000" and units[-1] == "039999"
    numbers = [int(unit) for unit in units if len(unit) == 6]
    assert max(later - earlier for earlier, later in pairwise(numbers)) < 40_000 / 30


@given(st.lists(st.text("ab \n", max_size=4 * UNIT_CHARACTERS), max_size=4))
def test_units_are_short_distinct_and_lose_no_word_of_a_state_that_fits(state: list[str]) -> None:
    units = units_of(state)
    assert all(0 < len(unit) <= UNIT_CHARACTERS for unit in units)
    assert len(units) == len(set(units))
    letters = set("".join(state)) - set(" \n")
    assert set("".join(units)) - {" "} == letters


@given(st.text("xy z", min_size=1, max_size=3000).filter(lambda line: max(map(len, line.split()), default=0) < 200))
def test_a_long_line_is_cut_between_words(line: str) -> None:
    assert set(" ".join(units_of(line)).split()) == set(line.split())
