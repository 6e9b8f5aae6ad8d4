"""A hook that writes down what it saw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs

from ..context import PredictContext
from ..events import HOOK_EVENTS, Event


@attrs.frozen
class Seen:
    """One event as one hook saw it, copied at that moment.

    Args:
        hook: the name of the recorder.
        event: the event.
        run_id, model, error, usage, elapsed_ms: those of the context.
        states, results: copies of the lists of the context, `results` None where the context had none.
    """

    hook: str
    event: Event
    run_id: str
    states: tuple[Any, ...]
    results: tuple[Any, ...] | None
    model: str | None
    error: BaseException | None
    usage: dict[str, int] | None
    elapsed_ms: float | None

    @classmethod
    def of(cls, hook: str, event: Event, ctx: PredictContext) -> Seen:
        """Copy what `ctx` says now."""
        results = None if ctx.results is None else tuple(ctx.results)
        states = tuple(ctx.states)
        return cls(hook, event, ctx.run_id, states, results, ctx.model, ctx.error, ctx.usage, ctx.elapsed_ms)


class Recorder:
    """A hook for some or all events that appends a `Seen` to `trace`, and may then act.

    Args:
        name: how it signs its entries.
        trace: where to; recorders that share a list show their common order.
        events: the events it implements.
        acts: event to callable of the context, called after the entry is written; it may be async.
    """

    def __init__(
        self,
        name: str = "recorder",
        trace: list[Seen] | None = None,
        events: Iterable[Event] = HOOK_EVENTS,
        acts: Mapping[Event, Callable[[PredictContext], object]] | None = None,
    ) -> None:
        self.name = name
        self.trace: list[Seen] = [] if trace is None else trace
        for event in events:
            setattr(self, event, self._recording(event, (acts or {}).get(event)))

    @property
    def events(self) -> list[Event]:
        """The events seen so far, by this recorder and by those that share its trace."""
        return [seen.event for seen in self.trace]

    def _recording(
        self, event: Event, act: Callable[[PredictContext], object] | None
    ) -> Callable[[PredictContext], object]:
        def record(ctx: PredictContext) -> object:
            self.trace.append(Seen.of(self.name, event, ctx))
            return act(ctx) if act is not None else None

        record.__qualname__ = f"{self.name}.{event}"
        return record

    def __repr__(self) -> str:
        return f"Recorder({self.name!r})"


def raising(error: BaseException) -> Callable[[PredictContext], object]:
    """Return an act for a `Recorder` that raises `error`."""

    def act(ctx: PredictContext) -> object:
        raise error

    return act
