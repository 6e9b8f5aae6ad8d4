"""Examples as the token rows the model reads, grouped into batches of equal cost."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from laya_core.config import OptionLayout
from laya_core.passes import collate
from laya_core.prompt import PromptEncoder, Row, TokenBudget
from laya_core.questions import parse_questions
from laya_core.tokenizer import PromptTokenizer
from training.examples import Example

OPTION_LAYOUT: OptionLayout = "parallel"
"""Options do not see one another in the encoder: which words belong to a marker need not be learned."""

_HEAD_TOKENS = 192
_NEIGHBOUR_SHARE = 0.12


@dataclass(frozen=True, slots=True)
class LabelledRow:
    """A row and the wanted probability of each of its options."""

    row: Row
    target: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """Tensors of `DecisionModel.forward`, and the wanted probabilities, (rows, options)."""

    inputs: dict[str, Tensor]
    targets: Tensor


class RowEncoder:
    """Turns examples into rows with a checkpoint's own tokenizer."""

    def __init__(self, tokenizer: Path, max_len: int) -> None:
        self._tokenizer = PromptTokenizer(tokenizer)
        self._encoder = PromptEncoder(self._tokenizer, OPTION_LAYOUT)
        self._budget = TokenBudget(max_len, _HEAD_TOKENS)

    def encode(self, example: Example) -> LabelledRow:
        question = parse_questions({"q": dict(example.question)})["q"]
        (state,) = self._encoder.encode_states([example.state])
        row = self._encoder.row(self._encoder.prefix(question, self._budget), state)
        return LabelledRow(row, _wanted(example, len(row.prefix.markers)))

    def batch(self, rows: Sequence[LabelledRow]) -> Batch:
        """Pads rows to one length, and their options to one count."""
        inputs = collate([labelled.row for labelled in rows], self._tokenizer.pad_id)
        options = inputs["markers"].shape[1]
        targets = [[*labelled.target, *[0.0] * (options - len(labelled.target))] for labelled in rows]
        return Batch(inputs, torch.tensor(targets))


def undecided(labelled: LabelledRow) -> LabelledRow:
    """The same row with every option wanted alike."""
    count = len(labelled.target)
    return replace(labelled, target=(1.0 / count,) * count)


def _wanted(example: Example, options: int) -> tuple[float, ...]:
    """All on the right option; for a score, a little on the levels beside it."""
    wanted = [0.0] * options
    neighbours = (example.target - 1, example.target + 1) if example.type == "score" else ()
    for i in (i for i in neighbours if 0 <= i < options):
        wanted[i] = _NEIGHBOUR_SHARE / 2
    wanted[example.target] = 1.0 - sum(wanted)
    return tuple(wanted)


def by_token_budget(rows: Sequence[LabelledRow], tokens: int) -> Iterator[list[LabelledRow]]:
    """Cuts rows, sorted by length, into batches of at most `tokens` padded tokens."""
    batch: list[LabelledRow] = []
    for row in sorted(rows, key=lambda r: len(r.row)):
        if batch and len(row.row) * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def pool_batches(rows: Sequence[LabelledRow], tokens: int, rng: random.Random) -> list[list[LabelledRow]]:
    """The batches of a pool of rows, in random order."""
    batches = list(by_token_budget(rows, tokens))
    rng.shuffle(batches)
    return batches
