"""Checkpoints, models and agents. Importing this package imports no torch; its names load when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .agent import Agent
    from .batching.config import ContinuousBatchingConfig
    from .loading import load
    from .questions import Choice, Noul, Question, Score
    from .text.agent import TextAgent

__version__ = "0.1.0"

__all__ = ["Agent", "Choice", "ContinuousBatchingConfig", "Noul", "Question", "Score", "TextAgent", "load"]

_HOMES: Final = {
    "Agent": "laya_core.agent",
    "load": "laya_core.loading",
    "Choice": "laya_core.questions",
    "ContinuousBatchingConfig": "laya_core.batching.config",
    "Noul": "laya_core.questions",
    "Question": "laya_core.questions",
    "Score": "laya_core.questions",
    "TextAgent": "laya_core.text.agent",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
