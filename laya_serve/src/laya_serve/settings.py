"""The settings of a server: read once, from environment variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import attrs

from laya_hooks.protocols import LoadOptions, RouterOptions, Source
from laya_serve import setting_values as values

PREFIX: Final = "LAYA_"
LOG_LEVELS: Final = ("critical", "error", "warning", "info", "debug", "trace")
PRECISIONS: Final = ("auto", "float32", "bfloat16", "float16")

_CONTRACT_GROUP: Final = 16

T = TypeVar("T")


def _setting(default: T, read: Callable[[str], T], meaning: str) -> T:
    field: T = attrs.field(default=default, metadata={"read": read, "meaning": meaning})
    return field


@attrs.frozen
class Settings:
    """What a server is told; each field is the variable LAYA_<FIELD> and the option of `laya serve`."""

    host: str = _setting("0.0.0.0", values.text, "Address to listen on.")
    port: int = _setting(8000, values.whole(0, 65535), "Port to listen on; 0 takes a free one.")
    device: str | None = _setting(None, values.device, "cpu, cuda, mps or xpu; the best there is by default.")
    threads: int | None = _setting(None, values.whole(1, 1024), "CPU threads of a forward pass.")
    precision: str | None = _setting(None, values.one_of(*PRECISIONS), f"{', '.join(PRECISIONS)}.")
    preload: bool = _setting(True, values.switch, "1 builds the checkpoints at the start, 0 on first use.")
    models: tuple[str, ...] | None = _setting(
        None, values.names, "Which checkpoints to build at the start: all, or a,b."
    )
    default_model: str = _setting("english", values.text, "The checkpoint for requests that no rule decides.")
    auto_task: bool = _setting(False, values.switch, "1 recognises workflows by their question ids.")
    max_loaded: int = _setting(2, values.whole(1), "How many checkpoints stay in memory.")
    extra_models: Mapping[str, Source] = _setting({}, values.sources, 'JSON {"name": source or [repo, subfolder]}.')
    idle_unload_seconds: float = _setting(0.0, values.seconds, "Free idle checkpoints after so long; 0 never does.")
    api_key: str | None = _setting(None, values.header_text, "Require `Authorization: Bearer KEY`.")
    root_path: str = _setting("", values.path_prefix, "The prefix a reverse proxy strips.")
    log_level: str = _setting("info", values.one_of(*LOG_LEVELS), f"One of {', '.join(LOG_LEVELS)}.")
    max_concurrent: int = _setting(64, values.whole(1, 4096), "Decision requests at once; more get 503.")
    body_read_timeout: float = _setting(10.0, values.seconds_above_zero, "Seconds a client has to deliver a body.")
    max_token_budget: int = _setting(8192, values.whole(1), "Cap on max_len and head_max_len of a request.")
    max_batch_tokens: int = _setting(131072, values.whole(1), "Tokens above which a batch is split into passes.")
    max_queue: int = _setting(4096, values.whole(1), "Rows that may wait for a pass; more get 503.")
    jev_confidence: bool = _setting(False, values.switch, "1 adds x_jev_confidence to choice and score answers.")
    jev_strict: str = _setting("0", values.strictness, "Wire mode: 0, 1 (projection) or contract.")
    tournament_group: int | None = _setting(
        None, values.group_size, "Narrow choices with more options in groups of so many; 0 is off."
    )
    playground: bool | None = _setting(None, values.switch, "1 serves the page at /; by default if no key is set.")
    shutdown_grace: float = _setting(30.0, values.seconds, "Seconds that running requests have after SIGTERM.")

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
                shown = "set, but cannot be used" if field.name == "api_key" else repr(value)
                raise ValueError(f"{variable} is {shown}: {error}") from error
        return cls(**given)

    @property
    def group(self) -> int:
        """Options in a group of a tournament; 0 is no tournament."""
        if self.tournament_group is not None:
            return self.tournament_group
        return _CONTRACT_GROUP if self.jev_strict == "contract" else 0

    @property
    def serves_playground(self) -> bool:
        """Whether there is a page at /."""
        return self.api_key is None if self.playground is None else self.playground

    @property
    def serves_docs(self) -> bool:
        """Whether there are /openapi.json and /docs."""
        return self.api_key is None

    def router_options(self) -> RouterOptions:
        """How to build the router that these settings ask for."""
        load_options = LoadOptions(continuous_batching={"max_queue_size": self.max_queue})
        if self.precision is not None:
            load_options["precision"] = self.precision
        return RouterOptions(
            default=self.default_model,
            auto_task_detection=self.auto_task,
            max_loaded=self.max_loaded,
            models=self.extra_models,
            device=self.device,
            load_options=load_options,
        )


def variable_of(field: str) -> str:
    """The environment variable of a setting."""
    return PREFIX + field.upper()
