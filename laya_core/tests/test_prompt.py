"""Rows: what the budgets leave of heads, options and states, against a plain reading of the rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laya_core import Agent
from laya_core.prompt import CutOptions, EncodedState, PromptEncoder, TokenBudget
from laya_core.questions import Choice, Noul, Score

CLS, SEP, MASK = 1, 2, 3


class Words:
    """A tokenizer that makes one token of each word: `w12` is token 12, any other word token 9."""

    cls_id, sep_id, mask_id = CLS, SEP, MASK

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        return [[int(word[1:]) if word[0] == "w" and word[1:].isdigit() else 9 for word in t.split()] for t in texts]


def words(count: int, start: int = 100) -> str:
    return " ".join(f"w{start + number}" for number in range(count))


def encoder(layout: Any = "sequential") -> PromptEncoder:
    return PromptEncoder(Words(), layout)  # type: ignore[arg-type]


def plain_row(
    head: list[int],
    options: list[list[int]],
    order: Sequence[int],
    state: list[int],
    keep_end: bool,
    max_len: int,
    head_max_len: int,
) -> dict[str, Any] | None:
    """The row as the specification describes it, one rule after the other; None when the markers do not fit."""
    shown = [[MASK, *options[index][:48]] for index in order]
    b = head_max_len - sum(len(option) for option in shown)
    if b < 16:
        shown = [option[: max(4, (head_max_len - 16) // len(shown))] for option in shown]
        b = head_max_len - sum(len(option) for option in shown)
    row, positions, segments, markers = [CLS], [0], [0], []

    def put(token: int, position: int, segment: int) -> None:
        row.append(token)
        positions.append(position)
        segments.append(segment)

    for token in head[: max(8, b)]:
        put(token, positions[-1] + 1, 0)
    put(SEP, positions[-1] + 1, 0)
    start = positions[-1] + 1
    for number, option in enumerate(shown, start=1):
        markers.append(len(row))
        for offset, token in enumerate(option):
            put(token, start + offset, number)
    if any(marker >= max_len for marker in markers):
        return None
    put(SEP, start + max(len(option) for option in shown), 0)
    room = max(0, max_len - len(row) - 1)
    kept = state if len(state) <= room else (state[len(state) - room :] if keep_end else state[:room])
    for token in [*kept, SEP]:
        put(token, positions[-1] + 1, 0)
    return {
        "ids": row[:max_len],
        "markers": markers,
        "dropped": len(state) - len(kept),
        "room": room,
        "positions": positions[:max_len],
        "segments": segments[:max_len],
    }


lengths = st.integers(0, 60)
budgets = st.tuples(st.integers(8, 300), st.integers(4, 200))


@given(
    head=lengths,
    options=st.lists(lengths, min_size=1, max_size=20),
    data=st.data(),
    state=st.integers(0, 400),
    keep_end=st.booleans(),
    budget=budgets,
    layout=st.sampled_from(["sequential", "parallel"]),
)
def test_rows_are_what_the_rules_say(
    head: int,
    options: list[int],
    data: st.DataObject,
    state: int,
    keep_end: bool,
    budget: tuple[int, int],
    layout: str,
) -> None:
    order = data.draw(st.permutations(range(len(options))))
    texts = {f"w{1000 + number}": words(length, 2000 + 100 * number) for number, length in enumerate(options)}
    question = Choice(words(head) or ".", texts, option_order=order)
    rows = encoder(layout)
    head_ids, *option_ids = Words().encode([question.head_text, *question.option_texts()])
    state_ids = list(range(5000, 5000 + state))
    expected = plain_row(head_ids, option_ids, order, state_ids, keep_end, *budget)
    if expected is None:
        with pytest.raises(ValueError, match="options do not fit"):
            rows.prefix(question, TokenBudget(*budget))
        return
    prefix = rows.prefix(question, TokenBudget(*budget))
    row = rows.row(prefix, EncodedState(state_ids, keep_end))
    assert row.ids == expected["ids"]
    assert list(prefix.markers) == expected["markers"]
    assert prefix.state_room == expected["room"]
    assert (row.state_tokens, row.state_tokens_dropped) == (state, expected["dropped"])
    assert len(row) <= budget[0]
    whole = 3 + len(head_ids) + sum(1 + len(option) for option in option_ids)
    assert (prefix.unread is None) == (len(prefix.ids) == whole <= budget[0] + 1)
    if layout == "parallel":
        known = min(len(prefix.ids), budget[0])
        assert prefix.position_ids is not None and prefix.segments is not None
        assert list(prefix.position_ids[:known]) == expected["positions"][:known]
        assert list(prefix.segments[:known]) == expected["segments"][:known]
    else:
        assert prefix.position_ids is None and prefix.segments is None


def test_an_option_keeps_48_tokens_and_its_marker() -> None:
    prefix = encoder().prefix(Score("w100", [words(80), "w50"]), TokenBudget(512, 192))
    assert prefix.markers[1] - prefix.markers[0] == 49


def test_long_options_share_what_the_head_leaves() -> None:
    prefix = encoder().prefix(Score("w100", [words(40)] * 5), TokenBudget(512, 192))
    width = (192 - 16) // 5
    assert [b - a for a, b in pairwise(prefix.markers)] == [width] * 4


def test_options_are_cut_when_they_leave_the_head_fewer_than_16_tokens() -> None:
    uneven = Score("w100", [words(28), "w50", "w60"])  # 31, 4 and 4 tokens with "level i:" and the marker
    assert encoder().prefix(uneven, TokenBudget(512, 31 + 4 + 4 + 16)).markers[1:] == (5 + 31, 5 + 31 + 4)
    width = (31 + 4 + 4 + 15 - 16) // 3
    assert encoder().prefix(uneven, TokenBudget(512, 31 + 4 + 4 + 15)).markers[1:] == (5 + width, 5 + width + 4)


def test_an_option_never_shrinks_below_four_tokens_and_the_head_never_below_eight() -> None:
    prefix = encoder().prefix(Score(words(50), [words(40)] * 5), TokenBudget(512, 4))
    assert prefix.ids[9] == SEP
    assert prefix.markers == (10, 14, 18, 22, 26)


@pytest.mark.parametrize(
    ("budget", "options", "places"),
    [
        ((30, 20), 30, "5 of them lie within max_len=30; give fewer options or a larger max_len"),
        ((30, 20, 512), 30, "5 of them lie within max_len=30; give fewer options or a larger max_len"),
        ((30, 20, 100), 30, "5 of them lie within max_len=30; give fewer options"),
        (
            (30, 20, 30),
            30,
            "5 of them lie within max_len=30, the most this checkpoint's encoder reads; give fewer options",
        ),
        (
            (100, 192),
            10,
            "5 of them lie within max_len=100 (head_max_len=192); "
            "give fewer options, a larger max_len or a smaller head_max_len",
        ),
        (
            (100, 192, 100),
            10,
            "5 of them lie within max_len=100, the most this checkpoint's encoder reads (head_max_len=192); "
            "give fewer options or a smaller head_max_len",
        ),
    ],
)
def test_the_error_for_options_that_do_not_fit_advises_what_helps(
    budget: tuple[int, ...], options: int, places: str
) -> None:
    with pytest.raises(ValueError, match="options do not fit") as refused:
        encoder().prefix(Score(words(50), [words(40)] * options), TokenBudget(*budget))
    assert str(refused.value) == f"{options} options do not fit: only {places}"


@given(lengths, st.lists(lengths, min_size=1, max_size=40), st.tuples(st.integers(8, 60), st.integers(4, 200)))
def test_a_smaller_head_budget_is_advised_where_one_would_do_and_nowhere_else(
    head: int, options: list[int], budget: tuple[int, int]
) -> None:
    question = Score(words(head) or ".", [words(length) or "." for length in options])

    def refusal(head_max_len: int) -> str | None:
        try:
            encoder().prefix(question, TokenBudget(budget[0], head_max_len))
        except ValueError as error:
            return str(error)
        return None

    refused = refusal(budget[1])
    if refused is not None:
        would_do = any(refusal(smaller) is None for smaller in range(4, budget[1]))
        assert ("a smaller head_max_len" in refused) == would_do


def test_only_options_that_are_no_longer_distinct_are_reported() -> None:
    same = [f"{words(10)} w{900 + number}" for number in range(5)]
    budget = TokenBudget(512, 60)
    assert encoder().prefix(Choice("w1", same), budget).cut == CutOptions(total=5, distinct=1, tokens_per_option=8)
    distinct = [f"w{900 + number} {words(10)}" for number in range(5)]
    assert encoder().prefix(Choice("w1", distinct), budget).cut is None
    assert encoder().prefix(Choice("w1", same), TokenBudget(512, 192)).cut is None


@pytest.mark.parametrize("budget", [(0, 10), (-1, 10), (10, 0), (10.0, 10), (True, 10), ("10", 10), (10, None)])
def test_budgets_are_positive_whole_numbers(budget: tuple[Any, Any]) -> None:
    with pytest.raises(ValueError, match="must be a positive whole number"):
        TokenBudget(*budget)


def test_a_conversation_keeps_its_end_and_a_text_its_start() -> None:
    rows = encoder()
    prefix = rows.prefix(Noul("w1"), TokenBudget(40, 30))
    text, talk = rows.encode_states([words(50), ["w7 w8", words(50)]])
    assert prefix.state_room > 3
    assert rows.row(prefix, text).ids[-4:-1] == text.ids[: prefix.state_room][-3:]
    assert rows.row(prefix, talk).ids[-4:-1] == talk.ids[-3:]


def test_a_prefix_is_tokenised_once_for_equal_texts_and_again_for_other_budgets_or_orders() -> None:
    asked: list[int] = []

    class Counting(Words):
        def encode(self, texts: Sequence[str]) -> list[list[int]]:
            asked.append(len(texts))
            return super().encode(texts)

    rows = PromptEncoder(Counting())  # type: ignore[arg-type]
    first = rows.prefix(Choice("w1", ["a", "b"]), TokenBudget(64, 32))
    assert rows.prefix(Choice("w1", {"a": None, "b": ""}), TokenBudget(64, 32)) is first
    rows.prefix(Choice("w1", ["a", "b"]), TokenBudget(65, 32))
    rows.prefix(Choice("w1", ["a", "b"], option_order=[1, 0]), TokenBudget(64, 32))
    assert asked == [3, 3, 3]


def test_what_is_kept_is_bounded_in_number_and_size() -> None:
    rows = encoder()
    budget = TokenBudget(64, 32)
    long = Noul("word " * 10_000)
    assert rows.prefix(long, budget) == rows.prefix(long, budget)
    assert rows.prefix(long, budget) is not rows.prefix(long, budget)
    first = rows.prefix(Noul("w1"), budget)
    for number in range(2000):
        rows.prefix(Noul(f"w{number + 10}"), budget)
    assert rows.prefix(Noul("w1"), budget) is not first


def test_options_are_tokenised_with_a_leading_space(agent: Agent) -> None:
    tokenizer = agent.engine.encoder.tokenizer
    prefix = agent.engine.encoder.prefix(Choice("Which?", ["refund"]), TokenBudget(512, 192))
    head, option = tokenizer.encode(["choice question: Which?", " refund"])
    special = tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id
    assert list(prefix.ids) == [special[0], *head, special[1], special[2], *option, special[1]]


@pytest.mark.parametrize("checkpoint", ["bert", "modernbert"])
def test_the_mask_token_in_user_text_is_read_as_a_space(checkpoint: str, agent_on: Callable[[str], Agent]) -> None:
    rows = agent_on(checkpoint).engine.encoder
    mask = rows.tokenizer.mask_token
    dirty = Choice(f"a{mask}b", {f"l{mask}m": f"d{mask}"})
    clean = Choice("a b", {"l m": "d "})
    budget = TokenBudget(512, 192)
    assert rows.prefix(dirty, budget).ids == rows.prefix(clean, budget).ids
    states = rows.encode_states([f"x{mask}y", {"k": mask}, "x y", {"k": " "}])
    assert [state.ids for state in states[:2]] == [state.ids for state in states[2:]]
    assert all(rows.tokenizer.mask_id not in state.ids for state in states)


def test_states_are_text_or_json(agent: Agent) -> None:
    rows = agent.engine.encoder
    value = {"grün": [1, None, True, 2.5], "n": {"a": "ü"}}
    written, plain = rows.encode_states([value, '{"grün": [1, null, true, 2.5], "n": {"a": "ü"}}'])
    assert written.ids == plain.ids
    assert [state.keep_end for state in rows.encode_states([["a"], "a", {"a": 1}, 5])] == [True, False, False, False]
