"""Calls of TypeSafe's official client against a server; runs in the client's own environment and prints JSON.

python sdk_calls.py URL KEY
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from typesafe_sdk import (  # type: ignore[import-not-found]
    AsyncTypeSafeClient,
    Choice,
    Noul,
    RetryPolicy,
    Score,
    TypeSafeAPIError,
    TypeSafeClient,
)

STATE = {"subject": "Charged twice", "body": "I was charged twice this month, I want my money back 😡"}
QUESTIONS = {
    "refund": Noul(instructions="Is a refund asked for?"),
    "statement": Noul(criteria={"true": "it is about money"}),
    "queue": Choice(instructions="Which team?", criteria={"billing": "refunds", "technical": None, "다른": None}),
    "country": Choice(instructions="Which country?", criteria={f"country {number}": None for number in range(40)}),
    "urgency": Score(instructions={"ask": "How urgent?"}, criteria=["calm", {"de": "dringend"}, "furious"]),
}
MISTAKES: dict[str, dict[str, Any]] = {
    "one level is null": {"questions": {"q": {"type": "score", "instructions": "?", "criteria": ["a", None]}}},
    "unknown type": {"questions": {"q": {"type": "boolean", "instructions": "?"}}},
    "unknown model": {"model": "no-such-model"},
    "too many options": {
        "questions": {"q": {"type": "choice", "instructions": "?", "criteria": {f"o{n}": None for n in range(300)}}}
    },
}
ONCE = RetryPolicy(max_retries=0)


def answers_of(response: Any) -> dict[str, Any]:
    return {
        "model": response.model,
        "usage": [response.usage.input_tokens, response.usage.output_tokens],
        "nouls": {qid: answer.noul for qid, answer in response.nouls.items()},
        "choices": {
            qid: [answer.choice, answer.probabilities, answer.confidence] for qid, answer in response.choices.items()
        },
        "scores": {
            qid: [answer.score, answer.probabilities, answer.confidence, answer.legend]
            for qid, answer in response.scores.items()
        },
    }


def error_of(error: TypeSafeAPIError) -> list[Any]:
    return [type(error).__name__, error.status, error.body, error.request_id]


def synchronous(url: str, key: str) -> dict[str, Any]:
    with TypeSafeClient(base_url=url, api_key=key, retry=ONCE) as client:
        errors = {}
        for name, body in MISTAKES.items():
            try:
                client.system_one(STATE, {"q": QUESTIONS["refund"]}, extra_body=body)
            except TypeSafeAPIError as error:
                errors[name] = error_of(error)
        return {
            "answers": answers_of(client.system_one(STATE, QUESTIONS)),
            "models": [model.name for model in client.models.list().models],
            "errors": errors,
        }


async def asynchronous(url: str, key: str) -> dict[str, Any]:
    async with AsyncTypeSafeClient(base_url=url, api_key=key, retry=ONCE) as client:
        together = await asyncio.gather(*(client.system_one(STATE, QUESTIONS) for _ in range(4)))
        models = await client.models.list()
        return {"answers": [answers_of(response) for response in together], "models": [m.name for m in models.models]}


def with_a_wrong_key(url: str) -> list[Any]:
    try:
        with TypeSafeClient(base_url=url, api_key="wrong", retry=ONCE) as client:
            client.system_one(STATE, QUESTIONS)
    except TypeSafeAPIError as error:
        return error_of(error)
    return []


if __name__ == "__main__":
    url, key = sys.argv[1:]
    print(
        json.dumps(
            {
                "sync": synchronous(url, key),
                "async": asyncio.run(asynchronous(url, key)),
                "wrong key": with_a_wrong_key(url),
            }
        )
    )
