"""BERT (Devlin et al., 2018, arXiv:1810.04805) as an encoder of hidden states: no pooler, no dropout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import torch
from attrs import frozen
from torch import Tensor, nn

from .parts import EncoderOutput, activation, attend, visible
from .settings import OutOfTheOrdinary, Settings
from .shape import EncoderShape


@frozen
class BertSettings:
    """Sizes of a BERT encoder, named as in its config."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    hidden_act: str
    max_position_embeddings: int
    type_vocab_size: int
    layer_norm_eps: float

    @property
    def shape(self) -> EncoderShape:
        """What the rest of the library knows of it."""
        return EncoderShape(self.hidden_size, self.max_position_embeddings)

    @classmethod
    def read(cls, config: Mapping[str, Any]) -> Self | None:
        """The settings in a config; None for another encoder, or one with settings out of the ordinary."""
        if config.get("model_type") != "bert":
            return None
        given = Settings(config)
        try:
            given.require("position_embedding_type", "absolute")
            given.require("is_decoder", False)
            given.require("add_cross_attention", False)
            settings = cls(
                vocab_size=given.count("vocab_size", 30_522),
                hidden_size=given.count("hidden_size", 768),
                num_hidden_layers=given.count("num_hidden_layers", 12),
                num_attention_heads=given.count("num_attention_heads", 12),
                intermediate_size=given.count("intermediate_size", 3_072),
                hidden_act=given.activation("hidden_act"),
                max_position_embeddings=given.count("max_position_embeddings", 512),
                type_vocab_size=given.count("type_vocab_size", 2),
                layer_norm_eps=given.number("layer_norm_eps", 1e-12),
            )
        except OutOfTheOrdinary:
            return None
        return settings if settings.hidden_size % settings.num_attention_heads == 0 else None


class BertEncoder(nn.Module):
    """Embeddings and post-norm transformer layers. Weight names are those of transformers' `BertModel`."""

    def __init__(self, settings: BertSettings) -> None:
        super().__init__()
        self.embeddings = _Embeddings(settings)
        self.encoder = nn.ModuleDict(
            {"layer": nn.ModuleList(_Layer(settings) for _ in range(settings.num_hidden_layers))}
        )

    def forward(self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor | None = None) -> EncoderOutput:
        """Hidden states of token ids, (rows, length); the mask is one that `parts.visible` takes."""
        mask = visible(attention_mask)
        hidden = self.embeddings(input_ids, position_ids)
        for layer in self.encoder["layer"]:  # type: ignore[attr-defined]
            hidden = layer(hidden, mask)
        return EncoderOutput(hidden)


class _Embeddings(nn.Module):
    def __init__(self, settings: BertSettings) -> None:
        super().__init__()
        width = settings.hidden_size
        self.word_embeddings = nn.Embedding(settings.vocab_size, width)
        self.position_embeddings = nn.Embedding(settings.max_position_embeddings, width)
        self.token_type_embeddings = nn.Embedding(settings.type_vocab_size, width)
        self.LayerNorm = nn.LayerNorm(width, settings.layer_norm_eps)

    def forward(self, input_ids: Tensor, position_ids: Tensor | None) -> Tensor:
        if position_ids is None:
            position_ids = torch.arange(input_ids.shape[1], device=input_ids.device)
        words, places = self.word_embeddings(input_ids), self.position_embeddings(position_ids)
        normed: Tensor = self.LayerNorm(words + self.token_type_embeddings.weight[0] + places)
        return normed


class _Layer(nn.Module):
    def __init__(self, settings: BertSettings) -> None:
        super().__init__()
        width, eps = settings.hidden_size, settings.layer_norm_eps
        self.attention = nn.ModuleDict({"self": _SelfAttention(settings), "output": _Output(width, width, eps)})
        self.intermediate = nn.ModuleDict({"dense": nn.Linear(width, settings.intermediate_size)})
        self.output = _Output(settings.intermediate_size, width, eps)
        self.activation = activation(settings.hidden_act)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        hidden = self.attention["output"](self.attention["self"](hidden, mask), hidden)
        transformed: Tensor = self.output(self.activation(self.intermediate["dense"](hidden)), hidden)
        return transformed


class _SelfAttention(nn.Module):
    def __init__(self, settings: BertSettings) -> None:
        super().__init__()
        width = settings.hidden_size
        self.heads = settings.num_attention_heads
        self.query, self.key, self.value = nn.Linear(width, width), nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, hidden: Tensor, mask: Tensor) -> Tensor:
        query, key, value = (
            projection(hidden).unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for projection in (self.query, self.key, self.value)
        )
        return attend(query, key, value, mask)


class _Output(nn.Module):
    """A projection, added to what came before it and normalised."""

    def __init__(self, inner: int, width: int, eps: float) -> None:
        super().__init__()
        self.dense = nn.Linear(inner, width)
        self.LayerNorm = nn.LayerNorm(width, eps)

    def forward(self, inner: Tensor, before: Tensor) -> Tensor:
        normed: Tensor = self.LayerNorm(self.dense(inner) + before)
        return normed
