"""Text generation with hooks, on transformers' continuous batching. Importing this package imports no torch."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .agent import TextAgent
    from .manager import TextBatchingManager
    from .output import TextOutput

__all__ = ["TextAgent", "TextBatchingManager", "TextOutput"]

_HOMES: Final = {"TextAgent": "agent", "TextBatchingManager": "manager", "TextOutput": "output"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
