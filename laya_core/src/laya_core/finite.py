"""Scores that are no finite numbers: what damaged or overflowing weights compute, and nothing to make answers of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite
from typing import Any

import torch
from attrs import frozen

from laya_hooks.errors import LayaError

from .decoding import RowScores


class InferenceFailed(LayaError):
    """The model computed nothing that an answer could be made of."""


@frozen
class FiniteCheck:
    """Refuses scores that are not finite, in the name of the checkpoint they are from.

    Args:
        model_id: the checkpoint.
        dtype: the number format it computes in.
    """

    model_id: str
    dtype: torch.dtype

    def check(self, scores: Sequence[RowScores], question_id: Callable[[int], Any]) -> None:
        """Refuse the first row with a number that is not finite.

        Args:
            question_id: gives the question of a row by its number.

        Raises:
            InferenceFailed: there is such a row; the message names the checkpoint and the question.
        """
        for number, row in enumerate(scores):
            # The float64 sum of float32 numbers cannot overflow: it is finite if, and only if, all of them are.
            if not isfinite(sum(row.logits, row.act_probability)):
                raise InferenceFailed(
                    f"{self.model_id} computed no finite numbers (NaN or infinite) for question "
                    f"{question_id(number)!r}; its weights are damaged or overflow in {self._advice}"
                )

    @property
    def _advice(self) -> str:
        precision = str(self.dtype).removeprefix("torch.")
        wider = "" if self.dtype is torch.float32 else "load it with precision='float32', or "
        return f"{precision}: {wider}fetch it anew"
