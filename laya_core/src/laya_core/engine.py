"""A loaded checkpoint: tokenizer, model and the passes that score rows, with a fallback when memory runs out."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch

from laya_hooks import PredictContext, RequestCancelled, current_scope

from .backends import prepare_model
from .config import CheckpointConfig
from .decoding import RowScores
from .devices import is_out_of_memory, release_cached_memory
from .passes import PassRunner, plan_passes
from .prompt import Prefix, PromptEncoder, Row, TokenBudget
from .questions import Question
from .sources import LocalCheckpoint
from .tokenizer import PromptTokenizer
from .unread import UnreadWarnings
from .weights import load_model

_log = logging.getLogger(__name__)


class Fallbacks:
    """How often a device ran out of memory, and why last; may be read when the model is gone."""

    def __init__(self) -> None:
        self.count = 0
        self.last_reason: str | None = None

    def note(self, reason: str) -> None:
        """Count one more."""
        self.count += 1
        self.last_reason = reason


class Engine:
    """Scores rows on one device. Thread-safe."""

    def __init__(
        self,
        checkpoint: LocalCheckpoint,
        config: CheckpointConfig,
        device: torch.device,
        dtype: torch.dtype,
        backend: str = "eager",
    ) -> None:
        self._directory = checkpoint.directory
        self.config = config
        self.dtype = dtype
        self.encoder = PromptEncoder(PromptTokenizer(checkpoint.directory / "tokenizer"), config.option_layout)
        self._runner = self._load(device, dtype, backend)
        self._unread = UnreadWarnings()
        self.fallbacks = Fallbacks()
        # Guards the notes above and the building of the spare below.
        self._fallback = threading.Lock()
        self._spare: PassRunner | None = None

    @property
    def device(self) -> torch.device:
        """Where the model's weights are."""
        return self._runner.device

    @property
    def passes(self) -> PassRunner:
        """The model on its device."""
        return self._runner

    @property
    def token_budget(self) -> int:
        """Padded tokens of a pass when the caller does not choose its batches."""
        return self._runner.token_budget

    @property
    def position_limit(self) -> int | None:
        """The longest row the encoder has positions for."""
        return self._runner.model.shape.position_limit

    def prefixes(self, questions: Mapping[Any, Question], context: PredictContext) -> list[Prefix]:
        """What the rows of each question have before the state, under the budgets of `context`.

        A question that is not read whole is a `RuntimeWarning`, once.

        Raises:
            ValueError: a budget cannot be used, or the options of a question do not fit; the message names it.
        """
        budget = self._budget(context)
        found = []
        for qid, question in questions.items():
            try:
                prefix = self.encoder.prefix(question, budget)
            except ValueError as error:
                raise ValueError(f"question {qid!r}: {error}") from None
            if prefix.unread is not None:
                self._unread.tell(qid, prefix.unread)
            found.append(prefix)
        return found

    def score(self, rows: Sequence[Row], passes: Iterable[Sequence[int]]) -> list[RowScores]:
        """Score rows in the given passes (row numbers of each), in the order of the rows.

        When the device runs out of memory these rows, and only these, run on the CPU instead.

        Raises:
            RequestCancelled: the call's scope was cancelled between two passes.
        """
        plan = list(passes)
        try:
            return _run_passes(self._runner, rows, plan)
        except RuntimeError as error:
            if self.device.type == "cpu" or not is_out_of_memory(error):
                raise
            reason = str(error)
        release_cached_memory(self.device)
        return self.score_on_cpu(rows, reason, plan)

    def score_on_cpu(
        self, rows: Sequence[Row], reason: str, passes: Sequence[Sequence[int]] | None = None
    ) -> list[RowScores]:
        """Score the rows of one request on the CPU, because of `reason`; counted as a fallback."""
        spare = self._cpu_spare(reason)
        plan = list(plan_passes(list(map(len, rows)), spare.token_budget)) if passes is None else passes
        return _run_passes(spare, rows, plan)

    def _budget(self, context: PredictContext) -> TokenBudget:
        limit = self.position_limit
        budget = TokenBudget(
            self.config.max_len if context.max_len is None else context.max_len,
            self.config.head_max_len if context.head_max_len is None else context.head_max_len,
            limit,
        )
        if limit is not None and budget.max_len > limit:
            raise ValueError(f"max_len={budget.max_len} is beyond the {limit} positions of this checkpoint's encoder")
        return budget

    def _load(self, device: torch.device, dtype: torch.dtype, backend: str) -> PassRunner:
        model = load_model(self._directory, self.config, device, dtype)
        return PassRunner(prepare_model(model, backend), device, self.encoder.tokenizer.pad_id, model.shape.half_window)

    def _cpu_spare(self, reason: str) -> PassRunner:
        with self._fallback:
            self.fallbacks.note(reason)
            if self._spare is None:
                _log.warning("out of memory on %s; answering this request on the CPU", self.device)
                self._spare = self._load(torch.device("cpu"), torch.float32, "eager")
            return self._spare


def _run_passes(runner: PassRunner, rows: Sequence[Row], passes: Sequence[Sequence[int]]) -> list[RowScores]:
    scope = current_scope()
    scores: dict[int, RowScores] = {}
    for numbers in passes:
        if scope is not None and scope.cancelled:
            raise RequestCancelled("the request was cancelled before all of its rows were scored")
        scores.update(zip(numbers, runner.run([rows[number] for number in numbers]), strict=True))
    return [scores[number] for number in range(len(rows))]
