"""Which attention passes use, on an encoder of transformers."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from laya_core.batching.attention import friendly_attention, switch_attention
from laya_core.encoders.from_transformers import build_encoder_of_transformers

SMALL = {
    "model_type": "bert",
    "vocab_size": 20,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 1,
    "intermediate_size": 16,
}


@pytest.fixture
def encoder() -> Any:
    return build_encoder_of_transformers(SMALL)[0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_without_a_cuda_device_it_is_sdpa(encoder: Any, dtype: torch.dtype) -> None:
    encoder.set_attn_implementation("eager")
    assert friendly_attention(encoder, dtype, "sequential", auto_switch_to_flash=True) == "sdpa"


def test_a_switch_is_undone_once(encoder: Any) -> None:
    restore = switch_attention(encoder, "eager")
    assert encoder.config._attn_implementation == "eager"
    restore()
    assert encoder.config._attn_implementation == "sdpa"
    switch_attention(encoder, "eager")
    switch_attention(encoder, "sdpa")
    restore()
    assert encoder.config._attn_implementation == "sdpa"


def test_what_is_in_use_already_is_left(encoder: Any) -> None:
    switch_attention(encoder, "sdpa")()
    assert encoder.config._attn_implementation == "sdpa"
