"""Ready question sets, to use as they are or to copy and change."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

import attrs

from laya_hooks.suggestions import did_you_mean


@attrs.frozen
class Preset:
    """A question set with one state it fits; `questions` is what `predict` takes."""

    name: str
    description: str
    sample: str
    questions: dict[str, Any]


def names() -> list[str]:
    """The names of all presets."""
    return sorted(
        entry.name.removesuffix(".json") for entry in files(__name__).iterdir() if entry.name.endswith(".json")
    )


def load(name: str) -> Preset:
    """A preset by name; its questions are the caller's own to change.

    Raises:
        ValueError: there is none of that name; the message lists them.
    """
    if name not in names():
        raise ValueError(f"unknown preset {name!r}; there are {', '.join(names())}{did_you_mean(name, names())}")
    return Preset(name=name, **json.loads(_text(name)))


@cache
def _text(name: str) -> str:
    return files(__name__).joinpath(f"{name}.json").read_text(encoding="utf-8")
