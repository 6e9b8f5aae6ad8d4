"""Every name and signature the API reference writes down is there, in that order and with those defaults."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import laya
import laya.hooks

from .blocks import block, run, signatures


def _stated() -> list[tuple[Any, str, inspect.Signature]]:
    """(owner, name, signature) of everything the reference writes down."""
    of_module = {("agent_signatures", "Agent"), ("agent_signatures", "load"), ("router_signatures", "Router")}
    owners = {"agent_signatures": laya.Agent, "router_signatures": laya.Router, "helper_signatures": laya.hooks}
    return [
        (laya if (page, name) in of_module else owner, name, signature)
        for page, owner in owners.items()
        for name, signature in signatures(page)
    ]


STATED = _stated()


def test_the_imports_of_the_reference_work(checkpoint: Path) -> None:
    names: dict[str, Any] = {}
    run(block("imports"), checkpoint, names)
    assert names["PredictContext"] is laya.hooks.PredictContext
    assert names["HOOK_EVENTS"] == (
        "on_predict_start",
        "on_predict_end",
        "on_route",
        "on_load",
        "on_evict",
        "on_error",
    )


@pytest.mark.parametrize(("owner", "name", "written"), STATED, ids=[f"{o.__name__}.{n}" for o, n, _ in STATED])
def test_a_signature_is_the_one_of_the_reference(owner: Any, name: str, written: inspect.Signature) -> None:
    actual = inspect.signature(getattr(owner, name)).parameters
    for parameter in written.parameters.values():
        assert actual[parameter.name].default == parameter.default, parameter.name
    positions, stated = _positional(actual), _positional(written.parameters)
    start = positions.index(stated[0])
    assert positions[start : start + len(stated)] == stated
    # The reference leaves the first parameters of `load` out: they are those of `Agent`.
    assert positions[:start] in ([], ["self"]) or owner is laya


def test_every_signature_of_the_reference_was_read() -> None:
    assert [name for _, name, _ in STATED] == [
        *["Agent", "load", "predict_batch", "system_one", "predict_long"],
        *["Router", "route", "predict", "predict_batch", "load", "preload", "unload", "attach"],
        *["normalise_hooks", "dispatch", "aggregate_usage", "dispatch", "run_coroutine_sync"],
    ]


def test_predict_and_system_one_are_the_same() -> None:
    assert laya.Agent.predict is laya.Agent.system_one
    assert laya.Router.system_one is laya.Router.predict
    assert isinstance(laya.Router.loaded, property)


def _positional(parameters: Mapping[str, inspect.Parameter]) -> list[str]:
    return [name for name, parameter in parameters.items() if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]


@pytest.mark.skipif(not hasattr(laya, "ONNXAgent"), reason="the ONNX runtime is not part of this version")
def test_onnx_agents_have_the_signatures_of_the_reference() -> None:
    for name, written in signatures("onnx_signatures"):
        owner = laya if name == "ONNXAgent" else laya.ONNXAgent
        actual = inspect.signature(getattr(owner, name)).parameters
        for parameter in written.parameters.values():
            assert actual[parameter.name].default == parameter.default, (name, parameter.name)


def test_a_context_has_the_fields_and_defaults_of_the_reference() -> None:
    fields = re.findall(r"^    (\w+): .+?(?: = (.+))?$", block("predict_context"), re.MULTILINE)
    parameters = inspect.signature(laya.PredictContext).parameters
    assert list(parameters)[: len(fields)] == [name for name, _ in fields]
    ctx, other = (laya.PredictContext(["a state"], {}) for _ in range(2))
    assert all(getattr(ctx, name) is None for name, default in fields if default == "None")
    assert re.fullmatch(r"[0-9a-f]{12}4[0-9a-f]{3}[89ab][0-9a-f]{15}", ctx.run_id)
    assert isinstance(ctx.started_at, float)
    assert ctx.run_id != other.run_id
    assert ctx != other
    assert len({ctx, other, ctx}) == 2


def test_a_hook_has_the_six_methods_of_the_protocol(checkpoint: Path) -> None:
    names: dict[str, Any] = {"Protocol": typing.Protocol, "PredictContext": laya.PredictContext}
    run(block("hook_protocol"), checkpoint, names)
    stated = [name for name in vars(names["Hook"]) if name.startswith("on_")]
    assert stated == [name for name in vars(laya.Hook) if name.startswith("on_")] == list(laya.hooks.HOOK_EVENTS)
    assert all(callable(getattr(laya.BaseHook(), event)) for event in stated)


def test_a_predict_hook_takes_the_context(checkpoint: Path) -> None:
    names: dict[str, Any] = {"Callable": typing.Callable, "PredictContext": laya.PredictContext}
    run(block("predict_hook"), checkpoint, names)
    assert typing.get_args(laya.PredictHook)[0] == typing.get_args(names["PredictHook"])[0] == [laya.PredictContext]
