"""Prints the start and the end of every call."""

from __future__ import annotations

from laya_hooks import PredictContext


class Echo:
    def on_predict_start(self, ctx: PredictContext) -> None:
        print("echo start", ctx.states)

    def on_predict_end(self, ctx: PredictContext) -> None:
        print("echo end", ctx.states, [sorted(result) for result in ctx.results or []])
