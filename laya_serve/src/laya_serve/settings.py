"""The settings of a server: read once, from environment variables."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import attrs

from laya_hooks.protocols import LoadOptions, RouterOptions, Source

PREFIX: Final = "LAYA_"
_TRUE: Final = frozenset({"1", "true", "yes", "on"})
_FALSE: Final = frozenset({"0", "false", "no", "off"})
_LOG_LEVELS: Final = ("critical", "error", "warning", "info", "debug", "trace")

T = TypeVar("T")


def _text(value: str) -> str:
    return value


def _switch(value: str) -> bool:
    if value.lower() not in _TRUE | _FALSE:
        raise ValueError("use 1 or 0")
    return value.lower() in _TRUE


def _number(lowest: int, highest: int | None = None) -> Callable[[str], int]:
    def read(value: str) -> int:
        bounds = f"at least {lowest}" if highest is None else f"from {lowest} to {highest}"
        if not value.isascii() or not value.isdigit() or int(value) < lowest or int(value) > (highest or int(value)):
            raise ValueError(f"use a whole number {bounds}")
        return int(value)

    return read


def _log_level(value: str) -> str:
    if value.lower() not in _LOG_LEVELS:
        raise ValueError(f"use one of {', '.join(_LOG_LEVELS)}")
    return value.lower()


def _names(value: str) -> tuple[str, ...] | None:
    names = tuple(name.strip() for name in value.split(",") if name.strip())
    return None if names in ((), ("all",)) else names


def _sources(value: str) -> dict[str, Source]:
    try:
        sources = json.loads(value)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from error
    if not isinstance(sources, dict):
        raise ValueError('use JSON {"name": source or [repo, subfolder]}')
    return {name: _source(name, source) for name, source in sources.items()}


def _source(name: str, source: object) -> Source:
    match source:
        case str():
            return source
        case [str(repo), str() | None as subfolder]:
            return repo, subfolder
    raise ValueError(f"the source of {name!r} is a string or [repo, subfolder], not {json.dumps(source)}")


def _setting(default: T, read: Callable[[str], T], meaning: str) -> T:
    field: T = attrs.field(default=default, metadata={"read": read, "meaning": meaning})
    return field


@attrs.frozen
class Settings:
    """What a server is told; each field is the variable LAYA_<FIELD> and the option of `laya serve`."""

    host: str = _setting("0.0.0.0", _text, "Address to listen on.")
    port: int = _setting(8000, _number(0, 65535), "Port to listen on; 0 takes a free one.")
    device: str | None = _setting(None, _text, "cpu, cuda, mps or xpu; the best there is by default.")
    precision: str | None = _setting(None, _text, "float32, bfloat16, float16 or auto.")
    preload: bool = _setting(True, _switch, "1 builds the checkpoints at the start, 0 on first use.")
    models: tuple[str, ...] | None = _setting(None, _names, "Which checkpoints to build at the start: all, or a,b.")
    default_model: str = _setting("english", _text, "The checkpoint for requests that no rule decides.")
    auto_task: bool = _setting(False, _switch, "1 recognises workflows by their question ids.")
    max_loaded: int = _setting(2, _number(1), "How many checkpoints stay in memory.")
    extra_models: Mapping[str, Source] = _setting({}, _sources, 'JSON {"name": source or [repo, subfolder]}.')
    api_key: str | None = _setting(None, _text, "Require `Authorization: Bearer KEY`.")
    root_path: str = _setting("", _text, "The prefix a reverse proxy strips.")
    log_level: str = _setting("info", _log_level, f"One of {', '.join(_LOG_LEVELS)}.")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read the LAYA_* variables; a blank one counts as unset.

        Raises:
            ValueError: a value cannot be read; the message names the variable.
        """
        given: dict[str, Any] = {}
        for field in attrs.fields(cls):
            variable = variable_of(field.name)
            value = environment.get(variable, "").strip()
            if not value:
                continue
            try:
                given[field.name] = field.metadata["read"](value)
            except ValueError as error:
                raise ValueError(f"{variable} is {value!r}: {error}") from error
        return cls(**given)

    def router_options(self) -> RouterOptions:
        """How to build the router that these settings ask for."""
        options = RouterOptions(
            default=self.default_model,
            auto_task_detection=self.auto_task,
            max_loaded=self.max_loaded,
            models=self.extra_models,
            device=self.device,
        )
        if self.precision is not None:
            options["load_options"] = LoadOptions(precision=self.precision)
        return options


def variable_of(field: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + field.upper()
