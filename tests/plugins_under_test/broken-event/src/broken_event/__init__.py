"""A module for an event that does not exist, beside one that does."""

from __future__ import annotations

from laya_hooks import PredictContext, hookimpl


@hookimpl
def on_predict_start(ctx: PredictContext) -> None:
    raise AssertionError("never called")


@hookimpl
def on_predict_finish(ctx: PredictContext) -> None:
    raise AssertionError("never called")
