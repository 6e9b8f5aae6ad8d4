"""The rule by which shown and printed output are compared."""

from __future__ import annotations

from shown_output import difference, refreshed


def test_numbers_may_be_a_little_off_and_words_may_not() -> None:
    assert difference("billing 0.91", "billing 0.93") is None
    assert difference("billing 91%", "billing 94%") is None
    assert difference("billing 0.91", "billing 0.95") is not None
    assert difference("billing 0.91", "account 0.91") is not None
    assert difference("12 tokens", "13 tokens") is not None


def test_dots_stand_for_anything_and_bars_have_no_length() -> None:
    assert difference("wrote … in … ms", "wrote a/b in 12.5 ms") is None
    assert difference("│ yes ━━━━╸   28% │", "│ yes ━━━━━   29% │") is None


def test_missing_and_surplus_lines_are_differences() -> None:
    assert difference("a", "a\nb") is not None
    assert difference("a\nb", "a") is not None
    assert difference("a\n\nb", "a\nb\n") is None


def test_refreshing_keeps_dots_that_hold_and_takes_everything_else_as_printed() -> None:
    assert refreshed("in …\nteam billing", "in 12 ms\nteam orders") == "in …\nteam orders"
    assert refreshed("┃ a  ┃\n┃ 9% ┃", "┃ a   ┃\n┃ 99% ┃") == "┃ a   ┃\n┃ 99% ┃"
    assert refreshed("a\nb", "a\nb\nc\n") == "a\nb\nc"
    assert refreshed("a …\nb", "a 1\nb\nc") is None
