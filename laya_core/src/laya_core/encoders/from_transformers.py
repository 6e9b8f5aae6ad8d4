"""Encoders of transformers, for every architecture it has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from torch import nn

from .shape import EncoderShape

_OUTPUT_SETTINGS: Final = {"return_dict": True, "output_hidden_states": False, "output_attentions": False}
"""What the model reads of an encoder's output, whatever the encoder was saved with."""


def build_encoder_of_transformers(settings: Mapping[str, Any]) -> tuple[nn.Module, EncoderShape]:
    """The bare model of the architecture that `settings` name, with sdpa attention and parameters nobody drew."""
    from transformers import MODEL_MAPPING, AutoConfig

    named = {**settings, **_OUTPUT_SETTINGS}
    config = AutoConfig.for_model(named.pop("model_type", ""), **named)
    encoder_class = MODEL_MAPPING[type(config)]
    uninitialised: Any = type(encoder_class.__name__, (encoder_class,), {"_init_weights": lambda self, module: None})
    encoder = uninitialised._from_config(config, attn_implementation="sdpa")
    encoder.__class__ = encoder_class
    return encoder, _shape(encoder)


def _shape(encoder: Any) -> EncoderShape:
    has_local_layers = "sliding_attention" in (getattr(encoder.config, "layer_types", None) or ())
    half_window = getattr(encoder.config, "sliding_window", None) if has_local_layers else None
    return EncoderShape(encoder.config.hidden_size, _position_limit(encoder), half_window)


def _position_limit(encoder: Any) -> int | None:
    """Encoders of RoBERTa's kind number positions from behind the padding id and lose as many."""
    limit = getattr(encoder.config, "max_position_embeddings", None)
    if not isinstance(limit, int) or limit <= 0:
        return None
    table = getattr(getattr(encoder, "embeddings", None), "position_embeddings", None)
    padding = getattr(table, "padding_idx", None)
    return limit if padding is None else limit - padding - 1
