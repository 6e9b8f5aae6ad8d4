"""What a body may say besides states and questions, as keyword arguments of the router."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

import attrs

from laya_serve.refused import Refused
from laya_serve.wire import WireMode

HOOK_ARGUMENTS: Final = ("hooks", "on_predict_start", "on_predict_end", "hooks_raise", "hooks_timeout")

_PUBLISHER: Final = "convaiinnovations/"
_ROUTE: Final = "convaiinnovations/laya"


@attrs.frozen
class Controls:
    """Reads the controls of bodies; one that is null counts as not sent.

    Args:
        known_models: returns the names and aliases that choose a checkpoint.
        wire: may refuse a name that chooses none.
        max_token_budget: cap on max_len and head_max_len.
    """

    known_models: Callable[[], Collection[str]]
    wire: WireMode
    max_token_budget: int

    def of_request(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What a body says about how one state is read: `Router.predict`'s arguments but min_confidence.

        Raises:
            Refused: 422, a hook argument, a control of the wrong type or range, or a model that is not served.
        """
        for name in HOOK_ARGUMENTS:
            if name in body:
                raise Refused(422, f"{name} cannot be sent: hooks are code that runs inside the server", [name])
        readers: dict[str, Callable[[str, Any], Any]] = {
            "task": _text,
            "lang": _text,
            "lang_guess": _text,
            "max_len": self._budget,
            "head_max_len": self._budget,
        }
        controls = _read(body, readers)
        model = self._model(body.get("model"))
        return controls if model is None else {"model": model, **controls}

    def of_call(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What a body says about a call as a whole: the confidence gate.

        Raises:
            Refused: 422, it is of the wrong type or range.
        """
        return _read(body, {"min_confidence": _confidence})

    def of_batch(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """What a body says about a batch as a whole: the gate, and how rows share passes.

        Raises:
            Refused: 422, one is of the wrong type or range.
        """
        return _read(body, {"min_confidence": _confidence, "batch_size": _count, "sort_by_length": _flag})

    def _model(self, model: object) -> str | None:
        """The name or alias of the checkpoint asked for; None lets the router choose."""
        if model is None:
            return None
        if not isinstance(model, str):
            raise Refused(422, f"model is a string, not {_kind(model)}", ["model"])
        name = model.strip().lower()
        if name == _ROUTE:
            return None
        known = self.known_models()
        if name in known:
            return name
        if name.removeprefix(_PUBLISHER) in known:
            return name.removeprefix(_PUBLISHER)
        if "/" in model or "\\" in model or model.strip().startswith(("~", ".")):
            served = ", ".join(sorted(known))
            raise Refused(
                422, f"unknown model {model!r}; known are {served}; leave model out and the router chooses", ["model"]
            )
        self.wire.check_unknown_model(name)
        return None

    def _budget(self, name: str, value: Any) -> int:
        tokens = _count(name, value)
        if tokens > self.max_token_budget:
            raise Refused(422, f"{name} is at most {self.max_token_budget} tokens here, not {tokens}", [name])
        return tokens


def _read(body: Mapping[str, Any], readers: Mapping[str, Callable[[str, Any], Any]]) -> dict[str, Any]:
    return {name: read(name, body[name]) for name, read in readers.items() if body.get(name) is not None}


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise Refused(422, f"{name} is a string, not {_kind(value)}", [name])
    return value


def _count(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused(422, f"{name} is a whole number, not {_kind(value)}", [name])
    if value < 1:
        raise Refused(422, f"{name} is a whole number of at least 1, not {value}", [name])
    return value


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise Refused(422, f"{name} is true or false, not {_kind(value)}", [name])
    return value


def _confidence(name: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return _share(name, value)
    return {band: _share(f"{name}[{band!r}]", threshold, name) for band, threshold in value.items()}


def _share(what: str, value: Any, name: str | None = None) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused(422, f"{what} is a number from 0 to 1, not {_kind(value)}", [name or what])
    if not 0 <= value <= 1:
        raise Refused(422, f"{what} is a number from 0 to 1, not {value!r:.20}", [name or what])
    return value


def _kind(value: object) -> str:
    """The JSON word for a value's type."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "an array"
    return "an object"
