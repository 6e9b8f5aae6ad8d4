"""What travels between the packages, by shape: the router sees an `AgentLike`, the server a `RouterLike`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict

if TYPE_CHECKING:
    from .events import PredictHook

Source: TypeAlias = str | os.PathLike[str] | tuple[str, str | None]
"""Where a checkpoint comes from: a directory, a Hub id, a known name, or (repository, subfolder)."""

Result: TypeAlias = dict[str, Any]
Questions: TypeAlias = Mapping[str, Any]
HooksArgument: TypeAlias = object
"""What `hooks=` takes: a hook, or a sequence of hooks. `normalise_hooks` checks it."""
CallablesArgument: TypeAlias = "PredictHook | Sequence[PredictHook] | None"
MinConfidence: TypeAlias = float | Mapping[str, float]


class LoadOptions(TypedDict, total=False):
    """How a checkpoint is loaded; the keys are keyword arguments of `laya_core.Agent`."""

    device: str | None
    token: str | None
    subfolder: str | None
    revision: str | None
    expected_sha256: Mapping[str, str] | None
    lang_temperatures: Mapping[str, Any] | None
    backend: str | None
    precision: str | None
    fast: bool
    compile: bool
    continuous_batching: Any
    hooks: HooksArgument
    on_predict_start: CallablesArgument
    on_predict_end: CallablesArgument
    hooks_raise: bool
    hooks_concurrent: bool
    hooks_timeout: float | None


class RouterOptions(TypedDict, total=False):
    """How a router is built; the keys are keyword arguments of `laya_router.Router`."""

    models: Mapping[str, Source] | None
    device: str | None
    token: str | None
    max_loaded: int
    default: str
    auto_task_detection: bool
    standalone_repos: bool
    preload: bool | Sequence[str]
    lang_guess: Any
    load_options: LoadOptions
    hooks: HooksArgument
    on_predict_start: CallablesArgument
    on_predict_end: CallablesArgument
    hooks_raise: bool
    hooks_concurrent: bool
    hooks_timeout: float | None


class AgentLike(Protocol):
    """A loaded checkpoint that answers."""

    @property
    def model_id(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def revision(self) -> str | None: ...
    @property
    def cpu_fallback_count(self) -> int: ...
    @property
    def last_fallback_reason(self) -> str | None: ...

    def predict_batch(
        self,
        states: list[Any],
        questions: Questions,
        batch_size: int | None = None,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        max_len: int | None = None,
        head_max_len: int | None = None,
        sort_by_length: bool = False,
        min_confidence: MinConfidence | None = None,
        lang: str | None = None,
    ) -> list[Result]: ...

    def system_one(
        self,
        state: Any,
        questions: Questions,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        max_len: int | None = None,
        head_max_len: int | None = None,
        min_confidence: MinConfidence | None = None,
        lang: str | None = None,
    ) -> Result: ...

    def predict(
        self,
        state: Any,
        questions: Questions,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        max_len: int | None = None,
        head_max_len: int | None = None,
        min_confidence: MinConfidence | None = None,
        lang: str | None = None,
    ) -> Result: ...

    def predict_long(
        self,
        state: Any,
        questions: Questions,
        window: int | None = None,
        stride: int | None = None,
        aggregate: str = "auto",
        batch_size: int | None = None,
        lang: str | None = None,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        min_confidence: MinConfidence | None = None,
    ) -> Result: ...

    def close(self) -> None: ...


class RouterLike(Protocol):
    """What the server and the command line need of a router."""

    @property
    def default(self) -> str: ...
    @property
    def loaded(self) -> list[str]: ...

    def agents(self) -> dict[str, AgentLike]: ...
    def registered(self) -> dict[str, Source]: ...
    def describe(self, name: str) -> str | None: ...

    def route(
        self,
        state: Any,
        questions: Questions | None = None,
        model: str | None = None,
        task: str | None = None,
        lang: str | None = None,
        lang_guess: Any = None,
        hooks: HooksArgument = None,
        hooks_raise: bool | None = None,
    ) -> dict[str, Any]: ...

    def route_batch(
        self,
        requests: Sequence[Mapping[str, Any]],
        hooks: HooksArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
    ) -> Sequence[dict[str, Any]]: ...

    def predict(
        self,
        state: Any,
        questions: Questions,
        model: str | None = None,
        task: str | None = None,
        lang: str | None = None,
        lang_guess: Any = None,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
        max_len: int | None = None,
        head_max_len: int | None = None,
        min_confidence: MinConfidence | None = None,
    ) -> Result: ...

    def predict_batch(
        self,
        requests: Sequence[Mapping[str, Any]],
        batch_size: int | None = None,
        hooks_timeout: float | None = None,
        min_confidence: MinConfidence | None = None,
        sort_by_length: bool = False,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
    ) -> list[Result]: ...

    def predict_long(
        self,
        state: Any,
        questions: Questions,
        model: str | None = None,
        task: str | None = None,
        lang: str | None = None,
        lang_guess: Any = None,
        window: int | None = None,
        stride: int | None = None,
        aggregate: str = "auto",
        batch_size: int | None = None,
        hooks: HooksArgument = None,
        on_predict_start: CallablesArgument = None,
        on_predict_end: CallablesArgument = None,
        hooks_raise: bool | None = None,
        hooks_timeout: float | None = None,
    ) -> Result: ...

    def load(self, name: str) -> AgentLike: ...
    def unload(self, name: str | None = None) -> None: ...
    def preload(self, names: Sequence[str] | None = None) -> None: ...
    def attach(self, name: str, agent: AgentLike) -> None: ...
