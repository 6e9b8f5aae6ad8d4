"""What the engine needs of a model: tensors from rows, and scores from tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from laya_core.decoding import RowScores
    from laya_core.prompt import Row


class Runner(Protocol):
    """Runs passes, one at a time and always in the engine's thread, except `collate`."""

    @property
    def group_cost(self) -> int:
        """What one more group of rows costs, in padded tokens."""

    padding_interval: int
    """Widths are padded to a multiple of it."""

    def padded_tokens(self, lengths: Sequence[int]) -> int:
        """Tokens that a pass over rows of these lengths, in this order, computes with its padding."""

    def start(self) -> None:
        """Get ready for passes, in the thread that starts the engine."""

    def stop(self) -> None:
        """Undo what `start` did."""

    def warm_up(self, max_tokens: int | None) -> int:
        """Run what is slow the first time.

        Args:
            max_tokens: padded tokens of a pass; None to measure how many are good.

        Returns:
            Padded tokens of a pass.
        """

    def collate(self, rows: Sequence[Row]) -> Any:
        """The tensors of a pass."""

    def run(self, rows: Sequence[Row], inputs: Any) -> list[RowScores]:
        """One forward pass; the scores of `rows`, in order."""

    def is_out_of_memory(self, error: Exception) -> bool:
        """Whether a pass failed because the device ran out of memory."""

    def release_memory(self) -> None:
        """Give back to the device what is kept for reuse."""

    def rescue(self, rows: Sequence[Row], error: Exception) -> list[RowScores]:
        """The scores of a request whose row runs out of memory even alone; raises where there is no way."""
