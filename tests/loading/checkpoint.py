"""Writes a checkpoint with 36 million random weights, most of them in the embedding, as in multilingual models.

    python checkpoint.py TEMPLATE TARGET

TEMPLATE is a small checkpoint whose tokenizer and configuration are taken. TARGET becomes a folder of two
checkpoints, `float32` and `float16`, called by the format of their weights.
"""

from __future__ import annotations

import json
import shutil
import sys
import warnings
from pathlib import Path

import torch
from safetensors.torch import save_file

from laya_core.config import CheckpointConfig
from laya_core.weights import build_model

ENCODER = {
    "vocab_size": 65_536,
    "hidden_size": 384,
    "intermediate_size": 576,
    "num_hidden_layers": 6,
    "num_attention_heads": 6,
    "layer_types": ["full_attention", "sliding_attention", "sliding_attention"] * 2,
}


def write(template: Path, target: Path) -> None:
    encoder = json.loads((template / "encoder" / "config.json").read_text(encoding="utf-8"))
    weights = None
    for name in ("float32", "float16"):
        directory = target / name
        shutil.copytree(template / "tokenizer", directory / "tokenizer")
        shutil.copy(template / "rl_agent_config.json", directory)
        (directory / "encoder").mkdir()
        (directory / "encoder" / "config.json").write_text(json.dumps({**encoder, **ENCODER}), encoding="utf-8")
        weights = weights or random_weights(directory)
        converted = {key: tensor.to(getattr(torch, name)) for key, tensor in weights.items()}
        save_file(converted, directory / "model.safetensors")


def random_weights(directory: Path) -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    config = CheckpointConfig.read(directory / "rl_agent_config.json")
    model = build_model(directory / "encoder" / "config.json", config)
    return {name: torch.rand(tensor.shape).sub_(0.5).mul_(0.1) for name, tensor in model.state_dict().items()}


if __name__ == "__main__":
    warnings.simplefilter("ignore", RuntimeWarning)  # the template holds a temperature that is clamped
    write(Path(sys.argv[1]), Path(sys.argv[2]))
