"""The decision model: an encoder, a small transformer head, a scorer over option markers and an act head."""

from __future__ import annotations

from typing import Any, Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .encoders import EncoderShape

_HEAD_DIM: Final = 64
_ACT_WIDTH: Final = 256
_PADDED_LOGIT: Final = -1e4
_MOST_OPTIONS: Final = 255
FLOAT32_PARTS: Final = ("scorer.", "act_head.")
"""Weights that stay in float32 whatever the precision: they are small, and their output is reported."""


class SelfAttention(nn.Module):
    """Multi-head self-attention with the fused input projection of `nn.MultiheadAttention` (same weight names)."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.heads = max(1, width // _HEAD_DIM)
        self.in_proj_weight = nn.Parameter(torch.empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(torch.zeros(3 * width))
        self.out_proj = nn.Linear(width, width)
        nn.init.xavier_uniform_(self.in_proj_weight)

    def forward(self, hidden: Tensor, attend: Tensor, asking: Tensor) -> Tensor:
        """What the states in `asking`, (rows, asked, width), find in `hidden`, (rows, length, width)."""
        rows, length, width = hidden.shape
        asked, head_width = asking.shape[1], width // self.heads
        query = F.linear(asking, self.in_proj_weight[:width], self.in_proj_bias[:width])
        offered = F.linear(hidden, self.in_proj_weight[width:], self.in_proj_bias[width:])
        query = query.view(rows, asked, self.heads, head_width).transpose(1, 2)
        key, value = offered.view(rows, length, 2, self.heads, head_width).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=attend)
        output: Tensor = self.out_proj(mixed.transpose(1, 2).flatten(2))
        return output


class HeadLayer(nn.Module):
    """A pre-norm transformer encoder layer: feed-forward 4d, ReLU, no dropout."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.self_attn = SelfAttention(width)
        self.linear1 = nn.Linear(width, 4 * width)
        self.linear2 = nn.Linear(4 * width, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)

    def forward(self, hidden: Tensor, attend: Tensor, places: Tensor | None = None) -> Tensor:
        """New states of all tokens, or of those at `places`, (rows, asked), alone: (rows, asked, width)."""
        normed = self.norm1(hidden)
        if places is not None:
            hidden = take(hidden, places)
        hidden = hidden + self.self_attn(normed, attend, normed if places is None else take(normed, places))
        transformed: Tensor = self.linear2(F.relu(self.linear1(self.norm2(hidden))))
        return hidden + transformed


class DecisionHead(nn.Module):
    """`head_layers` transformer layers over the encoder's hidden states."""

    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(HeadLayer(width) for _ in range(layers))

    def forward(self, hidden: Tensor, attend: Tensor, places: Tensor) -> Tensor:
        """The last layer's states at `places`, (rows, asked, width); it computes no others."""
        if not self.layers:
            return take(hidden, places)
        *lower, last = self.layers
        for layer in lower:
            hidden = layer(hidden, attend)
        states: Tensor = last(hidden, attend, places)
        return states


class DecisionModel(nn.Module):
    """Scores every option of a batch of rows in one forward pass.

    Args:
        encoder: called as `encoders.build_encoder` describes.
        shape: the encoder's sizes.
        head_layers: number of transformer layers behind the encoder.
        actions: outputs of the act head.
    """

    def __init__(self, encoder: nn.Module, shape: EncoderShape, head_layers: int, actions: int) -> None:
        super().__init__()
        width = shape.width
        self.shape = shape
        self.encoder = encoder
        self.type_emb = nn.Embedding(3, width)
        self.head = DecisionHead(width, head_layers)
        self.scorer = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 1))
        self.act_head = nn.Sequential(nn.Linear(width + 4, _ACT_WIDTH), nn.GELU(), nn.Linear(_ACT_WIDTH, actions))
        self.register_buffer("temperature", torch.ones(3))

    def keep_readout_in_float32(self) -> None:
        """Turn the weights of `FLOAT32_PARTS` into float32."""
        self.scorer.float()
        self.act_head.float()

    def forward(
        self,
        input_ids: Tensor,
        padding_mask: Tensor,
        type_ids: Tensor,
        markers: Tensor,
        marker_mask: Tensor,
        position_ids: Tensor | None = None,
        encoder_mask: Any = None,
    ) -> tuple[Tensor, Tensor]:
        """Option logits and act logits.

        Args:
            input_ids: token ids, (rows, length).
            padding_mask: True at real tokens, (rows, length).
            type_ids: 0 choice, 1 score, 2 noul, (rows,).
            markers: places of the option markers, (rows, options); padded places hold any valid index.
            marker_mask: True at real markers, (rows, options).
            position_ids: positions of the parallel layout, (rows, length).
            encoder_mask: the encoder's own attention mask where it differs from `padding_mask` (parallel layout).

        Returns:
            Logits (rows, options), padded options at -1e4, and act logits (rows, actions); both float32.
        """
        positions = {} if position_ids is None else {"position_ids": position_ids}
        mask = padding_mask.long() if encoder_mask is None else encoder_mask
        hidden = self.encoder(input_ids=input_ids, attention_mask=mask, **positions).last_hidden_state
        hidden = hidden + self.type_emb(type_ids).unsqueeze(1)
        read = torch.cat([torch.zeros_like(markers[:, :1]), markers], dim=1)  # the first token speaks for the row
        states = self.head(hidden, padding_mask[:, None, None, :], read).float()
        logits = self.scorer(states[:, 1:]).squeeze(-1).masked_fill(~marker_mask, _PADDED_LOGIT)
        features = torch.cat([states[:, 0], _uncertainty(logits, marker_mask)], dim=-1)
        return logits, self.act_head(features)


def take(hidden: Tensor, places: Tensor) -> Tensor:
    """The states of `hidden`, (rows, length, width), at `places`, (rows, asked): (rows, asked, width)."""
    return hidden.gather(1, places.unsqueeze(-1).expand(-1, -1, hidden.shape[-1]))


def _uncertainty(logits: Tensor, marker_mask: Tensor) -> Tensor:
    """Top probability, its margin, normalised entropy and option count of each row, (rows, 4)."""
    probabilities = logits.softmax(-1)
    best = probabilities.topk(min(2, logits.shape[-1]), dim=-1).values
    top = best[:, 0]
    margin = top - best[:, 1] if best.shape[-1] > 1 else top
    entropy = -(probabilities * probabilities.clamp_min(1e-12).log()).sum(-1)
    at_least_two = marker_mask.sum(-1).clamp_min(2).float()
    return torch.stack([top, margin, entropy / at_least_two.log(), at_least_two / _MOST_OPTIONS], dim=-1)


def parallel_masks(segments: Tensor, position_ids: Tensor, half_window: int | None) -> dict[str, Tensor] | Tensor:
    """Attention masks of the parallel layout, True where a token may look, (rows, 1, length, length).

    Args:
        segments: 0 for tokens everyone sees, n for option n, -1 for padding, (rows, length).
        position_ids: (rows, length).
        half_window: how far local layers look in position ids; None for an encoder without local layers.

    Returns:
        One mask, or a mask for each layer type of an encoder with local layers.
    """
    query, key = segments[:, :, None], segments[:, None, :]
    full = ((query == key) | (query <= 0) | (key == 0)) & (key >= 0)
    full = full[:, None]
    if half_window is None:
        return full
    near = (position_ids[:, :, None] - position_ids[:, None, :]).abs() <= half_window
    return {"full_attention": full, "sliding_attention": full & near[:, None]}
