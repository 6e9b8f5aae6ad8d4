"""Forward passes: which rows run together, their tensors, and the scores that come out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Sized
from functools import partial
from typing import Any, Final

import torch
from attrs import frozen
from torch import Tensor

from laya_hooks.locks import after_fork_in_child

from .decoding import RowScores
from .model import DecisionModel, parallel_masks
from .prompt import Row

# The threads that torch divides its work among do not exist in a forked child, which would wait for them for ever.
after_fork_in_child(partial(torch.set_num_threads, 1))

_CPU_TOKENS: Final = 8_192
_DEVICE_TOKENS: Final = 65_536


def plan_passes(lengths: Sequence[int], token_budget: int) -> Iterator[list[int]]:
    """Group rows of like length so that rows × width of each group stays within `token_budget`.

    A row longer than the budget runs alone.

    Args:
        lengths: tokens of each row.

    Yields:
        Row numbers of one pass.
    """
    group: list[int] = []
    for number in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        if group and (len(group) + 1) * lengths[group[0]] > token_budget:
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def plan_state_batches(
    lengths: Sequence[int], rows_per_state: int, batch_size: int, sort_by_length: bool
) -> Iterator[list[int]]:
    """Group rows by states, `batch_size` states a pass, in input order or longest state first.

    Args:
        lengths: tokens of each row, the rows of a state side by side.
    """
    states = list(range(len(lengths) // rows_per_state))
    if sort_by_length:
        states.sort(key=lambda state: lengths[state * rows_per_state], reverse=True)
    for start in range(0, len(states), batch_size):
        yield [
            state * rows_per_state + question
            for state in states[start : start + batch_size]
            for question in range(rows_per_state)
        ]


@frozen(eq=False)
class PassRunner:
    """One model on one device. Thread-safe: a pass keeps its tensors to itself."""

    model: DecisionModel
    device: torch.device
    pad_id: int
    half_window: int | None

    @property
    def token_budget(self) -> int:
        """Padded tokens of a pass when the caller does not choose."""
        return _CPU_TOKENS if self.device.type == "cpu" else _DEVICE_TOKENS

    def run(self, rows: Sequence[Row]) -> list[RowScores]:
        """Score rows in one forward pass, in order."""
        return self.forward(rows, self.collate(rows))

    def collate(self, rows: Sequence[Row], width_interval: int = 1) -> dict[str, Any]:
        """The tensors of a pass; its width is a multiple of `width_interval`."""
        return collate(rows, self.pad_id, self.half_window, self.device, width_interval)

    def forward(self, rows: Sequence[Row], inputs: dict[str, Any]) -> list[RowScores]:
        """The scores of rows from their tensors."""
        with torch.inference_mode():
            logits, act_logits = self.model(**inputs)
            option_logits = logits.tolist()
            act_probabilities = _act_probabilities(act_logits).tolist()
        return [
            RowScores(tuple(line[: len(row.prefix.markers)]), act)
            for line, act, row in zip(option_logits, act_probabilities, rows, strict=True)
        ]


def _act_probabilities(act_logits: Tensor) -> Tensor:
    """The probability of answering, (rows,); NaN where an act logit is not finite, which softmax may hide."""
    return act_logits.softmax(-1)[:, 0].where(act_logits.isfinite().all(-1), torch.nan)


def collate(
    rows: Sequence[Row],
    pad_id: int,
    half_window: int | None = None,
    device: torch.device | None = None,
    width_interval: int = 1,
) -> dict[str, Any]:
    """The arguments of `DecisionModel.forward` for rows, padded to the longest row and the most options.

    Args:
        rows: rows of one option layout.
        half_window: how far local layers look in position ids; None for an encoder without local layers.
        width_interval: the width is rounded up to a multiple of it.
    """
    width = padded_width(rows, width_interval)
    options = max(len(row.prefix.markers) for row in rows)
    tensor = partial(torch.tensor, dtype=torch.long, device=device)
    lengths, counts = tensor([len(row) for row in rows]), tensor([len(row.prefix.markers) for row in rows])
    inputs: dict[str, Any] = {
        "input_ids": tensor([_padded(row.ids, width, pad_id) for row in rows]),
        "padding_mask": torch.arange(width, device=device) < lengths[:, None],
        "type_ids": tensor([row.prefix.type_id for row in rows]),
        "markers": tensor([_padded(row.prefix.markers, options, 0) for row in rows]),
        "marker_mask": torch.arange(options, device=device) < counts[:, None],
    }
    if rows[0].prefix.position_ids is not None:
        positions, segments = zip(*(_parallel_places(row, width) for row in rows), strict=True)
        inputs["position_ids"] = tensor(positions)
        inputs["encoder_mask"] = parallel_masks(tensor(segments), inputs["position_ids"], half_window)
    return inputs


def padded_width(rows: Iterable[Sized], interval: int) -> int:
    """The width of a pass over rows: the longest of them, rounded up to a multiple of `interval`."""
    return -(-max(map(len, rows)) // interval) * interval


def _padded(values: Sequence[int], width: int, padding: int) -> list[int]:
    return [*values, *[padding] * (width - len(values))]


def _parallel_places(row: Row, width: int) -> tuple[list[int], list[int]]:
    """Position ids and segments of a row: the state goes on behind the prefix, padding is segment -1."""
    prefix = row.prefix
    assert prefix.position_ids is not None and prefix.segments is not None
    rest = max(0, len(row) - len(prefix.ids))
    after = prefix.position_ids[-1] + 1
    positions = [*prefix.position_ids, *range(after, after + rest)][: len(row)]
    segments = [*prefix.segments, *[0] * rest][: len(row)]
    return _padded(positions, width, 0), _padded(segments, width, -1)
