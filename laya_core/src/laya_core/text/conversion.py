"""Our `ContinuousBatchingConfig` as the one of the installed transformers, field by field."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from typing import Any, Final

import attrs

from laya_core.batching.config import ContinuousBatchingConfig

SCHEDULERS: Final = ("fifo", "prefill_first")
_OURS_ALONE: Final = frozenset({"max_overtake_seconds"})
_COMPILE_CONFIGS: Final = frozenset({"varlen_compile_config", "decode_compile_config"})


def to_transformers(
    config: ContinuousBatchingConfig, sizes: Mapping[str, int] | None = None, target: type[Any] | None = None
) -> Any:
    """The config that transformers' engine takes.

    Args:
        sizes: values for fields that `config` leaves open.
        target: the class to make; that of the installed transformers by default.

    Raises:
        ValueError: a field is set that means nothing for text generation, names an unknown scheduler, or is
            unknown to the installed transformers.
    """
    target = target or _installed_class()
    sizes = sizes or {}
    _check_for_text(config)
    known = inspect.signature(target).parameters
    values: dict[str, Any] = {}
    for field in attrs.fields(ContinuousBatchingConfig):
        value = sizes.get(field.name) if getattr(config, field.name) is None else getattr(config, field.name)
        if field.name in _OURS_ALONE or value == field.default:
            continue
        if field.name not in known:
            if field.name in sizes:
                continue
            raise ValueError(
                f"{field.name}={value!r}: {_version()} has no such setting; leave it out, or upgrade transformers"
            )
        values[field.name] = _compile_config(value) if field.name in _COMPILE_CONFIGS else value
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # ours has warned already
        return target(**values)


def _check_for_text(config: ContinuousBatchingConfig) -> None:
    if config.scheduler_type not in SCHEDULERS:
        names = ", ".join(map(repr, SCHEDULERS))
        raise ValueError(f"scheduler_type={config.scheduler_type!r}: text generation has the schedulers {names}")
    default = attrs.fields(ContinuousBatchingConfig).max_overtake_seconds.default
    if config.max_overtake_seconds != default:
        raise ValueError(
            f"max_overtake_seconds={config.max_overtake_seconds!r}: belongs to the scheduler 'shortest', "
            "which text generation does not have; leave it out"
        )


def _compile_config(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    from transformers import CompileConfig

    return CompileConfig(**value)


def _installed_class() -> type[Any]:
    try:
        from transformers import ContinuousBatchingConfig as Installed
    except ImportError:
        raise RuntimeError(
            f"{_version()} has no continuous batching of the form TextAgent uses; upgrade transformers"
        ) from None
    return Installed  # type: ignore[no-any-return]


def _version() -> str:
    import transformers

    return f"transformers {transformers.__version__}"
