"""A marked function that calls the context by a name the specification does not know."""

from __future__ import annotations

from laya_hooks import PredictContext, hookimpl


@hookimpl
def on_predict_end(context: PredictContext) -> None:
    raise AssertionError("never called")
