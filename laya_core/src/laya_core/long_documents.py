"""`predict_long`: one hooked call over the windows of a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from attrs import define, field

from laya_hooks import PredictContext
from laya_hooks.protocols import Questions, Result

from .engine import Engine
from .questions import parse_questions, text_of
from .windows import Window, cut_windows, merge_windows, window_size, with_window_count

Infer: TypeAlias = Callable[[PredictContext], list[Result]]


@define(eq=False)
class LongDocument:
    """One scan of one document: the texts a call scores, and the spans they stand for.

    `windows` is None when the document is scored in one piece. `refusal` is an error that was found while the scan was
    planned; it is raised inside the call, so that hooks see it like that of any other call. `scored` counts the texts
    the model read, `scored_windows` are their spans, or None when a start hook replaced the texts.
    """

    engine: Engine
    states: list[Any]
    scanned: tuple[Any, ...]
    windows: Sequence[Window] | None
    refusal: Exception | None = None
    scored: int = field(default=0, init=False)
    scored_windows: Sequence[Window] | None = field(default=None, init=False)

    @classmethod
    def plan(
        cls,
        engine: Engine,
        state: Any,
        questions: Questions,
        window: int | None,
        stride: int | None,
        aggregate: str,
    ) -> LongDocument:
        """Decide how `state` is scanned, given the room its questions leave."""
        try:
            texts, windows = _scan(engine, state, questions, window, stride, aggregate)
        except (TypeError, ValueError) as refusal:
            return cls(engine, [state], (state,), None, refusal)
        return cls(engine, texts, tuple(texts), windows)

    def infer(self, infer: Infer, context: PredictContext) -> list[Result]:
        """Score what the start hooks left of the scan.

        Raises:
            ValueError: they changed questions or budgets so that the windows would be cut again.
        """
        if self.refusal is not None:
            raise self.refusal
        if self._is_as_planned(context):
            self.scored_windows = self.windows
        if self.scored_windows is not None:
            room = _room(self.engine, context)
            longest = max(window.token_end - window.token_start for window in self.scored_windows)
            if room is not None and longest > room:
                raise ValueError(
                    f"a start hook changed the questions or token budgets: they leave {room} tokens, "
                    f"but the windows are already cut to {longest}; pass window={room} to predict_long"
                )
        results = infer(context)
        self.scored = len(results) if context.questions else 0
        return results

    def settle_skipped(self, context: PredictContext) -> None:
        """Accept skipped results: one for the document, or one for each text."""
        count = len(context.results or ())
        if count not in (1, len(context.states)):
            raise ValueError(f"a start hook skipped with {count} results for {len(context.states)} windows")

    def result(self, context: PredictContext, results: Sequence[Result]) -> Result:
        """The document's result after the call."""
        if not results:
            raise ValueError("a hook left no text or no result of this document; predict_long needs at least one")
        if len(results) == 1:
            return with_window_count(results[0], self.scored)
        return with_window_count(merge_windows(results, self.scored_windows), self.scored)

    def _is_as_planned(self, context: PredictContext) -> bool:
        return isinstance(context.states, list) and tuple(context.states) == self.scanned


def _scan(
    engine: Engine, state: Any, questions: Questions, window: int | None, stride: int | None, aggregate: str
) -> tuple[list[Any], Sequence[Window] | None]:
    if aggregate != "auto":
        raise ValueError(f"aggregate must be 'auto', not {aggregate!r}")
    if state is None:
        raise TypeError("state is None; a state is a text or a JSON value")
    room = _room(engine, PredictContext(states=[], questions=questions))  # type: ignore[arg-type]
    if room is None:
        return [state], None
    config = engine.config
    size = window_size(room, config.max_len, config.head_max_len, window, stride)
    encoder = engine.encoder
    ids = encoder.tokenizer.encode([text_of(state)])[0]
    if len(ids) <= (room if window is None else size.length):
        return [state], None
    windows = cut_windows(len(ids), size)
    return [encoder.tokenizer.decode(ids[span.token_start : span.token_end]) for span in windows], windows


def _room(engine: Engine, context: PredictContext) -> int | None:
    """The fewest state tokens any of the questions leaves; None when nothing is asked."""
    prefixes = engine.prefixes(parse_questions(context.questions), context)
    return min((prefix.state_room for prefix in prefixes), default=None)
