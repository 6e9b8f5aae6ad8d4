from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from laya_hooks import clear_default_hooks, restore_plugin_hooks
from laya_hooks.context import PredictContext
from laya_hooks.events import HOOK_EVENTS
from laya_hooks.lifecycle import run_call
from laya_hooks.registry import HookRegistry
from laya_router import building


class StubAgent(HookRegistry):
    """Answers every state with its own name and records each call; no model behind it."""

    device = "cpu"
    revision = None
    cpu_fallback_count = 0
    last_fallback_reason = None

    def __init__(self, model_id: str = "stub", hooks: object = None) -> None:
        self._init_hooks(hooks)
        self.model_id = model_id
        self.calls: list[tuple[str, Any, Any, dict[str, Any]]] = []
        self.failure: Exception | None = None

    def predict_batch(self, states: list[Any], questions: Any, **controls: Any) -> list[dict[str, Any]]:
        self.calls.append(("predict_batch", list(states), questions, controls))
        return self._answer(list(states), questions)

    def system_one(self, state: Any, questions: Any, **controls: Any) -> dict[str, Any]:
        self.calls.append(("system_one", state, questions, controls))
        return self._answer([state], questions)[0]

    predict = system_one

    def predict_long(self, state: Any, questions: Any, on_predict_start: Any = None, **controls: Any) -> Any:
        self.calls.append(("predict_long", state, questions, controls))
        ctx = PredictContext([state], questions)
        if on_predict_start is not None:
            on_predict_start(ctx)
        self.budgets = (ctx.max_len, ctx.head_max_len)
        return self._answer([state], questions)[0]

    def close(self) -> None:
        raise AssertionError("a router never closes an agent")

    def _answer(self, states: list[Any], questions: Any) -> list[dict[str, Any]]:
        ctx = PredictContext(states, questions, model=self.model_id, agent=self)
        return run_call(self.hook_chain(), ctx, self._infer)

    def _infer(self, ctx: PredictContext) -> list[dict[str, Any]]:
        if self.failure is not None:
            raise self.failure
        return [
            {"model": "stub", "answers": {"by": self.model_id, "state": state}, "usage": {"input_tokens": 1}}
            for state in ctx.states
        ]


class Recorder:
    """A hook with all six events that notes (event, model, state)."""

    def __init__(self, name: str = "", log: list[Any] | None = None) -> None:
        self.name = name
        self.log: list[Any] = [] if log is None else log
        self.contexts: list[PredictContext] = []

    def _note(self, event: str, ctx: PredictContext) -> None:
        self.contexts.append(ctx)
        state = ctx.states[0] if ctx.states else None
        self.log.append((self.name + event, ctx.model, state) if self.name else (event, ctx.model, state))

    @property
    def events(self) -> list[str]:
        return [entry[0] for entry in self.log]


def _event_method(event: str) -> Any:
    def method(self: Recorder, ctx: PredictContext) -> None:
        self._note(event, ctx)

    return method


for _event in HOOK_EVENTS:
    setattr(Recorder, _event, _event_method(_event))


class Builds:
    """Stands in for the runtimes: notes what was built, and makes stub agents."""

    def __init__(self) -> None:
        self.sources: list[Any] = []
        self.options: list[Any] = []
        self.failure: BaseException | None = None

    def __call__(self, source: Any, options: Any) -> StubAgent:
        self.sources.append(source)
        self.options.append(options)
        if self.failure is not None:
            raise self.failure
        return StubAgent(str(source))


@pytest.fixture
def builds(monkeypatch: pytest.MonkeyPatch) -> Builds:
    stand_in = Builds()
    monkeypatch.setattr(building, "load_agent", stand_in)
    return stand_in


@pytest.fixture(autouse=True)
def no_plugin_hooks() -> Iterator[None]:
    clear_default_hooks()
    yield
    clear_default_hooks()
    restore_plugin_hooks()


@pytest.fixture
def stub() -> type[StubAgent]:
    return StubAgent


@pytest.fixture
def recorder() -> type[Recorder]:
    return Recorder


@pytest.fixture
def questions() -> dict[str, Any]:
    return {"refund": {"type": "noul", "instructions": "Is a refund asked for?"}}
