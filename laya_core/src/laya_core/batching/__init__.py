"""Continuous batching: concurrent calls share forward passes. Importing this package imports no torch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .config import ContinuousBatchingConfig
    from .errors import EngineCrashed, EngineStopped
    from .manager import ContinuousBatchingManager
    from .request import DecisionOutput, RequestStatus
    from .scheduler import register_scheduler
    from .stats import Stats

__all__ = [
    "ContinuousBatchingConfig",
    "ContinuousBatchingManager",
    "DecisionOutput",
    "EngineCrashed",
    "EngineStopped",
    "RequestStatus",
    "Stats",
    "register_scheduler",
]

_HOMES: Final = {
    "ContinuousBatchingConfig": "config",
    "ContinuousBatchingManager": "manager",
    "DecisionOutput": "request",
    "EngineCrashed": "errors",
    "EngineStopped": "errors",
    "RequestStatus": "request",
    "Stats": "stats",
    "register_scheduler": "scheduler",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
