"""How forward passes are executed: eagerly, or compiled."""

from __future__ import annotations

import shutil
import warnings
from typing import Final, cast

import torch

from .model import DecisionModel

BACKENDS: Final = ("eager", "compile")


def choose_backend(backend: str | None, *, fast: bool = False, compile: bool = False) -> str:  # noqa: A002
    """The backend that `backend=`, `fast=` and `compile=` ask for; "auto" is the fastest that works here.

    Raises:
        ValueError: an unknown backend, or flags that contradict it.
    """
    if backend is None:
        backend = "compile" if compile else "auto" if fast else "eager"
    elif compile and backend != "compile":
        raise ValueError(f"compile=True and backend={backend!r} contradict one another; give one of them")
    if backend == "auto":
        return _fastest()
    if backend not in BACKENDS:
        raise ValueError(
            f"unknown backend {backend!r}; laya-core has {', '.join(map(repr, BACKENDS))} and 'auto', "
            "and no installed plugin provides it"
        )
    if backend == "compile" and not _can_compile():
        raise ValueError("backend 'compile' needs a C++ compiler (c++, g++ or clang++) or a CUDA device; install one")
    return backend


def prepare_model(model: DecisionModel, backend: str) -> DecisionModel:
    """The model as `backend` runs it."""
    if backend == "compile":
        return cast(DecisionModel, torch.compile(model, dynamic=True))
    return model


def _fastest() -> str:
    if _can_compile():
        return "compile"
    warnings.warn("no faster backend is available here; staying with 'eager'", RuntimeWarning, stacklevel=3)
    return "eager"


def _can_compile() -> bool:
    return torch.cuda.is_available() or any(shutil.which(name) for name in ("c++", "g++", "clang++"))
