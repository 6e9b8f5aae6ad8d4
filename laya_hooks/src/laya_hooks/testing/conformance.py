"""A conformance run for one hook: every situation of the contract, and what it must leave in order."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Iterable
from typing import Any, Final

import attrs

from ..context import PredictContext
from ..dispatch import call_inline
from ..events import Event
from ..normalise import require_hook, validate_timeout
from .plugging import plugged
from .traces import ExpectedFailure, Situation, situations

THREADS: Final = 8


@attrs.frozen
class HookReport:
    """What a conformance run found in order.

    Args:
        hook: the name of the hook.
        events: the events it implements.
        situations: what it went through.
    """

    hook: str
    events: tuple[Event, ...]
    situations: tuple[str, ...]


def check_hook(
    hook: object,
    *,
    may_raise: type[BaseException] | tuple[type[BaseException], ...] = (),
    timeout: float = 10.0,
) -> HookReport:
    """Run `hook` through every situation of the contract: alone, from many threads, in a loop, under a timeout.

    Args:
        hook: the hook, as it would be passed in `hooks=`.
        may_raise: exceptions it raises by design (a guard that refuses a state, say).
        timeout: seconds any single event may take.

    Raises:
        AssertionError: it is not a hook, or misbehaves; the message lists what happened and where.
        ValueError: `timeout` is not a positive finite number.
    """
    validate_timeout(timeout, "timeout")
    try:
        events = tuple(require_hook(hook))
    except TypeError as error:
        raise AssertionError(str(error)) from error
    name = _name(hook)
    problems = [problem for event in events for problem in _signature_problems(event, getattr(hook, event))]
    _raise_if_any(name, problems)
    watched = _Watched(hook, events, may_raise if isinstance(may_raise, tuple) else (may_raise,))
    ran = []
    with plugged():
        for situation in [*situations(), *_ways_of_running(list(situations()), timeout)]:
            watched.run(situation)
            ran.append(situation.description)
    _raise_if_any(name, watched.problems)
    return HookReport(name, events, tuple(ran))


class _Watched:
    """Passes the events on to the hook, and looks at what it raises and at what it leaves behind."""

    def __init__(
        self,
        hook: object,
        events: Iterable[Event],
        may_raise: tuple[type[BaseException], ...],
    ) -> None:
        self.problems: list[str] = []
        self._hook = hook
        self._may_raise = may_raise
        self._expected: tuple[type[BaseException], ...] = (ExpectedFailure, _HookFailed, *may_raise)
        self._situation = ""
        for event in events:
            setattr(self, event, self._watching(event))

    def run(self, situation: Situation) -> None:
        """Run one situation with the hook; its own failures are noted, not raised."""
        self._situation = situation.description
        try:
            situation.run(self)
        except self._expected:
            pass
        except Exception as error:
            self._note(f"{situation.description} failed: {type(error).__name__}: {error}")

    def _watching(self, event: Event) -> Callable[[PredictContext], None]:
        def call(ctx: PredictContext) -> None:
            before = _Before.of(ctx)
            try:
                call_inline(getattr(self._hook, event), ctx)
            except self._may_raise:
                raise
            except BaseException as error:
                self._note(f"{event} raised {type(error).__name__}: {error} ({_filled(ctx)})")
                raise _HookFailed from error
            for problem in before.damage(event, ctx):
                self._note(f"{event} {problem}")

        return call

    def _note(self, problem: str) -> None:
        noted = f"in {self._situation}: {problem}"
        if noted not in self.problems:
            self.problems.append(noted)


class _HookFailed(Exception):
    """Stands for an error that is noted already."""


@attrs.frozen
class _Before:
    """What a hook found and may not change."""

    run_id: str
    error: BaseException | None
    states: int

    @classmethod
    def of(cls, ctx: PredictContext) -> _Before:
        return cls(ctx.run_id, ctx.error, len(ctx.states))

    def damage(self, event: Event, ctx: PredictContext) -> list[str]:
        """Say what the event has left out of order."""
        found = []
        if ctx.run_id != self.run_id:
            found.append("changed ctx.run_id, which ties the events of a call together")
        if ctx.error is not self.error:
            found.append("changed ctx.error, which is the runtime's to set")
        if not isinstance(ctx.states, list) or not isinstance(ctx.questions, dict):
            found.append("left ctx.states that is no list, or ctx.questions that is no dict")
        elif ctx.results is not None and not isinstance(ctx.results, list):
            found.append(f"left ctx.results that is no list but a {type(ctx.results).__name__}")
        elif ctx.results is not None and len(ctx.results) not in (len(ctx.states), 1):
            found.append(f"left {len(ctx.results)} results for {len(ctx.states)} states")
        if event == "on_route" and not (isinstance(ctx.decision, dict) and ctx.decision.get("model")):
            found.append("left ctx.decision without a model")
        return found


def _ways_of_running(all_situations: list[Situation], timeout: float) -> list[Situation]:
    def everything(hook: object) -> None:
        for situation in all_situations:
            situation.run(hook)

    def under_a_timeout(hook: object) -> None:
        from .fake_agent import FakeAgent

        FakeAgent(hooks=[hook], hooks_timeout=timeout).predict("a state", {})

    def in_a_running_loop(hook: object) -> None:
        async def main() -> None:
            everything(hook)

        asyncio.run(main())

    def from_many_threads(hook: object) -> None:
        failures: list[BaseException] = []

        def run() -> None:
            try:
                everything(hook)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=run) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    return [
        Situation(f"a call with hooks_timeout={timeout:g}", under_a_timeout),
        Situation("calls from inside a running event loop", in_a_running_loop),
        Situation(f"calls from {THREADS} threads at once", from_many_threads),
    ]


def _signature_problems(event: Event, method: Any) -> list[str]:
    try:
        signature = inspect.signature(method)
    except ValueError:  # a builtin without one
        return []
    try:
        signature.bind(object())
    except TypeError:
        return [f"{event}{signature} does not take the context as its one positional argument"]
    return []


def _filled(ctx: PredictContext) -> str:
    """Say which fields of a context the hook had to do without."""
    empty = [
        name
        for name in ("results", "decision", "model", "agent", "router", "usage", "error")
        if getattr(ctx, name) is None
    ]
    return f"ctx.{', ctx.'.join(empty)} are None there" if empty else "every field is filled there"


def _raise_if_any(name: str, problems: list[str]) -> None:
    if problems:
        raise AssertionError(
            f"{name} does not keep the hook contract:\n" + "\n".join(f"  - {problem}" for problem in problems)
        )


def _name(hook: object) -> str:
    return getattr(hook, "__name__", None) or type(hook).__name__
