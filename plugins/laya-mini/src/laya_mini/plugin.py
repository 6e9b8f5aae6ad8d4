"""Tells laya where the embedded checkpoint is."""

from __future__ import annotations

from laya_hooks import hookimpl
from laya_mini import CHECKPOINT


@hookimpl
def laya_checkpoints() -> dict[str, str]:
    return {"mini": str(CHECKPOINT)}
