"""Hypothesis strategies for hooks and calls."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from ..context import PredictContext
from ..events import HOOK_EVENTS, Event
from .fake_agent import FakeAgent
from .recorder import Recorder, Seen, raising
from .traces import Situation, Step, situations


def events() -> st.SearchStrategy[Event]:
    """One of the six events."""
    return st.sampled_from(HOOK_EVENTS)


def errors(fatal: bool = False) -> st.SearchStrategy[BaseException]:
    """What a hook may raise; with `fatal` also KeyboardInterrupt, SystemExit and CancelledError."""
    ordinary: list[type[BaseException]] = [ValueError, KeyError, RuntimeError, TimeoutError, OSError]
    process_level: list[type[BaseException]] = [KeyboardInterrupt, SystemExit, CancelledError]
    return st.sampled_from(ordinary + process_level if fatal else ordinary).map(lambda kind: kind("injected"))


def hooks(trace: list[Seen] | None = None) -> st.SearchStrategy[Recorder]:
    """Recorders for any non-empty set of events; all write to `trace` if it is given."""
    return st.builds(
        lambda name, chosen: Recorder(f"hook{name}", trace, sorted(chosen, key=HOOK_EVENTS.index)),
        st.integers(0, 9),
        st.sets(events(), min_size=1),
    )


def failing_hooks(trace: list[Seen] | None = None, fatal: bool = False) -> st.SearchStrategy[Recorder]:
    """Recorders that raise in one event."""
    return st.builds(
        lambda event, error: Recorder(f"failing in {event}", trace, acts={event: raising(error)}),
        events(),
        errors(fatal),
    )


def hook_lists(
    trace: list[Seen] | None = None, failing: bool = False, max_size: int = 5
) -> st.SearchStrategy[list[Recorder]]:
    """Lists of hooks, some of which fail if `failing` is set."""
    members = st.one_of(hooks(trace), failing_hooks(trace)) if failing else hooks(trace)
    return st.lists(members, max_size=max_size)


def calls() -> st.SearchStrategy[Situation]:
    """One kind of call of the contract, to run with a hook of one's own."""
    return st.sampled_from(list(situations()))


def event_traces() -> st.SearchStrategy[list[Step]]:
    """The events of one kind of call in order, each with a context as that event finds it.

    The contexts are copies, so a test may hand each to the hook under test on its own.
    """
    return calls().map(trace_of)


def trace_of(situation: Situation) -> list[Step]:
    """Run a situation and return its events with copies of their contexts."""
    steps: list[Step] = []
    observer = type("Observer", (), {event: _observing(event, steps) for event in HOOK_EVENTS})
    situation.run(observer())
    return steps


def _observing(event: Event, steps: list[Step]) -> Callable[[Any, PredictContext], None]:
    def observe(self: Any, ctx: PredictContext) -> None:
        import attrs

        copied = attrs.evolve(ctx, states=list(ctx.states), questions=dict(ctx.questions))
        copied.results = None if ctx.results is None else list(ctx.results)
        steps.append((event, copied))

    return observe


def agents() -> st.SearchStrategy[FakeAgent]:
    """Fake agents without hooks."""
    return st.builds(FakeAgent, st.sampled_from(["english", "multilingual"]))
