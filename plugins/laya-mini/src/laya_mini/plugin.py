"""Tells laya where the embedded checkpoint is, and what it is for."""

from __future__ import annotations

from laya_hooks import hookimpl
from laya_mini import CHECKPOINT


@hookimpl
def laya_checkpoints() -> dict[str, str]:
    return {"mini": str(CHECKPOINT)}


@hookimpl
def laya_checkpoint_descriptions() -> dict[str, str]:
    return {"mini": "small and English, to try things out with"}
