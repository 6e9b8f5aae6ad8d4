"""ModernBERT (Warner et al., 2024, arXiv:2412.13663) as an encoder of hidden states: no dropout.

Pre-norm layers with rotary positions (Su et al., 2021, arXiv:2104.09864) and gated feed-forward parts; some layers look
at the whole row, the others no further than half a window to either side.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self

import torch
from attrs import frozen
from torch import Tensor, nn

from .parts import EncoderOutput, activation, attend, visible
from .settings import OutOfTheOrdinary, Settings
from .shape import EncoderShape

_FULL: Final = "full_attention"
_LOCAL: Final = "sliding_attention"
_THETAS: Final = {_FULL: ("global_rope_theta", 160_000.0), _LOCAL: ("local_rope_theta", 10_000.0)}
"""The setting that older configs have for the base of the rotary frequencies, and its default."""


@frozen
class ModernBertSettings:
    """Sizes of a ModernBERT encoder, named as in its config."""

    vocab_size: int
    hidden_size: int
    num_attention_heads: int
    intermediate_size: int
    hidden_activation: str
    max_position_embeddings: int
    norm_eps: float
    norm_bias: bool
    attention_bias: bool
    mlp_bias: bool
    half_window: int
    layer_types: tuple[str, ...]
    rope_thetas: Mapping[str, float]

    @property
    def shape(self) -> EncoderShape:
        """What the rest of the library knows of it."""
        half_window = self.half_window if _LOCAL in self.layer_types else None
        return EncoderShape(self.hidden_size, self.max_position_embeddings, half_window)

    @classmethod
    def read(cls, config: Mapping[str, Any]) -> Self | None:
        """The settings in a config; None for another encoder, or one with settings out of the ordinary."""
        if config.get("model_type") != "modernbert":
            return None
        given = Settings(config)
        try:
            given.require("rope_scaling")
            given.require("sliding_window", given.count("local_attention", 128) // 2)
            settings = cls(
                vocab_size=given.count("vocab_size", 50_368),
                hidden_size=given.count("hidden_size", 768),
                num_attention_heads=given.count("num_attention_heads", 12),
                intermediate_size=given.count("intermediate_size", 1_152),
                hidden_activation=given.activation("hidden_activation"),
                max_position_embeddings=given.count("max_position_embeddings", 8_192),
                norm_eps=given.number("norm_eps", 1e-5),
                norm_bias=given.flag("norm_bias"),
                attention_bias=given.flag("attention_bias"),
                mlp_bias=given.flag("mlp_bias"),
                half_window=given.count("local_attention", 128) // 2,
                layer_types=_layer_types(given),
                rope_thetas=_rope_thetas(given),
            )
        except OutOfTheOrdinary:
            return None
        return settings if settings.hidden_size % (2 * settings.num_attention_heads) == 0 else None


def _layer_types(given: Settings) -> tuple[str, ...]:
    layers = given.count("num_hidden_layers", 22)
    listed = given.values.get("layer_types")
    if listed is None:
        every = given.count("global_attn_every_n_layers", 3)
        return tuple(_LOCAL if number % every else _FULL for number in range(layers))
    if not isinstance(listed, list) or len(listed) != layers or not {*listed} <= {_FULL, _LOCAL}:
        raise OutOfTheOrdinary("layer_types")
    return tuple(listed)


def _rope_thetas(given: Settings) -> dict[str, float]:
    by_type = given.values.get("rope_parameters")
    if by_type is None:
        return {kind: given.number(name, default) for kind, (name, default) in _THETAS.items()}
    if not isinstance(by_type, Mapping) or not by_type.keys() <= _THETAS.keys():
        raise OutOfTheOrdinary("rope_parameters")
    thetas = {}
    for kind, (name, default) in _THETAS.items():
        parameters = by_type.get(kind, {})
        if not isinstance(parameters, Mapping) or not parameters.keys() <= {"rope_theta", "rope_type"}:
            raise OutOfTheOrdinary("rope_parameters")
        Settings(parameters).require("rope_type", "default")
        thetas[kind] = Settings(parameters).number("rope_theta", given.number(name, default))
    return thetas


class ModernBertEncoder(nn.Module):
    """Weight names are those of transformers' `ModernBertModel`."""

    def __init__(self, settings: ModernBertSettings) -> None:
        super().__init__()
        self._settings = settings
        width = settings.hidden_size
        self.embeddings = nn.ModuleDict(
            {"tok_embeddings": nn.Embedding(settings.vocab_size, width), "norm": _norm(settings)}
        )
        self.layers = nn.ModuleList(
            _Layer(settings, is_first=number == 0) for number in range(len(settings.layer_types))
        )
        self.final_norm = _norm(settings)

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | Mapping[str, Tensor], position_ids: Tensor | None = None
    ) -> EncoderOutput:
        """Hidden states of token ids, (rows, length).

        Args:
            attention_mask: one that `parts.visible` takes; local layers look no further than half a window in it. Or a
                finished mask for each kind of layer.
        """
        if position_ids is None:
            position_ids = torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        masks = self._masks(attention_mask, input_ids.shape[1])
        hidden = self.embeddings["norm"](self.embeddings["tok_embeddings"](input_ids))
        rotations = {
            kind: _rotation(position_ids, self._head_width, self._settings.rope_thetas[kind])
            for kind in dict.fromkeys(self._settings.layer_types)
        }
        for kind, layer in zip(self._settings.layer_types, self.layers, strict=True):
            hidden = layer(hidden, masks[kind], rotations[kind])
        return EncoderOutput(self.final_norm(hidden))

    @property
    def _head_width(self) -> int:
        return self._settings.hidden_size // self._settings.num_attention_heads

    def _masks(self, given: Tensor | Mapping[str, Tensor], length: int) -> Mapping[str, Tensor]:
        if not isinstance(given, Tensor):
            return given
        full = visible(given)
        if length <= self._settings.half_window + 1:
            return {_FULL: full, _LOCAL: full}
        place = torch.arange(length, device=given.device)
        near = (place[:, None] - place).abs() <= self._settings.half_window
        return {_FULL: full, _LOCAL: full & near}


