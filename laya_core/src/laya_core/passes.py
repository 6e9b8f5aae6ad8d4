"""Forward passes: which rows run together, their tensors, and the scores that come out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import torch
from attrs import frozen
from torch import Tensor

from .decoding import RowScores
from .model import DecisionModel, parallel_masks
from .prompt import Row

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
        with torch.inference_mode():
            logits, act_logits = self.model(**self._collate(rows))
            option_logits = logits.tolist()
            act_probabilities = act_logits.softmax(-1)[:, 0].tolist()
        return [
            RowScores(tuple(line[: len(row.prefix.markers)]), act)
            for line, act, row in zip(option_logits, act_probabilities, rows, strict=True)
        ]

    def _collate(self, rows: Sequence[Row]) -> dict[str, Any]:
        width = max(map(len, rows))
        options = max(len(row.prefix.markers) for row in rows)
        tensors: dict[str, Any] = {
            "input_ids": self._tensor([_padded(row.ids, width, self.pad_id) for row in rows]),
            "padding_mask": self._mask([len(row) for row in rows], width),
            "type_ids": self._tensor([row.prefix.type_id for row in rows]),
            "markers": self._tensor([_padded(row.prefix.markers, options, 0) for row in rows]),
            "marker_mask": self._mask([len(row.prefix.markers) for row in rows], options),
        }
        if rows[0].prefix.position_ids is not None:
            positions, segments = zip(*(_parallel_places(row, width) for row in rows), strict=True)
            position_ids = tensors["position_ids"] = self._tensor(positions)
            tensors["encoder_mask"] = parallel_masks(self._tensor(segments), position_ids, self.half_window)
        return tensors

    def _tensor(self, values: Sequence[object]) -> Tensor:
        return torch.tensor(values, dtype=torch.long, device=self.device)

    def _mask(self, counts: Sequence[int], width: int) -> Tensor:
        return torch.arange(width, device=self.device) < self._tensor(counts)[:, None]


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
