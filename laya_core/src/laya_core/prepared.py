"""A call between the hooks and the model: its rows, and how their scores become results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import define

from .confidence_gate import ConfidenceGate
from .config import Temperatures
from .decoding import RowScores, probabilities_of
from .finite import FiniteCheck
from .prompt import Row
from .questions import Question
from .results import build_result, empty_result


@define(eq=False, weakref_slot=False)
class PreparedCall:
    """The rows of a call, question by question within state by state.

    Args:
        states: how many states the call is about.
        finite: refuses scores that no answer can be made of.
    """

    states: int
    questions: Mapping[Any, Question]
    rows: Sequence[Row]
    temperatures: Temperatures
    gate: ConfidenceGate | None
    finite: FiniteCheck

    def results(self, scores: Sequence[RowScores]) -> list[dict[str, Any]]:
        """One result per state from the scores of the rows.

        Raises:
            InferenceFailed: a score is not a finite number.
        """
        if not self.rows:
            return [empty_result() for _ in range(self.states)]
        self.finite.check(scores, self.question_id)
        step = len(self.questions)
        return [
            build_result(
                self.questions,
                self.rows[start : start + step],
                scores[start : start + step],
                self.temperatures,
                self.gate,
            )
            for start in range(0, len(self.rows), step)
        ]

    def question_id(self, index: int) -> Any:
        """The question that row `index` asks."""
        return list(self.questions)[index % len(self.questions)]

    def result_of_row(self, index: int, scores: RowScores) -> dict[str, Any]:
        """A result that holds the answer of row `index` alone.

        Raises:
            InferenceFailed: a score is not a finite number.
        """
        qid = self.question_id(index)
        self.finite.check([scores], lambda _: qid)
        return build_result({qid: self.questions[qid]}, [self.rows[index]], [scores], self.temperatures, self.gate)

    def log_probs(self, scores: Sequence[RowScores]) -> dict[Any, tuple[float, ...]]:
        """Question id to the logarithms of the calibrated probabilities of the first state, in option order."""
        return {
            qid: tuple(
                math.log(p) if p else -math.inf
                for p in probabilities_of(question, row.prefix.order, row_scores, self.temperatures)
            )
            for (qid, question), row, row_scores in zip(self.questions.items(), self.rows, scores, strict=False)
        }
