"""Writes a trained model in the published checkpoint layout."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file

from laya_core.model import DecisionModel
from training.calibrate import fit_temperatures
from training.examples import Example
from training.measure import answers
from training.rows import OPTION_LAYOUT, RowEncoder

_MAX_LEN, _HEAD_MAX_LEN = 512, 192


def export_checkpoint(model: DecisionModel, held_out: Sequence[Example], skeleton: Path, target: Path) -> None:
    """Fits temperatures on `held_out` and writes everything to `target`, weights in half precision.

    `skeleton` has the tokenizer and the encoder config.
    """
    encoder = RowEncoder(skeleton / "tokenizer", _MAX_LEN)
    logits = answers(model, encoder, [encoder.encode(example) for example in held_out])
    by_type, by_options = fit_temperatures(held_out, logits)
    target.mkdir(parents=True, exist_ok=True)
    for folder in ("tokenizer", "encoder"):
        shutil.copytree(skeleton / folder, target / folder, dirs_exist_ok=True)
    _write_weights(model, by_type, target / "model.safetensors")
    config = {
        "encoder": "encoder",
        "head_layers": len(model.head.layers),
        "act_costs": {},
        "max_len": _MAX_LEN,
        "head_max_len": _HEAD_MAX_LEN,
        "amp_dtype": "bf16",
        "temperature": by_type,
        "temperature_by_options": by_options,
        "option_layout": OPTION_LAYOUT,
    }
    (target / "rl_agent_config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")


def _write_weights(model: DecisionModel, temperature: list[float], path: Path) -> None:
    weights = {
        name: tensor.detach().to(torch.float16).contiguous()
        for name, tensor in model.state_dict().items()
        if tensor.is_floating_point()
    }
    weights["temperature"] = torch.tensor(temperature)
    save_file(weights, path)
    path.chmod(0o644)  # safetensors leaves it readable for the owner alone
