"""Short states for cheap traffic: a hook sets the token budget: `python docs/examples/hooks/budget.py`."""

from __future__ import annotations

import laya
from laya import PredictContext

QUESTIONS = {"refund": {"type": "noul", "instructions": "Does the customer want money back?"}}
LETTER = "I have written to you before about my order. " * 40


class Budget:
    """Caps the tokens of a row for one kind of traffic; the head keeps its own budget.

    Args:
        max_len: tokens of a row: question, options and state together.
        kind: the value of a JSON state's "kind" that it applies to.
    """

    def __init__(self, max_len: int, kind: str) -> None:
        self._max_len = max_len
        self._kind = kind

    def on_predict_start(self, ctx: PredictContext) -> None:
        if all(isinstance(state, dict) and state.get("kind") == self._kind for state in ctx.states):
            ctx.max_len = min(self._max_len, ctx.max_len or self._max_len)


def main() -> None:
    agent = laya.load("mini", hooks=Budget(128, kind="bulk"))
    for kind in ("support", "bulk"):
        usage = agent.predict({"kind": kind, "text": LETTER}, QUESTIONS)["usage"]
        print(f"{kind}: {usage['input_tokens']} tokens read, {usage['state_tokens_dropped']} of the state dropped")


if __name__ == "__main__":
    main()
