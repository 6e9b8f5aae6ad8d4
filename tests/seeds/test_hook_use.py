"""The blocks that show how hooks are used do what the text beside them says."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

import laya
import laya.hooks

from .blocks import block, run
from .recording import order, recorder

pytestmark = pytest.mark.filterwarnings("ignore:.*temperature_by_options")


def test_base_hook_is_inherited_and_one_event_overridden(
    checkpoint: Path, agent: Any, questions: dict[str, Any]
) -> None:
    shipped: list[Any] = []
    names: dict[str, Any] = {"ship": lambda *what: shipped.append(what)}
    run(block("base_hook"), checkpoint, names)
    contexts: list[Any] = []
    result = agent.predict("Hello", questions, hooks=names["Audit"](), on_predict_start=contexts.append)
    assert shipped == [(contexts[0].run_id, [result])]


def test_hooks_are_added_removed_and_scoped(checkpoint: Path, agent: Any, questions: dict[str, Any]) -> None:
    trace: list[Any] = []
    names = {
        "agent": agent,
        "tracer": recorder(trace, "tracer"),
        "debug": recorder(trace, "debug"),
        "state": "Hello",
        "questions": questions,
    }
    run(block("registry"), checkpoint, names)
    assert order(trace) == ["debug on_predict_start", "debug on_predict_end"]
    assert agent.hooks == []
    assert agent.add_hook(names["tracer"]) is agent
    assert agent.remove_hook(recorder([], "another")) is False
    assert agent.remove_hook(names["tracer"]) is True
    assert agent.add_hook([names["tracer"], names["debug"]]).hooks == [names["tracer"], names["debug"]]


def test_a_block_that_raises_restores_the_list_too(agent: Any) -> None:
    kept, scoped = recorder([], "kept"), recorder([], "scoped")
    agent.add_hook(kept)
    installed: list[Any] = []

    def look_and_fail() -> None:
        with agent.hooks_installed(scoped, [scoped]):
            installed.extend(agent.hooks)
            raise LookupError

    with pytest.raises(LookupError):
        look_and_fail()
    assert installed == [kept, scoped, scoped]
    assert agent.hooks == [kept]


def test_bare_callables_are_refused_as_hooks(agent: Any, questions: dict[str, Any]) -> None:
    for refuse in (agent.add_hook, lambda hook: agent.predict("Hello", questions, hooks=hook)):
        with pytest.raises(TypeError, match="on_predict_start="):
            refuse(print)


def test_defaults_are_set_added_cleared_and_listed(checkpoint: Path, agent: Any) -> None:
    installed = recorder([], "installed")
    agent.add_hook(installed)
    names = {name: type(name, (laya.BaseHook,), {}) for name in ("Tracer", "Metrics")}
    *lines, last = block("defaults").splitlines(keepends=True)
    seen = []
    names["agent"] = agent
    for line in lines:
        run(line, checkpoint, names) if line.strip() else None
        seen.append([type(hook).__name__ for hook in laya.hooks.default_hooks()])
    assert seen[2:5] == [["Tracer"], ["Tracer", "Metrics"], []]
    laya.hooks.add_default_hook(default := names["Metrics"]())
    assert run(last, checkpoint, names) == [default, installed]
    laya.hooks.default_hooks().clear()
    assert laya.hooks.default_hooks() == [default]


def test_defaults_set_after_an_agent_was_made_run_first(agent: Any, questions: dict[str, Any]) -> None:
    trace: list[Any] = []
    agent.add_hook(recorder(trace, "installed", "on_predict_start"))
    laya.hooks.add_default_hook(recorder(trace, "default", "on_predict_start"))
    agent.predict("Hello", questions, hooks=recorder(trace, "per-call", "on_predict_start"))
    assert order(trace) == [f"{hook} on_predict_start" for hook in ("default", "installed", "per-call")]
    trace.clear()
    laya.hooks.clear_default_hooks()
    agent.predict("Hello", questions)
    assert order(trace) == ["installed on_predict_start"]


def test_an_async_hook_is_complete_when_the_call_returns(checkpoint: Path, questions: dict[str, Any]) -> None:
    shipped: list[tuple[Any, str]] = []

    async def ship(results: Any) -> None:
        await asyncio.sleep(0)
        shipped.append((results, threading.current_thread().name))

    names: dict[str, Any] = {"laya": laya, "ship": ship}
    run(block("async_hook"), checkpoint, names)
    result = names["agent"].predict("Hello", questions)
    assert shipped == [([result], threading.current_thread().name)]

    async def inside_a_loop() -> Any:
        return names["agent"].predict("Hello", questions)

    assert asyncio.run(inside_a_loop()) == result
    assert shipped[1][0] == [result]
    assert shipped[1][1] != threading.current_thread().name


def test_plain_async_callables_work_too(agent: Any, questions: dict[str, Any]) -> None:
    seen: list[str] = []

    async def start(ctx: laya.PredictContext) -> None:
        await asyncio.sleep(0)
        seen.append(ctx.states[0])

    agent.predict("Hello", questions, on_predict_start=start)
    assert seen == ["Hello"]


def test_an_async_hook_refuses_a_stopped_loop_and_the_callers_own(agent: Any, questions: dict[str, Any]) -> None:
    class Remote:
        async def on_predict_start(self, ctx: laya.PredictContext) -> None:
            raise AssertionError("never runs")

    stopped = asyncio.new_event_loop()
    with pytest.raises(ValueError, match="not running"):
        agent.predict("Hello", questions, hooks=laya.AsyncHook(Remote(), loop=stopped))
    stopped.close()

    async def on_own_loop() -> None:
        agent.predict("Hello", questions, hooks=laya.AsyncHook(Remote(), loop=asyncio.get_running_loop()))

    with pytest.raises(ValueError, match="loop"):
        asyncio.run(on_own_loop())


def test_dispatch_calls_the_callables_in_their_order(checkpoint: Path) -> None:
    called: list[Any] = []
    names: dict[str, Any] = {name: lambda ctx, name=name: called.append((name, ctx)) for name in ("log", "redact")}
    run(block("dispatch"), checkpoint, names)
    assert called == [("log", names["ctx"]), ("redact", names["ctx"])]
    assert len(names["hooks"]) == 2


def test_usage_is_summed_over_results() -> None:
    results = [{"usage": {"input_tokens": 5, "output_tokens": 0}}, {"usage": {"input_tokens": 7, "output_tokens": 1}}]
    assert laya.hooks.aggregate_usage(results) == {"input_tokens": 12, "output_tokens": 1}
