"""The model before training: MiniLM with a pruned vocabulary and a head that starts as an identity, or a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load_file
from torch import nn
from transformers import AutoModel

from laya_core.config import CheckpointConfig
from laya_core.encoders import EncoderShape
from laya_core.encoders.from_transformers import build_encoder_of_transformers
from laya_core.model import DecisionModel
from training.config import Recipe

_DROPPED_SETTINGS = (
    "_name_or_path",
    "gradient_checkpointing",
    "transformers_version",
    "position_embedding_type",
)


def write_encoder_config(encoder: Path, vocabulary_size: int, target: Path) -> None:
    """Writes MiniLM's config for the pruned vocabulary as `encoder/config.json`."""
    settings = json.loads((encoder / "config.json").read_text(encoding="utf-8"))
    settings = {key: value for key, value in settings.items() if key not in _DROPPED_SETTINGS}
    settings |= {
        "vocab_size": vocabulary_size,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
    }
    target.mkdir(parents=True, exist_ok=True)
    (target / "config.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")


def build_starting_model(encoder: Path, kept: list[int], recipe: Recipe) -> DecisionModel:
    """MiniLM's weights from `encoder`, the embeddings of the `kept` token ids, and a fresh decision head.

    Dropout is off: the schedule is too short for the model to need it.
    """
    torch.manual_seed(recipe.seed)
    minilm = AutoModel.from_pretrained(
        encoder, attn_implementation="sdpa", hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0
    )
    embeddings = minilm.get_input_embeddings().weight.detach()[kept].clone()
    minilm.set_input_embeddings(nn.Embedding.from_pretrained(embeddings, padding_idx=0))  # type: ignore[no-untyped-call]
    minilm.config.vocab_size = len(kept)
    model = DecisionModel(minilm, EncoderShape(minilm.config.hidden_size), recipe.head_layers, actions=1)
    nn.init.normal_(model.type_emb.weight, std=0.02)
    for name, parameter in model.named_parameters():
        if name.startswith("act_head.") or (name.startswith("head.") and (".out_proj." in name or ".linear2." in name)):
            nn.init.zeros_(parameter)
    freeze(model, recipe.frozen_layers)
    return model


def build_from_checkpoint(checkpoint: Path, recipe: Recipe) -> DecisionModel:
    """The weights of a checkpoint that this recipe made, to be trained further.

    The encoder is transformers', which keeps the weights that only it asks for, such as those of the pooler.
    """
    config = CheckpointConfig.read(checkpoint / "rl_agent_config.json")
    settings = json.loads((checkpoint / "encoder" / "config.json").read_text(encoding="utf-8"))
    encoder, shape = build_encoder_of_transformers(settings)
    model = DecisionModel(encoder, shape, config.head_layers, config.action_count)
    weights = load_file(checkpoint / "model.safetensors")
    model.load_state_dict({name: weight.float() for name, weight in weights.items()})
    freeze(model, recipe.frozen_layers)
    return model


def freeze(model: DecisionModel, layers: int) -> None:
    """Keeps MiniLM's embeddings, its lowest layers, and what no loss reaches."""
    lowest = (f"encoder.encoder.layer.{number}." for number in range(layers))
    frozen = ("encoder.embeddings.", "encoder.pooler.", "act_head.", *lowest)
    for name, parameter in model.named_parameters():
        if name.startswith(frozen):
            parameter.requires_grad_(False)
