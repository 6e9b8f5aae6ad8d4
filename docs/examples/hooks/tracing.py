"""A span around every call, nested by contextvars: `python docs/examples/hooks/tracing.py`."""

from __future__ import annotations

from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import ClassVar

import laya
from laya import PredictContext

QUESTIONS = {"urgent": {"type": "noul", "instructions": "Does this need an answer today?"}}


@dataclass
class Span:
    name: str
    parent: Span | None
    milliseconds: float | None = None
    token: Token[Span | None] | None = field(default=None, repr=False)

    current: ClassVar[ContextVar[Span | None]] = ContextVar("span", default=None)

    @property
    def path(self) -> str:
        return f"{self.parent.path} > {self.name}" if self.parent else self.name


class Tracer:
    """Opens a span in the start event and closes it in the end event of the same call.

    Without `hooks_timeout` both run in the caller's context, so what the model and inner calls do sees the span. The
    calls of a batch end in reverse order, so that every reset finds what it set.
    """

    def on_predict_start(self, ctx: PredictContext) -> None:
        ctx.span = Span("router" if ctx.router else "agent", Span.current.get())
        ctx.span.token = Span.current.set(ctx.span)

    def on_predict_end(self, ctx: PredictContext) -> None:
        Span.current.reset(ctx.span.token)
        ctx.span.milliseconds = ctx.elapsed_ms
        stages = ", ".join(f"{stage} {duration:.1f} ms" for stage, duration in ctx.timings.items())
        print(f"{ctx.span.path}: {ctx.span.milliseconds:.1f} ms ({stages or 'no stages'})")


def main() -> None:
    tracer = Tracer()
    router = laya.Router(models={"support": "mini"}, default="support", hooks=tracer)
    router.load("support").add_hook(tracer)
    request = Span("request", None)
    Span.current.set(request)
    router.predict("Our checkout is down", QUESTIONS)
    print("afterwards in:", Span.current.get().path)


if __name__ == "__main__":
    main()
