"""Serves a Laya router over HTTP: Starlette and uvicorn; imports no torch. Its names load when they are used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from laya_serve.app import create_app
    from laya_serve.command import main
    from laya_serve.settings import Settings

__version__ = "0.1.0"

__all__ = ["Settings", "create_app", "main"]

_HOMES: Final = {
    "Settings": "laya_serve.settings",
    "create_app": "laya_serve.app",
    "main": "laya_serve.command",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
