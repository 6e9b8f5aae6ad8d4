"""Encoders: what reads the tokens of a row.

On the CPU, BERT and ModernBERT run on modules of our own. They compute what transformers' do, with the same weight
names, and spare a process the seconds that importing transformers takes. Every other encoder, every setting out of the
ordinary and every other device get transformers' modules, with whatever attention kernels are installed for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import nn

from . import bert, modernbert
from .shape import EncoderShape

__all__ = ["EncoderShape", "build_encoder"]


def build_encoder(settings: Mapping[str, Any], device: torch.device) -> tuple[nn.Module, EncoderShape]:
    """The encoder that `settings`, the contents of an `encoder/config.json`, describe.

    Its `forward` takes `input_ids`, `attention_mask` and, where wanted, `position_ids`; its output has
    `last_hidden_state`, (rows, length, width).
    """
    if device.type == "cpu":
        if (bert_settings := bert.BertSettings.read(settings)) is not None:
            return bert.BertEncoder(bert_settings), bert_settings.shape
        if (modernbert_settings := modernbert.ModernBertSettings.read(settings)) is not None:
            return modernbert.ModernBertEncoder(modernbert_settings), modernbert_settings.shape
    from .from_transformers import build_encoder_of_transformers

    return build_encoder_of_transformers(settings)
