"""Rows: one question on one state, as the token ids the encoder reads.

    [CLS] head [SEP] [MASK] option0 [MASK] option1 … [SEP] state [SEP]

Everything before the state depends on the question and the token budget alone. It is tokenised once and kept, unless
its text is very long, so that a row costs one concatenation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Final

from attrs import frozen

from .config import QUESTION_TYPES, OptionLayout
from .questions import Question, text_of
from .tokenizer import PromptTokenizer
from .unread import Unread

_OPTION_TOKENS: Final = 48
_LEAST_HEAD_ROOM: Final = 16
_LEAST_HEAD_TOKENS: Final = 8
_LEAST_OPTION_TOKENS: Final = 4
_KEPT_PREFIXES: Final = 1024
_LONGEST_KEPT_TEXT: Final = 16_384


@frozen
class TokenBudget:
    """`max_len`: tokens of a whole row; `head_max_len`: tokens of the head and the options together.

    `position_limit` is the largest `max_len` the encoder has positions for, None where it has no bound.

    Raises:
        ValueError: `max_len` or `head_max_len` is not a positive whole number.
    """

    max_len: int
    head_max_len: int
    position_limit: int | None = None

    def __attrs_post_init__(self) -> None:
        check_count("max_len", self.max_len)
        check_count("head_max_len", self.head_max_len)


def check_count(name: str, value: object) -> None:
    """Refuse anything but a positive whole number with a `ValueError` that gives its name."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{name} must be a positive whole number, not {value!r}")


@frozen
class CutOptions:
    """How the options of one question came out of the cut to the head budget."""

    total: int
    distinct: int
    tokens_per_option: int


@frozen
class Prefix:
    """The part of a row before the state.

    `position_ids` and `segments` (0: everyone sees it, n: option n, -1: nothing) are None in the sequential layout.
    `cut` tells when options were cut so short that some are no longer distinct, `unread` when anything was cut.
    """

    ids: tuple[int, ...]
    markers: tuple[int, ...]
    sep_id: int
    type_id: int
    order: tuple[int, ...]
    state_room: int
    max_len: int
    position_ids: tuple[int, ...] | None
    segments: tuple[int, ...] | None
    cut: CutOptions | None
    unread: Unread | None = None


@frozen(weakref_slot=False)
class Row:
    """What the model scores. Rows of one state share its tokens, so that many can wait in little memory.

    Args:
        state: the tokens of the state that are kept.
        state_tokens_dropped: how many were cut off.
    """

    prefix: Prefix
    state: list[int]
    state_tokens_dropped: int

    @property
    def ids(self) -> list[int]:
        """The token ids; the places of the option markers are those of `prefix`."""
        prefix = self.prefix
        return [*prefix.ids, *self.state, prefix.sep_id][: prefix.max_len]

    @property
    def state_tokens(self) -> int:
        """Tokens of the whole state."""
        return len(self.state) + self.state_tokens_dropped

    def __len__(self) -> int:
        """Tokens of the row."""
        prefix = self.prefix
        return min(len(prefix.ids) + len(self.state) + 1, prefix.max_len)


@frozen
class EncodedState:
    """A tokenised state. A conversation (a list) keeps its end when it is cut, anything else its start."""

    ids: list[int]
    keep_end: bool

    def cut(self, room: int) -> list[int]:
        """At most `room` tokens."""
        if len(self.ids) <= room:
            return self.ids
        return self.ids[len(self.ids) - room :] if self.keep_end else self.ids[:room]


@frozen
class _PromptTexts:
    """The texts of a question that reach the tokenizer: what a prefix is kept under."""

    head: str
    options: tuple[str, ...]
    order: tuple[int, ...]
    type_id: int


class PromptEncoder:
    """Builds rows for one tokenizer and option layout. Thread-safe."""

    def __init__(self, tokenizer: PromptTokenizer, layout: OptionLayout = "sequential") -> None:
        self.tokenizer = tokenizer
        self.layout = layout
        # Of a function, not of a method: a cache that refers to its owner keeps it alive until the next collection.
        self._prefix = lru_cache(maxsize=_KEPT_PREFIXES)(partial(_build_prefix, tokenizer, layout))

    def prefix(self, question: Question, budget: TokenBudget) -> Prefix:
        """Everything before the state, and how many state tokens fit behind it.

        Raises:
            ValueError: not every option marker fits in `budget.max_len`.
        """
        options = question.option_texts()
        order = question.option_order or tuple(range(len(options)))
        texts = _PromptTexts(question.head_text, options, order, QUESTION_TYPES.index(question.kind))
        if len(texts.head) + sum(map(len, options)) > _LONGEST_KEPT_TEXT:  # what is kept must stay small
            return _build_prefix(self.tokenizer, self.layout, texts, budget)
        return self._prefix(texts, budget)

    def encode_states(self, states: Sequence[object]) -> list[EncodedState]:
        """Tokenise states: strings as they are, anything else as JSON.

        Raises:
            ValueError: one can be neither; the message names its index.
        """
        encoded = self.tokenizer.encode([_state_text(index, state) for index, state in enumerate(states)])
        return [EncodedState(ids, isinstance(state, list)) for ids, state in zip(encoded, states, strict=True)]

    def row(self, prefix: Prefix, state: EncodedState) -> Row:
        """One row; the state is cut to the room the question leaves."""
        kept = state.cut(prefix.state_room)
        return Row(prefix, kept, len(state.ids) - len(kept))


