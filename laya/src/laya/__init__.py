"""Typed decisions about text: load a checkpoint or a router, ask questions, get calibrated probabilities.

Everything here is loaded on first use, so `import laya` is quick and imports no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from laya import hooks, presets, serve
    from laya_core import Agent, Choice, ContinuousBatchingConfig, Noul, Score, TextAgent, load
    from laya_hooks import (
        AsyncHook,
        BaseHook,
        Hook,
        HubUnreachable,
        LayaError,
        PredictContext,
        PredictHook,
        ProviderMissing,
        QueueFull,
        call_scope,
        hookimpl,
    )
    from laya_router import Preset, RouteDecision, Router

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AsyncHook",
    "BaseHook",
    "Choice",
    "ContinuousBatchingConfig",
    "Hook",
    "HubUnreachable",
    "LayaError",
    "Noul",
    "PredictContext",
    "PredictHook",
    "Preset",
    "ProviderMissing",
    "QueueFull",
    "RouteDecision",
    "Router",
    "Score",
    "TextAgent",
    "call_scope",
    "hookimpl",
    "hooks",
    "load",
    "presets",
    "serve",
]

_SUBMODULES: Final = frozenset({"hooks", "presets", "serve"})
_HOME: Final = {
    "Agent": "laya_core",
    "Choice": "laya_core",
    "ContinuousBatchingConfig": "laya_core",
    "Noul": "laya_core",
    "Preset": "laya_router",
    "RouteDecision": "laya_router",
    "Router": "laya_router",
    "Score": "laya_core",
    "TextAgent": "laya_core",
    "load": "laya_core",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _SUBMODULES:
        return import_module(f"{__name__}.{name}")
    value = globals()[name] = getattr(import_module(_HOME.get(name, "laya_hooks")), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
