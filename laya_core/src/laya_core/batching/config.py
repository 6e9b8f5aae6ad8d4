"""How continuous batching is configured: the fields of transformers' own config, and which of them mean what here."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

import attrs
from attrs import field, frozen

_Check: TypeAlias = Callable[[Any, "attrs.Attribute[Any]", Any], None]

_TEXT_ONLY: Final = (
    "page_size",
    "num_blocks",
    "max_blocks_per_request",
    "kv_padding_interval_size",
    "decode_compile_config",
    "safety_margin",
    "cpu_offload_space",
    "cpu_offload_space_safety_threshold",
    "per_request_processors",
    "drop_unsupported_processors",
    "disable_nccl_graph_mixing",
    "cpu_group_timeout",
)

_DEPRECATED: Final = {
    "use_default_compile_configs": "use default_compile_level",
    "max_cached_graphs": "it has no effect, as the number of graphs is not limited",
    "block_size": "use page_size",
}


def _refuse(name: str, value: object, allowed: str) -> None:
    raise ValueError(f"{name}={value!r}: must be {allowed}")


def _whole(least: int, *, optional: bool = False, most: int | None = None) -> _Check:
    allowed = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"

    def check(_: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if optional and value is None:
            return
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or value < least or (most is not None and value > most):
            _refuse(attribute.name, value, f"{allowed}{' or None' if optional else ''}")

    return check


def _number(lowest: float, highest: float, allowed: str, *, optional: bool = False, open_low: bool = False) -> _Check:
    def check(_: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if optional and value is None:
            return
        usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
        if not usable or not lowest <= value <= highest or (open_low and value == lowest):
            _refuse(attribute.name, value, f"{allowed}{' or None' if optional else ''}")

    return check


def _flag(*, optional: bool = False) -> _Check:
    def check(_: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
        if not isinstance(value, bool) and not (optional and value is None):
            _refuse(attribute.name, value, f"True{', False or None' if optional else ' or False'}")

    return check


def _graph_flags(_: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    pair = isinstance(value, tuple) and len(value) == 2 and all(isinstance(flag, bool) for flag in value)
    if value is not None and not isinstance(value, bool) and not pair:
        _refuse(attribute.name, value, "True, False, None, or a pair (passes, decoding) of True and False")


def _name(_: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    if not isinstance(value, str) or not value:
        _refuse(attribute.name, value, "the name of a scheduler")


def _compile_settings(_: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    if value is not None and not isinstance(value, Mapping) and not hasattr(value, "to_dict"):
        _refuse(attribute.name, value, "a mapping of torch.compile arguments, a CompileConfig, or None")


@frozen
class ContinuousBatchingConfig:
    """Settings of the batching engine, with the names and defaults of `transformers.ContinuousBatchingConfig`.

    Decisions and text generation share it. What means a KV cache or decoding is for text alone; decisions refuse it.

    Args:
        max_batch_tokens: padded tokens of a pass (rows × width); None measures it when the engine starts.
        max_memory_percent: share of the free device memory that passes may use, in (0, 1]; None is 0.9.
        max_requests_per_batch: requests whose rows share a pass; None for no bound.
        allow_block_sharing: identical rows of a pass are computed once.
        use_async_batching: the next pass is collated while one runs; None does so on devices other than the CPU.
        use_cuda_graph: replay passes of one shape as CUDA graphs; a pair gives (passes, decoding).
        q_padding_interval_size: widths are padded to a multiple of it; 0 pads to the longest row, or to what
            compiled passes and graphs need.
        varlen_compile_config: arguments of `torch.compile` for passes.
        default_compile_level: 0 to 3; above 0 passes are compiled although `varlen_compile_config` is None.
        scheduler_type: "fifo", "shortest", or a name given to `register_scheduler`.
        return_logprobs: outputs carry the logarithms of the calibrated probabilities.
        seed: for text generation; a decision has nothing random.
        auto_switch_to_flash: use flash attention where it is installed, for 16-bit weights and sequential options.
        max_queue_size: requests that may wait; 0 for no bound.
        max_overtake_seconds: how long "shortest" may prefer other rows to a waiting one.
        page_size, num_blocks, max_blocks_per_request, kv_padding_interval_size, decode_compile_config, safety_margin,
            cpu_offload_space, cpu_offload_space_safety_threshold, per_request_processors,
            drop_unsupported_processors, disable_nccl_graph_mixing, cpu_group_timeout: for text generation.
        use_default_compile_configs, max_cached_graphs, block_size: deprecated.

    Raises:
        ValueError: a value is out of range; the message names field, value and range.
    """

    page_size: int = field(default=256, validator=_whole(1))
    num_blocks: int | None = field(default=None, validator=_whole(1, optional=True))
    max_batch_tokens: int | None = field(default=None, validator=_whole(1, optional=True))
    max_memory_percent: float | None = field(
        default=None, validator=_number(0, 1, "a number above 0 and at most 1", optional=True, open_low=True)
    )
    max_requests_per_batch: int | None = field(default=None, validator=_whole(1, optional=True))
    max_blocks_per_request: int | None = field(default=None, validator=_whole(0, optional=True))
    allow_block_sharing: bool = field(default=True, validator=_flag())
    use_async_batching: bool | None = field(default=None, validator=_flag(optional=True))
    use_cuda_graph: bool | tuple[bool, bool] | None = field(default=None, validator=_graph_flags)
    q_padding_interval_size: int = field(default=0, validator=_whole(0))
    kv_padding_interval_size: int = field(default=0, validator=_whole(0))
    varlen_compile_config: Any = field(default=None, validator=_compile_settings)
    decode_compile_config: Any = field(default=None, validator=_compile_settings)
    default_compile_level: int = field(default=0, validator=_whole(0, most=3))
    scheduler_type: str = field(default="fifo", validator=_name)
    safety_margin: float | None = field(default=None, validator=_number(0, 1, "a number from 0 to 1", optional=True))
    return_logprobs: bool = field(default=False, validator=_flag())
    seed: int | None = field(default=None, validator=_whole(0, optional=True))
    auto_switch_to_flash: bool = field(default=True, validator=_flag())
    cpu_offload_space: float | None = field(
        default=0.0, validator=_number(0, math.inf, "a number of GiB of at least 0", optional=True)
    )
    cpu_offload_space_safety_threshold: float = field(
        default=0.8, validator=_number(0, 1, "a number above 0 and at most 1", open_low=True)
    )
    max_queue_size: int = field(default=0, validator=_whole(0))
    per_request_processors: bool = field(default=False, validator=_flag())
    drop_unsupported_processors: bool = field(default=True, validator=_flag())
    disable_nccl_graph_mixing: bool = field(default=True, validator=_flag())
    cpu_group_timeout: float | None = field(
        default=300.0, validator=_number(0, math.inf, "a number of seconds above 0", optional=True, open_low=True)
    )
    use_default_compile_configs: bool | None = field(default=None, validator=_flag(optional=True))
    max_cached_graphs: int | None = field(default=None, validator=_whole(0, optional=True))
    block_size: int | None = field(default=None, validator=_whole(1, optional=True))
    max_overtake_seconds: float = field(
        default=0.25, validator=_number(0, math.inf, "a number of seconds of at least 0"), kw_only=True
    )

    def __attrs_post_init__(self) -> None:
        for name, advice in _DEPRECATED.items():
            if getattr(self, name) is not None:
                warnings.warn(f"{name} is deprecated: {advice}", DeprecationWarning, stacklevel=3)

    @property
    def compile_level(self) -> int:
        """`default_compile_level`, or 1 where only the deprecated `use_default_compile_configs` asks for it."""
        return self.default_compile_level or int(bool(self.use_default_compile_configs))

    @classmethod
    def parse(cls, value: object) -> ContinuousBatchingConfig | None:
        """What `continuous_batching=` of an agent says: None or False, True, a mapping of field names, or a config.

        Raises:
            TypeError: it is none of these.
            ValueError: a field is unknown or out of range.
        """
        if value is None or value is False:
            return None
        if value is True:
            return cls()
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            raise TypeError(
                "continuous_batching must be True, a mapping of field names, a ContinuousBatchingConfig or None, "
                f"not {type(value).__name__}"
            )
        known = [attribute.name for attribute in attrs.fields(cls)]
        unknown = [name for name in value if name not in known]
        if unknown:
            raise ValueError(f"continuous_batching has no field {unknown[0]!r}; the fields are {', '.join(known)}")
        return cls(**value)

    def check_for_decisions(self) -> None:
        """Refuse what only means something for text generation.

        Raises:
            ValueError: such a field is not at its default.
        """
        for name, value in self._changed(_TEXT_ONLY):
            raise ValueError(
                f"{name}={value!r}: means a KV cache or decoding, which decisions do not have; "
                "only TextAgent takes it, so leave it at its default"
            )
        if isinstance(self.use_cuda_graph, tuple) and self.use_cuda_graph[1]:
            raise ValueError(
                f"use_cuda_graph={self.use_cuda_graph!r}: decisions do not decode; give True, False or (True, False)"
            )

    def _changed(self, names: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        fields = attrs.fields_dict(type(self))
        for name in names:
            value = getattr(self, name)
            if value != fields[name].default:
                yield name, value
