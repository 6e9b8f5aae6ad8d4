"""Routes requests to checkpoints and keeps these in memory; imports no torch. Its names load when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from laya_router.decision import RouteDecision
    from laya_router.presets import Preset
    from laya_router.router import Router

__version__ = "0.1.0"

__all__ = ["Preset", "RouteDecision", "Router"]

_HOMES: Final = {
    "Preset": "laya_router.presets",
    "RouteDecision": "laya_router.decision",
    "Router": "laya_router.router",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
