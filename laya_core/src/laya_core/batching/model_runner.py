"""Runs the passes of the batching engine on a checkpoint's model."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from time import perf_counter
from typing import Any, Final, TypeAlias, cast

import torch
from attrs import evolve

from laya_core.decoding import RowScores
from laya_core.devices import is_out_of_memory, release_cached_memory
from laya_core.engine import Engine
from laya_core.model import DecisionModel
from laya_core.passes import padded_width
from laya_core.prompt import Row, TokenBudget
from laya_core.questions import Noul

from .attention import friendly_attention, switch_attention
from .compute_threads import ComputeThreads, S, parts_of
from .config import ContinuousBatchingConfig

_log = logging.getLogger(__name__)

_PROBE_WIDTH: Final = 64
_PROBE_ROWS: Final = 4
_PROBE_SECONDS: Final = 0.2
_PASS_SECONDS: Final = 0.25
_CPU_BUDGETS: Final = (2_048, 8_192)  # a busy machine must not make passes of a few rows
_DEVICE_BUDGETS: Final = (1_024, 262_144)
_MEMORY_SHARE: Final = 0.9
_SHAPE_INTERVAL: Final = 64
_COMPILE_LEVELS: Final[Mapping[int, Mapping[str, Any]]] = {
    1: {"dynamic": True},
    2: {"dynamic": True, "mode": "max-autotune-no-cudagraphs"},
    3: {"dynamic": False, "mode": "max-autotune-no-cudagraphs"},
}

Part: TypeAlias = tuple[Sequence[Row], dict[str, Any]]
"""Rows of a pass, and their tensors."""


class ModelRunner:
    """The `Runner` of the batching engine for a loaded checkpoint.

    Args:
        engine: the checkpoint.
        config: attention, compilation and shapes of passes.

    Raises:
        ValueError: the config asks for what the device does not have.
    """

    def __init__(self, engine: Engine, config: ContinuousBatchingConfig) -> None:
        self._engine = engine
        self._config = config
        self._eager = engine.passes
        self._is_cpu = engine.device.type == "cpu"
        self._compile_arguments = _compile_arguments(config, engine.device)
        self._passes = self._eager
        self._restore_attention: Callable[[], None] = lambda: None
        self._threads: ComputeThreads | None = None
        static = self._compile_arguments is not None and self._compile_arguments.get("dynamic") is not True
        self.padding_interval = config.q_padding_interval_size or (_SHAPE_INTERVAL if static else 1)

    @property
    def group_cost(self) -> int:
        """On the CPU a group is divided among the threads, and each of its parts costs as much."""
        if not self._is_cpu:
            return 2_048
        return 64 if self._threads is None else 64 * self._threads.count

    def padded_tokens(self, lengths: Sequence[int]) -> int:
        parts = self._parts([range(length) for length in lengths])
        return sum(len(part) * padded_width(part, self.padding_interval) for part in parts)

    def start(self) -> None:
        self.switch_attention(self._config.auto_switch_to_flash)
        if self._compile_arguments is not None and self._passes is self._eager:
            compiled = torch.compile(self._eager.model, **self._compile_arguments)
            self._passes = evolve(self._eager, model=cast(DecisionModel, compiled))
        cores = torch.get_num_threads()
        if self._is_cpu and self._passes is self._eager and cores > 1 and self._threads is None:
            self._threads = ComputeThreads(cores)

    def stop(self) -> None:
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None
        self._restore_attention()
        self._restore_attention = lambda: None

    def switch_attention(self, auto_switch_to_flash: bool) -> None:
        """Make passes use the fastest attention there is for them, until `stop`. May be repeated.

        On the CPU there is one.
        """
        if self._is_cpu:
            return
        encoder = self._eager.model.encoder
        layout = self._engine.config.option_layout
        chosen = friendly_attention(encoder, self._engine.dtype, layout, auto_switch_to_flash)
        restore, before = switch_attention(encoder, chosen), self._restore_attention
        self._restore_attention = lambda: (restore(), before())[0]

    def warm_up(self, max_tokens: int | None) -> int:
        rows = self._probe()
        self.run(rows, self.collate(rows))
        if max_tokens is not None:
            return max_tokens
        return self._budget_by_time(rows) if self._is_cpu else self._budget_by_memory(rows)

    def collate(self, rows: Sequence[Row]) -> list[Part]:
        return [(part, self._passes.collate(part, self.padding_interval)) for part in self._parts(rows)]

    def run(self, rows: Sequence[Row], parts: Sequence[Part]) -> list[RowScores]:
        if self._threads is None or len(parts) == 1:
            found = [self._passes.forward(*part) for part in parts]
        else:
            found = self._threads.map(lambda part: self._passes.forward(*part), parts)
        return list(chain.from_iterable(found))

    def is_out_of_memory(self, error: Exception) -> bool:
        return is_out_of_memory(error)

    def release_memory(self) -> None:
        release_cached_memory(self._engine.device)

    def rescue(self, rows: Sequence[Row], error: Exception) -> list[RowScores]:
        if self._is_cpu:
            raise error
        return self._engine.score_on_cpu(rows, str(error))

    def _parts(self, rows: Sequence[S]) -> list[Sequence[S]]:
        return [rows] if self._threads is None else parts_of(rows, self._threads.count)

    def _probe(self) -> list[Row]:
        """Rows of ordinary length to measure with."""
        encoder = self._engine.encoder
        width = min(_PROBE_WIDTH, self._engine.config.max_len)
        budget = TokenBudget(width, min(width, self._engine.config.head_max_len))
        prefix = encoder.prefix(Noul(instructions="Is it so?"), budget)
        row = encoder.row(prefix, encoder.encode_states(["a " * width])[0])
        return [row] * _PROBE_ROWS

    def _budget_by_time(self, rows: Sequence[Row]) -> int:
        """Tokens that take about a quarter of a second: enough to be efficient, and new rows do not wait long."""
        parts = self.collate(rows)
        fastest = self._seconds(rows, parts)
        spent = fastest
        while spent < _PROBE_SECONDS:  # the fastest of some, as the others met other work of the machine
            seconds = self._seconds(rows, parts)
            fastest, spent = min(fastest, seconds), spent + seconds
        return _within(int(_PASS_SECONDS * sum(map(len, rows)) / fastest), *_CPU_BUDGETS)

    def _seconds(self, rows: Sequence[Row], parts: Sequence[Part]) -> float:
        started = perf_counter()
        self.run(rows, parts)
        return perf_counter() - started

    def _budget_by_memory(self, rows: Sequence[Row]) -> int:
        """Tokens whose activations fill the allowed share of the free memory."""
        backend: Any = getattr(torch, self._engine.device.type, None)
        if backend is None or not hasattr(backend, "max_memory_allocated") or not hasattr(backend, "mem_get_info"):
            return self._eager.token_budget
        device = self._engine.device
        rows = list(rows) * 16
        parts = self.collate(rows)
        backend.reset_peak_memory_stats(device)
        before = backend.memory_allocated(device)
        self.run(rows, parts)
        per_token = max(1.0, (backend.max_memory_allocated(device) - before) / sum(map(len, rows)))
        free, _ = backend.mem_get_info(device)
        share = _MEMORY_SHARE if self._config.max_memory_percent is None else self._config.max_memory_percent
        return _within(int(free * share / per_token), *_DEVICE_BUDGETS)


def _compile_arguments(config: ContinuousBatchingConfig, device: torch.device) -> dict[str, Any] | None:
    """Arguments of torch.compile for passes; None to run them eagerly."""
    graphs = config.use_cuda_graph[0] if isinstance(config.use_cuda_graph, tuple) else config.use_cuda_graph
    if graphs and device.type != "cuda":
        raise ValueError(f"use_cuda_graph={config.use_cuda_graph!r}: needs a CUDA device, but the model is on {device}")
    given = config.varlen_compile_config
    if given is not None:
        return dict(given if isinstance(given, Mapping) else given.to_dict())
    arguments = dict(_COMPILE_LEVELS[config.compile_level]) if config.compile_level else None
    # Inductor records and replays the graphs: one for each shape, hence the wide steps between widths.
    return {**(arguments or {}), "dynamic": False, "mode": "reduce-overhead"} if graphs else arguments


def _within(value: int, least: int, most: int) -> int:
    return max(least, min(most, value))
