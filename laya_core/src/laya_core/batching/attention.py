"""The attention implementation of passes: the fastest that this model, its weights and its layout allow.

For the encoders of transformers, which every device but the CPU has.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import torch

_SIXTEEN_BIT = (torch.float16, torch.bfloat16)


def friendly_attention(encoder: Any, dtype: torch.dtype, layout: str, auto_switch_to_flash: bool) -> str:
    """The implementation passes should use: flash attention where it is installed and applies, else sdpa.

    Flash attention needs a CUDA device, 16-bit weights and the sequential layout, as it takes no mask of its own.
    """
    current: str = encoder.config._attn_implementation
    if current not in ("sdpa", "eager"):
        return current
    on_cuda = next(encoder.parameters()).device.type == "cuda"
    fits = on_cuda and dtype in _SIXTEEN_BIT and layout == "sequential"
    if auto_switch_to_flash and fits and find_spec("flash_attn") is not None:
        return "flash_attention_2"
    return "sdpa"


def switch_attention(encoder: Any, implementation: str) -> Callable[[], None]:
    """Make `encoder` use an implementation, and return what puts the old one back. Both may be called again."""
    before: str = encoder.config._attn_implementation
    if before == implementation:
        return lambda: None
    encoder.set_attn_implementation(implementation)

    def restore() -> None:
        if encoder.config._attn_implementation == implementation:
            encoder.set_attn_implementation(before)

    return restore
