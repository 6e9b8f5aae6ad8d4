"""What the encoders here have in common: attention, masks, activations and their output."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from torch import Tensor
from torch.nn import functional as F


class EncoderOutput(NamedTuple):
    """Hidden states of the last layer, (rows, length, width)."""

    last_hidden_state: Tensor


def activation(name: str) -> Callable[[Tensor], Tensor]:
    """The activation function with transformers' name."""
    return _ACTIVATIONS[name]


_ACTIVATIONS: Final[dict[str, Callable[[Tensor], Tensor]]] = {
    "gelu": F.gelu,
    "gelu_new": partial(F.gelu, approximate="tanh"),
    "gelu_pytorch_tanh": partial(F.gelu, approximate="tanh"),
    "relu": F.relu,
    "silu": F.silu,
}


def attend(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
    """Scaled dot-product attention with the heads side by side again: (rows, length, width).

    Args:
        query, key, value: (rows, heads, length, head width).
        mask: True where a token may look, (rows or 1, 1, length or 1, length).
    """
    mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return mixed.transpose(1, 2).flatten(2)


def visible(mask: Tensor) -> Tensor:
    """A mask for `attend` from one that tells real tokens from padding, (rows, length), or is one already.

    Args:
        mask: of bools or of ones and zeros.
    """
    mask = mask.bool()
    return mask if mask.dim() == 4 else mask[:, None, None, :]
