"""How long the stages of a call took, for its hooks and for whoever opened its scope."""

from __future__ import annotations

from laya_hooks import PredictContext, current_scope


def record_timings(context: PredictContext, **seconds: float) -> None:
    """Add stages to the timings of the call and of its scope, in milliseconds."""
    scope = current_scope()
    for stage, duration in seconds.items():
        milliseconds = duration * 1000.0
        context.timings[stage] = context.timings.get(stage, 0.0) + milliseconds
        if scope is not None:
            scope.timings[stage] = scope.timings.get(stage, 0.0) + milliseconds
