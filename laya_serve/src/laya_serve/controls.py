"""What a body may say besides state and questions, as keyword arguments of the router."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException

CONTROLS: Final = ("model", "task", "lang", "lang_guess", "max_len", "head_max_len", "min_confidence")
HOOK_ARGUMENTS: Final = ("hooks", "on_predict_start", "on_predict_end", "hooks_raise", "hooks_timeout")

_PUBLISHER: Final = "convaiinnovations/"
_ROUTE: Final = "convaiinnovations/laya"


def controls_of(body: Mapping[str, Any], known_models: Collection[str]) -> dict[str, Any]:
    """The controls that the body sends.

    Args:
        known_models: names and aliases that choose a checkpoint.

    Raises:
        HTTPException: 422, a hook argument, or a model that this server cannot load.
    """
    for name in HOOK_ARGUMENTS:
        if name in body:
            raise HTTPException(422, f"{name} cannot be sent: hooks are code that runs inside the server")
    controls = {name: body[name] for name in CONTROLS if body.get(name) is not None}
    if "model" in controls:
        model = _checkpoint(controls.pop("model"), known_models)
        if model is not None:
            controls["model"] = model
    return controls


def _checkpoint(model: object, known_models: Collection[str]) -> str | None:
    """The name or alias of the checkpoint asked for; None lets the router choose."""
    if not isinstance(model, str):
        raise HTTPException(422, f"model is a string, not {type(model).__name__}")
    name = model.strip().lower()
    if name == _ROUTE:
        return None
    name = name.removeprefix(_PUBLISHER)
    if name in known_models:
        return name
    if "/" in model or "\\" in model or model.strip().startswith(("~", ".")):
        raise HTTPException(422, f"unknown model {model!r}; leave model out and the router chooses")
    return None
