"""A hook for one block, and one for a single call: `python docs/examples/hooks/scoped.py`."""

from __future__ import annotations

import laya
from laya import PredictContext

QUESTIONS = {"refund": {"type": "noul", "instructions": "Does the customer want money back?"}}


class Slowest:
    """Remembers the slowest call it has seen."""

    def __init__(self) -> None:
        self.calls = 0
        self.state: object = None
        self.milliseconds = 0.0

    def on_predict_end(self, ctx: PredictContext) -> None:
        self.calls += 1
        if (ctx.elapsed_ms or 0.0) > self.milliseconds:
            self.state, self.milliseconds = ctx.states[0], ctx.elapsed_ms or 0.0


def main() -> None:
    agent = laya.load("mini")
    slowest = Slowest()
    agent.predict("seen by nobody", QUESTIONS)
    with agent.hooks_installed(slowest):
        for state in ("I want my money back", "Where is my parcel?"):
            agent.predict(state, QUESTIONS)
    agent.predict("seen by nobody either", QUESTIONS)
    print(f"in the block: {slowest.calls} calls, the slowest was about {slowest.state!r}")

    one_call = Slowest()
    agent.predict("Please cancel my order", QUESTIONS, hooks=one_call)
    print(f"per call: {one_call.calls} call, about {one_call.state!r}")
    print(f"installed now: {agent.hooks}")


if __name__ == "__main__":
    main()