class _Layer(nn.Module):
    def __init__(self, settings: ModernBertSettings, *, is_first: bool) -> None:
        super().__init__()
        self.attn_norm = nn.Identity() if is_first else _norm(settings)  # the embeddings are normalised already
        self.attn = _SelfAttention(settings)
        self.mlp_norm = _norm(settings)
        self.mlp = _GatedFeedForward(settings)

    def forward(self, hidden: Tensor, mask: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        hidden = hidden + self.attn(self.attn_norm(hidden), mask, rotation)
        transformed: Tensor = hidden + self.mlp(self.mlp_norm(hidden))
        return transformed


class _SelfAttention(nn.Module):
    def __init__(self, settings: ModernBertSettings) -> None:
        super().__init__()
        width = settings.hidden_size
        self.heads = settings.num_attention_heads
        self.Wqkv = nn.Linear(width, 3 * width, bias=settings.attention_bias)
        self.Wo = nn.Linear(width, width, bias=settings.attention_bias)

    def forward(self, hidden: Tensor, mask: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        query, key, value = self.Wqkv(hidden).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        output: Tensor = self.Wo(attend(_rotated(query, rotation), _rotated(key, rotation), value, mask))
        return output


class _GatedFeedForward(nn.Module):
    def __init__(self, settings: ModernBertSettings) -> None:
        super().__init__()
        inner = settings.intermediate_size
        self.Wi = nn.Linear(settings.hidden_size, 2 * inner, bias=settings.mlp_bias)
        self.Wo = nn.Linear(inner, settings.hidden_size, bias=settings.mlp_bias)
        self.activation = activation(settings.hidden_activation)

    def forward(self, hidden: Tensor) -> Tensor:
        passed, gate = self.Wi(hidden).chunk(2, dim=-1)
        output: Tensor = self.Wo(self.activation(passed) * gate)
        return output


def _norm(settings: ModernBertSettings) -> nn.LayerNorm:
    return nn.LayerNorm(settings.hidden_size, settings.norm_eps, bias=settings.norm_bias)


def _rotation(position_ids: Tensor, head_width: int, theta: float) -> tuple[Tensor, Tensor]:
    """Cosine and sine of every position's angles, in float32: (rows or 1, 1, length, head width / 2)."""
    exponents = torch.arange(0, head_width, 2, device=position_ids.device).float() / head_width
    angles = position_ids[:, None, :, None].float() * (1.0 / theta**exponents)
    return angles.cos(), angles.sin()


def _rotated(states: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Turns the pairs (i, i + half) of each head's numbers by the angles of their position."""
    cosine, sine = rotation
    first, second = states.float().chunk(2, dim=-1)
    turned = torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)
    return turned.to(states.dtype)
