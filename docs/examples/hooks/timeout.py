"""A hook that hangs cannot hold a call up: `python docs/examples/hooks/timeout.py`."""

from __future__ import annotations

import threading
import warnings

import laya
from laya import PredictContext

QUESTIONS = {"refund": {"type": "noul", "instructions": "Does the customer want money back?"}}


class Hanging:
    """Stands for a hook that waits for a service that never answers."""

    def __init__(self) -> None:
        self.answered = threading.Event()

    def on_predict_end(self, ctx: PredictContext) -> None:
        self.answered.wait()


def main() -> None:
    hanging = Hanging()
    agent = laya.load("mini", hooks=hanging, hooks_timeout=0.2)
    try:
        agent.predict("I want my money back", QUESTIONS)
    except TimeoutError as error:
        print("raised:", error)

    # Where an answer matters more than the hook, its error becomes a warning.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = agent.predict("I want my money back", QUESTIONS, hooks_raise=False)
    print("warned:", caught[0].message)
    print("answered:", "refund" in result["answers"])
    hanging.answered.set()  # lets the threads that were left behind end


if __name__ == "__main__":
    main()
