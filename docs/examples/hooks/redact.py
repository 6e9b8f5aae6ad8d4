"""Personal data is masked before the model reads it: `python docs/examples/hooks/redact.py`."""

from __future__ import annotations

import re
from typing import Any, Final

import laya
from laya import PredictContext

QUESTIONS = {"refund": {"type": "noul", "instructions": "Does the customer want money back?"}}
MASKS: Final = {
    "[address]": re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"),
    "[card]": re.compile(r"\b(?:\d[ -]?){13,16}\b"),
    "[phone]": re.compile(r"\+\d[\d /-]{6,}\d"),
}


class Redact:
    """Masks addresses, card and phone numbers, in texts and inside JSON values."""

    def on_predict_start(self, ctx: PredictContext) -> None:
        # A new list of new values: the caller keeps what it passed, and so do other requests that share it.
        ctx.states = [masked(state) for state in ctx.states]


def masked(value: Any) -> Any:
    match value:
        case str():
            for mask, pattern in MASKS.items():
                value = pattern.sub(mask, value)
            return value
        case dict():
            return {key: masked(item) for key, item in value.items()}
        case list() | tuple():
            return [masked(item) for item in value]
        case _:
            return value


def main() -> None:
    ticket = {
        "from": "ann@example.org",
        "body": ["Please refund 4111 1111 1111 1111", "or call +49 30 1234567"],
        "priority": 2,
    }
    agent = laya.load("mini", hooks=Redact())
    agent.predict(ticket, QUESTIONS, on_predict_end=lambda ctx: print("the model read ", ctx.states[0]))
    print("the caller keeps", ticket)


if __name__ == "__main__":
    main()
