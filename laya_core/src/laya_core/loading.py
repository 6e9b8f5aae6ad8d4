"""`load`: an agent for a checkpoint, from whichever installed runtime takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from laya_hooks import AgentLike, LoadOptions, Source, load_agent
from laya_hooks.protocols import CallablesArgument, HooksArgument


def load(
    model_id_or_path: Source = "convaiinnovations/laya",
    device: str | None = None,
    token: str | None = None,
    subfolder: str | None = None,
    fast: bool = False,
    compile: bool = False,  # noqa: A002
    hooks: HooksArgument = None,
    on_predict_start: CallablesArgument = None,
    on_predict_end: CallablesArgument = None,
    hooks_raise: bool = True,
    hooks_concurrent: bool = True,
    hooks_timeout: float | None = None,
    *,
    revision: str | None = None,
    expected_sha256: Mapping[str, str] | None = None,
    lang_temperatures: Mapping[str, Any] | None = None,
    backend: str | None = None,
    precision: str | None = None,
    continuous_batching: Any = None,
) -> AgentLike:
    """Load a checkpoint. Arguments and errors are those of `Agent`; plugins may bring further backends.

    Example:
        `laya.load("mini").predict("I was charged twice", {"refund": {"type": "noul", "instructions": "…"}})`
    """
    options: LoadOptions = {
        "device": device,
        "token": token,
        "subfolder": subfolder,
        "fast": fast,
        "compile": compile,
        "hooks": hooks,
        "on_predict_start": on_predict_start,
        "on_predict_end": on_predict_end,
        "hooks_raise": hooks_raise,
        "hooks_concurrent": hooks_concurrent,
        "hooks_timeout": hooks_timeout,
        "revision": revision,
        "expected_sha256": expected_sha256,
        "lang_temperatures": lang_temperatures,
        "backend": backend,
        "precision": precision,
        "continuous_batching": continuous_batching,
    }
    return load_agent(model_id_or_path, options)
