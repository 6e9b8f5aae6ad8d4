"""GET /v1/models: the names that choose a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from laya_hooks.protocols import RouterLike, Source

_OWNER: Final = "laya"
# TypeSafe's client requires a date, and a checkpoint has none.
_UNDATED: Final = "unknown"


def model_names(router: RouterLike, named: Mapping[str, Source]) -> dict[str, str]:
    """Every name and alias that a request may give, with the name of the checkpoint it chooses.

    Args:
        named: the checkpoints that packages and plugins name; equal sources make aliases.
    """
    registered = router.registered()
    checkpoints: dict[str, str] = {}
    for name, source in named.items():
        if name in registered:
            checkpoints.setdefault(repr(source), name)
    aliases = {
        alias: checkpoints[repr(source)]
        for alias, source in named.items()
        if alias not in registered and repr(source) in checkpoints
    }
    return {name: name for name in registered} | aliases


def model_list(router: RouterLike, named: Mapping[str, Source]) -> dict[str, Any]:
    """The payload: `data` as OpenAI-style clients read it, `models` as TypeSafe's do."""
    names = model_names(router, named)
    loaded = set(router.loaded)
    described = {name: _description(router, checkpoint, name) for name, checkpoint in names.items()}
    return {
        "data": [
            {
                "id": name,
                "object": "model",
                "owned_by": _OWNER,
                "checkpoint": checkpoint,
                "description": described[name],
                "loaded": checkpoint in loaded,
            }
            for name, checkpoint in names.items()
        ],
        "models": [{"name": name, "description": described[name], "release_date": _UNDATED} for name in names],
    }


def _description(router: RouterLike, checkpoint: str, name: str) -> str:
    described = router.describe(checkpoint) or "a checkpoint of this server"
    return described if name == checkpoint else f"another name of {checkpoint}: {described}"
