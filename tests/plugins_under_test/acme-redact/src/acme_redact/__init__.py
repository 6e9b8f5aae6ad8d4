"""Masks the digits of every state, after the other start hooks among the plugins, and counts them in the result."""

from __future__ import annotations

import re
from typing import Any

from laya_hooks import PredictContext, hookimpl


@hookimpl(trylast=True)
def on_predict_start(ctx: PredictContext) -> None:
    masked = [re.subn(r"\d", "#", str(state)) for state in ctx.states]
    ctx.states = [text for text, _ in masked]
    ctx.digits_masked = [count for _, count in masked]


@hookimpl
def on_predict_end(ctx: PredictContext) -> None:
    ctx.results = [
        {**result, "digits_masked": count} for result, count in zip(ctx.results or [], ctx.digits_masked, strict=True)
    ]


@hookimpl
def laya_commands(cli: Any) -> None:
    import click

    @cli.command()
    @click.argument("text")
    def redact(text: str) -> None:
        """Mask the digits of TEXT."""
        click.echo(re.sub(r"\d", "#", text))
