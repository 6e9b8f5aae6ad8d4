"""An agent without a model: the real registry and lifecycle around made-up answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..context import PredictContext
from ..lifecycle import run_call
from ..registry import HookRegistry

Answer: TypeAlias = Callable[[Any, Mapping[str, Any]], dict[str, Any]]


def made_up_answer(state: Any, questions: Mapping[str, Any]) -> dict[str, Any]:
    """Answer every question with yes.

    Raises:
        TypeError: there is no state.
    """
    if state is None:
        raise TypeError("a state is text or JSON, not None")
    answers = {name: {"noul": 1.0, "confidence": 1.0, "answer_confidence": 1.0} for name in questions}
    return {
        "model": "fake",
        "answers": answers,
        "usage": {"input_tokens": len(str(state).split()), "output_tokens": 0},
    }


class FakeAgent(HookRegistry):
    """An `AgentLike` that answers with `answer`.

    Args:
        model_id: what `ctx.model` shows.
        answer: makes the result of one state; what it raises fails the inference.
        hook_arguments: `hooks=`, `on_predict_start=`, … of every agent.
    """

    device = "cpu"
    revision: str | None = None
    cpu_fallback_count = 0
    last_fallback_reason: str | None = None

    def __init__(self, model_id: str = "fake", answer: Answer = made_up_answer, **hook_arguments: Any) -> None:
        self.model_id = model_id
        self._answer = answer
        self._init_hooks(**hook_arguments)

    def predict_batch(
        self,
        states: list[Any],
        questions: Mapping[str, Any],
        batch_size: int | None = None,
        hooks: object = None,
        on_predict_start: Any = None,
        on_predict_end: Any = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        max_len: int | None = None,
        head_max_len: int | None = None,
        sort_by_length: bool = False,
        min_confidence: Any = None,
        lang: str | None = None,
    ) -> list[dict[str, Any]]:
        """Answer `questions` about each state."""
        chain = self.hook_chain(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout)
        ctx = self._context(list(states), questions, max_len, head_max_len)
        return run_call(chain, ctx, self._infer)

    def predict(self, state: Any, questions: Mapping[str, Any], **arguments: Any) -> dict[str, Any]:
        """Answer `questions` about one state."""
        return self.predict_batch([state], questions, **arguments)[0]

    system_one = predict

    def predict_long(
        self,
        state: Any,
        questions: Mapping[str, Any],
        window: int | None = None,
        stride: int | None = None,
        aggregate: str = "auto",
        batch_size: int | None = None,
        lang: str | None = None,
        hooks: object = None,
        on_predict_start: Any = None,
        on_predict_end: Any = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        min_confidence: Any = None,
    ) -> dict[str, Any]:
        """Answer `questions` about a document cut into windows of `window` characters."""
        chain = self.hook_chain(hooks, on_predict_start, on_predict_end, hooks_raise, hooks_timeout)
        size = window or max(len(state), 1)
        windows = [state[start : start + size] for start in range(0, max(len(state), 1), size)]
        ctx = self._context(windows, questions)

        def infer(ctx: PredictContext) -> list[dict[str, Any]]:
            return [{**self._infer(ctx)[0], "windows": len(ctx.states)}]

        def settle(ctx: PredictContext) -> None:
            ctx.results = [{**(ctx.results or [{}])[0], "windows": 0}]

        return run_call(chain, ctx, infer, settle_skipped=settle)[0]

    def close(self) -> None:
        """Nothing to free."""

    def _context(
        self,
        states: list[Any],
        questions: Mapping[str, Any],
        max_len: int | None = None,
        head_max_len: int | None = None,
    ) -> PredictContext:
        return PredictContext(
            states,
            dict(questions),
            model=self.model_id,
            agent=self,
            max_len=max_len,
            head_max_len=head_max_len,
        )

    def _infer(self, ctx: PredictContext) -> list[dict[str, Any]]:
        return [self._answer(state, ctx.questions) for state in ctx.states]
