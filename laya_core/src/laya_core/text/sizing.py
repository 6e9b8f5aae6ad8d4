"""How large the key-value cache is where transformers would not measure it well: on the CPU."""

from __future__ import annotations

from typing import Any, Final

import psutil
import torch

from laya_core.batching.config import ContinuousBatchingConfig

_SHARE: Final = 0.25  # of the free memory, which other programs use too
_REQUESTS: Final = 64
_POSITIONS: Final = 4096
_BATCH_TOKENS: Final = 256


def cache_sizes(config: ContinuousBatchingConfig, model: Any) -> dict[str, int]:
    """Values for `num_blocks` and `max_batch_tokens` on the CPU; nothing for other devices, which are measured.

    The cache holds 64 requests of full length, or what fits into a quarter of the free memory
    (or into `max_memory_percent` of it), and at least one page.
    """
    if model.device.type != "cpu":
        return {}
    text = model.config.get_text_config()
    free = psutil.virtual_memory().available
    share = _SHARE if config.max_memory_percent is None else config.max_memory_percent
    wanted = _REQUESTS * min(getattr(text, "max_position_embeddings", None) or _POSITIONS, _POSITIONS)
    tokens = min(wanted, int(free * share) // token_bytes(text, model.dtype))
    return {"num_blocks": max(1, tokens // page_size(config)), "max_batch_tokens": _BATCH_TOKENS}


def page_size(config: ContinuousBatchingConfig) -> int:
    """Tokens in a page; `block_size` is the former name of `page_size`."""
    return config.block_size or config.page_size


def token_bytes(text: Any, dtype: torch.dtype) -> int:
    """Bytes that the cache takes for one token: keys and values of every layer."""
    heads: int = text.num_attention_heads
    key_value_heads = getattr(text, "num_key_value_heads", None) or heads
    width = getattr(text, "head_dim", None) or text.hidden_size // heads
    return int(2 * text.num_hidden_layers * key_value_heads * width * dtype.itemsize)
