"""The recorded calls again, from many threads at once through the batching engine: the same answers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from laya_core import Agent

from .test_recorded_answers import CASES, ERRORS, HERE, NAMES, arguments, differences

CHECKPOINTS = sorted({case["checkpoint"] for case in CASES})
CONFIGS: dict[str, dict[str, Any]] = {
    "fifo": {},
    "shortest": {"scheduler_type": "shortest", "max_batch_tokens": 1024, "use_async_batching": True},
}


def outcome(agent: Agent, case: dict[str, Any]) -> Iterator[str]:
    """What is wrong with the answer of `agent`."""
    call = getattr(agent, case["method"])
    if "error" not in case:
        yield from differences(call(**arguments(case)), case["result"])
        return
    with pytest.raises(ERRORS[case["error"]["type"]]):
        call(**arguments(case))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("checkpoint", CHECKPOINTS)
def test_answers_in_shared_passes_are_as_the_reference_gave_them(checkpoint: str, config: str) -> None:
    mine = [(name, case) for name, case in zip(NAMES, CASES, strict=True) if case["checkpoint"] == checkpoint]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        agent = Agent(
            HERE / "checkpoints" / checkpoint, device="cpu", precision="float32", continuous_batching=CONFIGS[config]
        )
    with agent, ThreadPoolExecutor(8) as threads:
        wrong = {
            name: found
            for (name, _), found in zip(
                mine, threads.map(lambda each: list(outcome(agent, each[1])), mine), strict=True
            )
            if found
        }
        stats = agent.init_continuous_batching().stats()
    assert wrong == {}
    answered = sum("error" not in case for _, case in mine)
    assert stats.finished + stats.failed >= 0.8 * answered  # the others ask nothing
