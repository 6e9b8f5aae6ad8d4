"""The events of whole calls as a runtime delivers them, with the context filled as each event finds it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import attrs

from ..context import PredictContext
from ..events import Event
from .fake_agent import FakeAgent, made_up_answer
from .fake_router import FakeRouter

Step: TypeAlias = tuple[Event, PredictContext]

QUESTIONS: dict[str, Any] = {"urgent": {"type": "noul", "instructions": "Is it urgent?"}}


@attrs.frozen
class Situation:
    """One way a hook may be called.

    Args:
        description: for a message, after "in".
        run: makes the calls with the given hook installed.
    """

    description: str
    run: Callable[[object], object]


def situations() -> Iterator[Situation]:
    """Yield every kind of call of the hook contract, each as a function of the hook to install."""
    yield Situation("a call with one state", _agent_call(["a state"]))
    yield Situation("a call with several states", _agent_call(["a", {"b": 1}, ["c", "d"]]))
    yield Situation("a call without states", _agent_call([]))
    yield Situation("a call without questions", _agent_call(["a state"], {}))
    yield Situation("a call whose inference fails", _expected_failure(_agent_call([None])))
    yield Situation("a call another hook answers", _agent_call(["a state"], on_predict_start=_skip))
    yield Situation("a call another hook aborts", _expected_failure(_agent_call(["a"], on_predict_start=_refuse)))
    yield Situation("a long document", _long_document)
    yield Situation("a router's call", _router_call)
    yield Situation("a router's call whose inference fails", _expected_failure(_failing_router_call))
    yield Situation("a router's batch", _router_batch)
    yield Situation("a router's batch that fails", _expected_failure(_failing_router_batch))
    yield Situation("loading and freeing checkpoints", _loads_and_evictions)


class ExpectedFailure(Exception):
    """What a situation makes a call fail with."""


def _agent_call(
    states: list[Any], questions: dict[str, Any] | None = None, **arguments: Any
) -> Callable[[object], object]:
    asked = QUESTIONS if questions is None else questions
    return lambda hook: FakeAgent(answer=_answer, hooks=[hook]).predict_batch(states, asked, **arguments)


def _answer(state: Any, questions: Any) -> dict[str, Any]:
    if state is None:
        raise ExpectedFailure("the inference fails")
    return made_up_answer(state, questions)


def _expected_failure(run: Callable[[object], object]) -> Callable[[object], object]:
    def run_and_fail(hook: object) -> None:
        try:
            run(hook)
        except ExpectedFailure:
            return

    return run_and_fail


def _skip(ctx: PredictContext) -> None:
    ctx.skip([made_up_answer(state, ctx.questions) for state in ctx.states])


def _refuse(ctx: PredictContext) -> None:
    raise ExpectedFailure("another start hook aborts")


def _long_document(hook: object) -> None:
    FakeAgent(hooks=[hook]).predict_long("a longer document", QUESTIONS, window=8)


def _router(hook: object, **arguments: Any) -> FakeRouter:
    return FakeRouter(lambda name: FakeAgent(name, answer=_answer), hooks=[hook], **arguments)


def _router_call(hook: object) -> None:
    _router(hook).predict("a state", QUESTIONS)


def _failing_router_call(hook: object) -> None:
    _router(hook).predict(None, QUESTIONS)


def _router_batch(hook: object) -> None:
    requests = [{"state": state, "questions": QUESTIONS} for state in ("a", "b", {"c": 1})]
    _router(hook).predict_batch([*requests, {"state": "d", "questions": {}, "model": "multilingual"}])


def _failing_router_batch(hook: object) -> None:
    _router(hook).predict_batch([{"state": state, "questions": QUESTIONS} for state in ("a", None)])


def _loads_and_evictions(hook: object) -> None:
    router = _router(hook, max_loaded=1)
    router.preload()
    router.unload()
