"""Our config as transformers' own: every field, and what the installed version lacks."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import attrs
import pytest
from transformers import CompileConfig
from transformers import ContinuousBatchingConfig as Transformers

from laya_core.batching.config import ContinuousBatchingConfig
from laya_core.text.conversion import to_transformers

CHANGED: dict[str, Any] = {
    "page_size": 32,
    "num_blocks": 7,
    "max_batch_tokens": 128,
    "max_memory_percent": 0.5,
    "max_requests_per_batch": 3,
    "max_blocks_per_request": 4,
    "allow_block_sharing": False,
    "use_async_batching": False,
    "use_cuda_graph": (False, False),
    "q_padding_interval_size": 16,
    "kv_padding_interval_size": 32,
    "default_compile_level": 1,
    "scheduler_type": "prefill_first",
    "safety_margin": 0.2,
    "return_logprobs": True,
    "seed": 5,
    "auto_switch_to_flash": False,
    "cpu_offload_space": 1.5,
    "cpu_offload_space_safety_threshold": 0.5,
    "max_queue_size": 9,
    "per_request_processors": True,
    "drop_unsupported_processors": False,
    "disable_nccl_graph_mixing": False,
    "cpu_group_timeout": 10.0,
}
DEPRECATED = {"use_default_compile_configs", "max_cached_graphs", "block_size"}
COMPILED = {"varlen_compile_config", "decode_compile_config"}


@dataclass
class Older:
    """A config class of a transformers release with fewer fields."""

    max_batch_tokens: int | None = None
    scheduler_type: str = "fifo"


def test_the_changed_fields_cover_the_config() -> None:
    names = {field.name for field in attrs.fields(ContinuousBatchingConfig)}
    assert names == CHANGED.keys() | DEPRECATED | COMPILED | {"max_overtake_seconds"}


def test_defaults_stay_defaults() -> None:
    assert to_transformers(ContinuousBatchingConfig()) == Transformers()


@pytest.mark.parametrize("name", CHANGED)
def test_every_field_arrives(name: str) -> None:
    converted = to_transformers(ContinuousBatchingConfig(**{name: CHANGED[name]}))
    assert converted == Transformers(**{name: CHANGED[name]})
    assert converted != Transformers()


@pytest.mark.parametrize("name", sorted(COMPILED))
def test_compile_settings_arrive_as_a_mapping_or_as_they_are(name: str) -> None:
    of_mapping = to_transformers(ContinuousBatchingConfig(**{name: {"dynamic": True}}))
    assert getattr(of_mapping, name).dynamic is True and isinstance(getattr(of_mapping, name), CompileConfig)
    settings = CompileConfig(fullgraph=False)
    assert getattr(to_transformers(ContinuousBatchingConfig(**{name: settings})), name) is settings


def test_a_deprecated_field_warns_once_and_arrives() -> None:
    with pytest.warns(DeprecationWarning, match="block_size is deprecated: use page_size"):
        config = ContinuousBatchingConfig(block_size=64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        converted = to_transformers(config)
    assert 64 in (converted.page_size, converted.block_size)


def test_sizes_fill_what_is_open_and_nothing_else() -> None:
    converted = to_transformers(
        ContinuousBatchingConfig(num_blocks=3), {"num_blocks": 8, "max_batch_tokens": 256, "unheard_of": 1}
    )
    assert (converted.num_blocks, converted.max_batch_tokens) == (3, 256)


def test_fields_an_older_transformers_lacks_are_left_out_at_their_default() -> None:
    assert to_transformers(ContinuousBatchingConfig(max_batch_tokens=8), {"num_blocks": 4}, Older) == Older(8)


def test_a_set_field_an_older_transformers_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match=r"page_size=64: transformers [\d.]+ has no such setting; .* upgrade"):
        to_transformers(ContinuousBatchingConfig(page_size=64), target=Older)


def test_schedulers_are_those_of_transformers() -> None:
    with pytest.raises(ValueError, match=r"scheduler_type='shortest': text generation has .*'fifo', 'prefill_first'"):
        to_transformers(ContinuousBatchingConfig(scheduler_type="shortest"))


def test_a_field_of_decisions_alone_is_refused() -> None:
    with pytest.raises(ValueError, match=r"max_overtake_seconds=1.0: belongs to the scheduler 'shortest'"):
        to_transformers(ContinuousBatchingConfig(max_overtake_seconds=1.0))