def _state_text(index: int, state: object) -> str:
    try:
        return text_of(state)
    except ValueError as error:
        raise ValueError(f"states[{index}]: {error}") from error


def _build_prefix(tokenizer: PromptTokenizer, layout: OptionLayout, texts: _PromptTexts, budget: TokenBudget) -> Prefix:
    head, *options = tokenizer.encode([texts.head, *(f" {option}" for option in texts.options)])
    slots = [[tokenizer.mask_id, *options[index][:_OPTION_TOKENS]] for index in texts.order]
    room = budget.head_max_len - sum(map(len, slots))
    cut = None
    if room < _LEAST_HEAD_ROOM:
        width = max(_LEAST_OPTION_TOKENS, (budget.head_max_len - _LEAST_HEAD_ROOM) // len(slots))
        slots = [slot[:width] for slot in slots]
        room = budget.head_max_len - sum(map(len, slots))
        distinct = len({tuple(slot) for slot in slots})
        if distinct < len(slots):
            cut = CutOptions(len(slots), distinct, width)
    head_read = head[: max(_LEAST_HEAD_TOKENS, room)]
    sep = tokenizer.sep_id
    ids = [tokenizer.cls_id, *head_read, sep]
    markers = []
    for slot in slots:
        markers.append(len(ids))
        ids += slot
    ids.append(sep)
    if markers[-1] >= budget.max_len:
        raise ValueError(_no_room(head, slots, markers, budget))
    positions, segments = _parallel_positions(len(head_read) + 2, slots) if layout == "parallel" else (None, None)
    return Prefix(
        ids=tuple(ids),
        markers=tuple(markers),
        sep_id=sep,
        type_id=texts.type_id,
        order=texts.order,
        state_room=max(0, budget.max_len - len(ids) - 1),
        max_len=budget.max_len,
        position_ids=positions,
        segments=segments,
        cut=cut,
        unread=_unread(head, head_read, [options[index] for index in texts.order], slots, markers, budget),
    )


def _no_room(head: Sequence[int], slots: Sequence[Sequence[int]], markers: Sequence[int], budget: TokenBudget) -> str:
    """That not every marker lies within `max_len`, and what of the budgets would help."""
    fitting = sum(marker < budget.max_len for marker in markers)
    places = f"max_len={budget.max_len}"
    if budget.max_len == budget.position_limit:
        places += ", the most this checkpoint's encoder reads"
    budgets = []
    if budget.position_limit is None or markers[-1] < budget.position_limit:
        budgets.append("a larger max_len")
    least = [min(len(slot), _LEAST_OPTION_TOKENS) for slot in slots]
    if 2 + min(len(head), _LEAST_HEAD_TOKENS) + sum(least[:-1]) < budget.max_len:
        places += f" (head_max_len={budget.head_max_len})"
        budgets.append("a smaller head_max_len")
    advice = " or ".join([", ".join(["fewer options", *budgets[:-1]]), *budgets[-1:]])
    return f"{len(markers)} options do not fit: only {fitting} of them lie within {places}; give {advice}"


def _unread(
    head: Sequence[int],
    head_read: Sequence[int],
    options: Sequence[Sequence[int]],
    slots: Sequence[Sequence[int]],
    markers: Sequence[int],
    budget: TokenBudget,
) -> Unread | None:
    """What the budgets leave unread of the tokens of a question; a row also ends where `max_len` cuts an option."""
    whole = list(map(len, options))
    read = [min(len(slot), budget.max_len - marker) - 1 for slot, marker in zip(slots, markers, strict=True)]
    cut = [kept for kept, length in zip(read, whole, strict=True) if kept < length]
    if len(head_read) == len(head) and not cut:
        return None
    return Unread(
        head=len(head),
        head_read=len(head_read),
        options=len(options),
        options_cut=len(cut),
        option_read=max(cut, default=0),
        head_max_len=budget.head_max_len,
        max_len=budget.max_len,
        more_would_be_read=len(head_read) < len(head) or min(cut) < _OPTION_TOKENS,
    )


def _parallel_positions(start: int, slots: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Position ids and segments when every option starts at `start`, the position after the head's [SEP]."""
    positions, segments = list(range(start)), [0] * start
    for number, slot in enumerate(slots, start=1):
        positions += range(start, start + len(slot))
        segments += [number] * len(slot)
    positions.append(start + max(map(len, slots)))
    segments.append(0)
    return tuple(positions), tuple(segments)
