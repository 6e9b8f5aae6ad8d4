"""Hooks that write down their calls."""

from __future__ import annotations

from typing import Any

from laya.hooks import HOOK_EVENTS


def recorder(trace: list[Any], name: str, *events: str) -> Any:
    """A hook that appends (name, event, context) to `trace` at `events`, or at all six."""

    class Recorder:
        pass

    hook = Recorder()
    for event in events or HOOK_EVENTS:
        setattr(hook, event, lambda ctx, event=event: trace.append((name, event, ctx)))
    return hook


def order(trace: list[Any]) -> list[str]:
    """What happened, as "name event"."""
    return [f"{name} {event}" for name, event, _ in trace]


def was_scored(ctx: Any) -> bool:
    """Whether a forward pass ran in the call of `ctx`."""
    return "inference" in ctx.timings
