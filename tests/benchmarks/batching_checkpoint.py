"""The benchmark checkpoint: ModernBERT, 12 layers, width 384, random weights; anyone can make it again."""

from __future__ import annotations

import json
import shutil
import warnings
from pathlib import Path

import torch
from safetensors.torch import save_file

from laya_core.config import CheckpointConfig
from laya_core.weights import build_model

TEMPLATE = Path(__file__).parents[1] / "parity" / "checkpoints" / "modernbert"
ENCODER = {
    "hidden_size": 384,
    "intermediate_size": 576,
    "num_hidden_layers": 12,
    "num_attention_heads": 6,
    "layer_types": ["full_attention", "sliding_attention", "sliding_attention"] * 4,
    "max_position_embeddings": 512,
}
BUDGETS = {"max_len": 512, "head_max_len": 192}


def write_checkpoint(directory: Path) -> Path:
    """Write the checkpoint to `directory` and return it."""
    shutil.copytree(TEMPLATE / "tokenizer", directory / "tokenizer")
    for name, changes in (("rl_agent_config.json", BUDGETS), ("encoder/config.json", ENCODER)):
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        data = json.loads((TEMPLATE / name).read_text(encoding="utf-8"))
        target.write_text(json.dumps({**data, **changes}), encoding="utf-8")
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # the template holds a temperature that is clamped
        config = CheckpointConfig.read(directory / "rl_agent_config.json")
    model = build_model(directory / "encoder" / "config.json", config)
    weights = {name: torch.rand(tensor.shape).sub_(0.5).mul_(0.1) for name, tensor in model.state_dict().items()}
    save_file(weights, directory / "model.safetensors")
    return directory
