"""Results go to an async client, from sync and async callers alike: `python docs/examples/hooks/async_ship.py`."""

from __future__ import annotations

import asyncio
from typing import Any

import laya
from laya import AsyncHook, PredictContext

QUESTIONS = {"urgent": {"type": "noul", "instructions": "Does this need an answer today?"}}


class Collector:
    """Stands for an async client of a queue or a database."""

    def __init__(self) -> None:
        self.received: list[tuple[str, Any]] = []

    async def send(self, run_id: str, results: Any) -> None:
        await asyncio.sleep(0)
        self.received.append((run_id, results))


class Ship:
    """Sends what was decided; the call returns when it has been sent."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    async def on_predict_end(self, ctx: PredictContext) -> None:
        if ctx.error is None:
            await self._collector.send(ctx.run_id, ctx.results)


async def from_async_code(agent: Any) -> None:
    # The agent is synchronous: a thread keeps this loop free. Called directly, the hook would run all the same,
    # on a background loop of the library.
    await asyncio.gather(*(asyncio.to_thread(agent.predict, f"Ticket {number}", QUESTIONS) for number in range(3)))


def main() -> None:
    collector = Collector()
    agent = laya.load("mini", hooks=AsyncHook(Ship(collector)))
    agent.predict("Our checkout is down", QUESTIONS)
    print(f"after a call from sync code: {len(collector.received)} shipped")
    asyncio.run(from_async_code(agent))
    print(f"after three from async code: {len(collector.received)} shipped")


if __name__ == "__main__":
    main()
