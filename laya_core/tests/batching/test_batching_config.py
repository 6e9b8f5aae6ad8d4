"""The config of the batching engine: every field of transformers' own, what is refused, and how it reaches an agent."""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from laya_core.batching import ContinuousBatchingConfig
from laya_hooks import load_agent as load_through_provider

TEXT_ONLY: dict[str, Any] = {
    "page_size": 16,
    "num_blocks": 10,
    "max_blocks_per_request": 0,
    "kv_padding_interval_size": 64,
    "decode_compile_config": {"dynamic": True},
    "safety_margin": 0.2,
    "cpu_offload_space": 1.0,
    "cpu_offload_space_safety_threshold": 0.5,
    "per_request_processors": True,
    "drop_unsupported_processors": False,
    "disable_nccl_graph_mixing": False,
    "cpu_group_timeout": None,
}

OUT_OF_RANGE: list[tuple[str, Any, str]] = [
    ("page_size", 0, "at least 1"),
    ("num_blocks", -1, "at least 1 or None"),
    ("max_batch_tokens", 0, "at least 1 or None"),
    ("max_batch_tokens", 2.5, "whole number"),
    ("max_batch_tokens", True, "whole number"),
    ("max_memory_percent", 0, "above 0 and at most 1"),
    ("max_memory_percent", 1.1, "above 0 and at most 1"),
    ("max_memory_percent", float("nan"), "above 0 and at most 1"),
    ("max_requests_per_batch", 0, "at least 1"),
    ("max_blocks_per_request", -1, "at least 0"),
    ("allow_block_sharing", "yes", "True or False"),
    ("use_async_batching", 1, "True, False or None"),
    ("use_cuda_graph", (True,), "a pair"),
    ("q_padding_interval_size", -1, "at least 0"),
    ("kv_padding_interval_size", -1, "at least 0"),
    ("varlen_compile_config", "max-autotune", "a mapping"),
    ("decode_compile_config", 3, "a mapping"),
    ("default_compile_level", 4, "from 0 to 3"),
    ("scheduler_type", "", "the name of a scheduler"),
    ("scheduler_type", None, "the name of a scheduler"),
    ("safety_margin", 1.5, "from 0 to 1"),
    ("return_logprobs", None, "True or False"),
    ("seed", -1, "at least 0 or None"),
    ("auto_switch_to_flash", 0, "True or False"),
    ("cpu_offload_space", -1.0, "at least 0"),
    ("cpu_offload_space_safety_threshold", 0.0, "above 0 and at most 1"),
    ("max_queue_size", -1, "at least 0"),
    ("per_request_processors", None, "True or False"),
    ("drop_unsupported_processors", None, "True or False"),
    ("disable_nccl_graph_mixing", None, "True or False"),
    ("cpu_group_timeout", 0, "above 0"),
    ("use_default_compile_configs", 1, "True, False or None"),
    ("max_cached_graphs", -1, "at least 0"),
    ("block_size", 0, "at least 1"),
    ("max_overtake_seconds", -0.1, "at least 0"),
]


@pytest.mark.parametrize(("name", "value", "allowed"), OUT_OF_RANGE)
def test_a_value_out_of_range_is_refused_by_field_value_and_range(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(ValueError, match="must be") as refused:
        ContinuousBatchingConfig(**{name: value})
    assert str(refused.value).startswith(f"{name}={value!r}: must be ")
    assert allowed in str(refused.value)


def test_every_field_but_the_text_only_ones_has_a_refused_value() -> None:
    assert {name for name, _, _ in OUT_OF_RANGE} == set(attrs.fields_dict(ContinuousBatchingConfig))


def test_names_order_and_defaults_are_those_of_transformers() -> None:
    theirs = pytest.importorskip("transformers").ContinuousBatchingConfig()
    ours = ContinuousBatchingConfig()
    shared = [name for name in attrs.fields_dict(ContinuousBatchingConfig) if name != "max_overtake_seconds"]
    assert shared == [name for name in vars(theirs) if name in shared]
    assert {name: getattr(ours, name) for name in shared} == {name: getattr(theirs, name) for name in shared}


@pytest.mark.parametrize("name", TEXT_ONLY)
def test_what_means_a_cache_or_decoding_is_refused_for_decisions(
    name: str, load_agent: Callable[..., Any], checkpoints: Path
) -> None:
    config = ContinuousBatchingConfig(**{name: TEXT_ONLY[name]})
    with pytest.raises(ValueError, match=f"{name}=.*only TextAgent"):
        config.check_for_decisions()
    with pytest.raises(ValueError, match=f"{name}="):
        load_agent(checkpoints / "bert", continuous_batching=config)


def test_graphs_of_decoding_are_refused_for_decisions() -> None:
    ContinuousBatchingConfig(use_cuda_graph=(True, False)).check_for_decisions()
    with pytest.raises(ValueError, match="decisions do not decode"):
        ContinuousBatchingConfig(use_cuda_graph=(True, True)).check_for_decisions()


@pytest.mark.parametrize(
    ("name", "value", "successor"),
    [
        ("use_default_compile_configs", True, "default_compile_level"),
        ("max_cached_graphs", 4, "not limited"),
        ("block_size", 32, "page_size"),
    ],
)
def test_deprecated_fields_are_accepted_with_a_warning_that_names_the_successor(
    name: str, value: Any, successor: str
) -> None:
    with pytest.warns(DeprecationWarning, match=successor):
        config = ContinuousBatchingConfig(**{name: value})
    config.check_for_decisions()
    assert config.compile_level == (1 if name == "use_default_compile_configs" else 0)


def test_the_defaults_warn_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ContinuousBatchingConfig().check_for_decisions()


def test_what_an_agent_takes_for_a_config() -> None:
    config = ContinuousBatchingConfig(max_batch_tokens=512)
    parse = ContinuousBatchingConfig.parse
    assert parse(None) is None
    assert parse(False) is None
    assert parse(True) == ContinuousBatchingConfig()
    assert parse(config) is config
    assert parse({"max_batch_tokens": 512}) == config
    with pytest.raises(ValueError, match="no field 'max_tokens'; the fields are page_size"):
        parse({"max_tokens": 1})
    with pytest.raises(TypeError, match="not int"):
        parse(3)


def test_the_provider_passes_the_option_on(checkpoints: Path) -> None:
    with pytest.raises(ValueError, match="max_queue_size=-1"):
        load_through_provider(str(checkpoints / "bert"), {"continuous_batching": {"max_queue_size": -1}})


def test_the_config_needs_no_torch() -> None:
    probe = "import sys, laya_core.batching as b; b.ContinuousBatchingConfig(); print('torch' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
