"""Every cache we show, here and in the documentation, serves what it may and nothing else."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import laya

from .blocks import block, definitions, run
from .recording import was_scored

pytestmark = pytest.mark.filterwarnings("ignore:.*temperature_by_options")

ROOT = Path(__file__).parents[2]
PAGES = sorted(page for page in (ROOT / "docs").rglob("*.md") if "def cache_read(" in page.read_text(encoding="utf-8"))
Cached: TypeAlias = Callable[..., Any]


def _of_page(page: Path) -> str:
    fences = re.findall(r"^```python.*?\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return next(fence for fence in fences if "def cache_read(" in fence)


SOURCES = {
    "the API reference": block("cache"),
    "docs/examples/hooks/cache.py": (ROOT / "docs/examples/hooks/cache.py").read_text(encoding="utf-8"),
    **{str(page.relative_to(ROOT)): _of_page(page) for page in PAGES},
}


@pytest.fixture(params=SOURCES)
def cache(request: pytest.FixtureRequest, checkpoint: Path) -> dict[str, Any]:
    """The namespace of one of them, its functions unused so far."""
    names = {"laya": laya, "json": json, "hashlib": hashlib, "__name__": "cache"}
    run(definitions(SOURCES[request.param]), checkpoint, names)
    return names


@pytest.fixture
def ask(cache: dict[str, Any], agent: Any) -> Callable[..., tuple[Any, bool]]:
    """Ask the agent with the cache in place: the results, and whether the model had to read anything."""

    def ask(*arguments: Any, agent: Any = agent, **options: Any) -> tuple[Any, bool]:
        seen: list[laya.PredictContext] = []
        results = agent.predict_batch(
            *arguments,
            on_predict_start=cache["cache_read"],
            on_predict_end=[cache["cache_write"], seen.append],
            **options,
        )
        return results, was_scored(seen[0])

    return ask


def test_the_block_runs_as_it_stands(checkpoint: Path, questions: dict[str, Any]) -> None:
    names: dict[str, Any] = {"laya": laya, "json": json, "hashlib": hashlib}
    agent = run(block("cache"), checkpoint, names)
    seen: list[laya.PredictContext] = []
    first, second = (agent.predict("Hello", questions, on_predict_end=seen.append) for _ in range(2))
    assert first == second
    assert [was_scored(ctx) for ctx in seen] == [True, False]
    assert len(names["CACHE"]) == 1


def test_a_second_call_is_served_without_the_model(ask: Cached, questions: dict[str, Any]) -> None:
    first, scored = ask(["Hello", "Goodbye"], questions)
    assert scored
    assert ask(["Hello", "Goodbye"], questions) == (first, False)
    assert ask(["Goodbye"], questions) == (first[1:], False)


def test_a_batch_with_a_new_state_is_scored(ask: Cached, questions: dict[str, Any]) -> None:
    ask(["Hello"], questions)
    results, scored = ask(["Hello", "new"], questions)
    assert scored
    assert len(results) == 2


def test_the_order_of_the_criteria_makes_another_question(ask: Cached, questions: dict[str, Any]) -> None:
    ask(["Hello"], questions)
    criteria = dict(reversed(questions["team"]["criteria"].items()))
    assert ask(["Hello"], {"team": {**questions["team"], "criteria": criteria}})[1]


@pytest.mark.parametrize("budget", [{"max_len": 300}, {"head_max_len": 100}])
def test_token_budgets_are_part_of_the_key(ask: Cached, questions: dict[str, Any], budget: dict[str, int]) -> None:
    ask(["Hello"], questions)
    assert ask(["Hello"], questions, **budget)[1]
    assert not ask(["Hello"], questions, **budget)[1]


def test_the_checkpoint_is_part_of_the_key(
    ask: Cached, cache: dict[str, Any], questions: dict[str, Any], router: laya.Router
) -> None:
    hooks = {"on_predict_start": cache["cache_read"], "on_predict_end": cache["cache_write"]}
    asked = [router.predict("Hello", questions, model=model, **hooks) for model in ("english", "multilingual")]
    assert asked[0]["answers"] != asked[1]["answers"]
    assert list(cache["CACHE"].values()) == asked


def test_a_router_adds_routing_to_what_a_cache_serves(questions: dict[str, Any], router: laya.Router) -> None:
    def without_routing(ctx: laya.PredictContext) -> None:
        ctx.skip([{"answers": {}, "usage": {"input_tokens": 0, "output_tokens": 0}}])

    def with_routing(ctx: laya.PredictContext) -> None:
        ctx.skip([{"answers": {}, "routing": "kept"}])

    assert router.predict("Hello", questions, on_predict_start=without_routing)["routing"]["model"] == "english"
    assert router.predict("Hello", questions, on_predict_start=with_routing)["routing"] == "kept"


def test_a_cache_serves_no_duplicate_within_one_group_but_the_next_call(
    cache: dict[str, Any], questions: dict[str, Any], router: laya.Router
) -> None:
    served: list[bool] = []
    hooks = {
        "on_predict_start": [cache["cache_read"], lambda ctx: served.append(ctx.results is not None)],
        "on_predict_end": cache["cache_write"],
    }
    requests = [{"state": "Hello", "questions": questions}] * 2
    first = router.predict_batch(requests, **hooks)
    assert served == [False, False]
    assert router.predict_batch(requests, **hooks) == first
    assert served == [False, False, True, True]
