"""Loading weights: what is read, what is refused, and that nothing random happens."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from laya_core import Agent
from laya_core.config import CheckpointConfig
from laya_core.model import DecisionModel
from laya_core.weights import build_model, load_model

CPU = torch.device("cpu")
QUESTION = {"q": {"type": "choice", "instructions": "Which?", "criteria": ["a", "b", "c"]}}


def load(directory: Path, config: CheckpointConfig, dtype: torch.dtype = torch.float32) -> DecisionModel:
    return load_model(directory, config, CPU, dtype)


def change(directory: Path, **tensors: Tensor | None) -> None:
    """Replace weights of the file, or remove them with None; `__` stands for a dot."""
    path = directory / "model.safetensors"
    stored = {**load_file(path), **{name.replace("__", "."): tensor for name, tensor in tensors.items()}}
    path.unlink()  # the old file may be mapped
    save_file({name: tensor.contiguous() for name, tensor in stored.items() if tensor is not None}, path)


def all_in(directory: Path, dtype: torch.dtype) -> None:
    change(directory, **{name: tensor.to(dtype) for name, tensor in load_file(directory / "model.safetensors").items()})


def test_weights_are_those_of_the_file_bit_by_bit(checkpoint: Path, config: CheckpointConfig) -> None:
    model = load(checkpoint, config)
    stored = load_file(checkpoint / "model.safetensors")
    loaded = model.state_dict()
    assert loaded.keys() == stored.keys()
    assert all(torch.equal(loaded[name], stored[name]) for name in stored)
    assert {tensor.dtype for tensor in loaded.values()} == {torch.float32}
    assert not model.training
    assert not any(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize("name", ["bert", "modernbert", "modernbert-long", "modernbert-parallel"])
def test_loading_draws_no_random_number(name: str, checkpoints: Path, config: CheckpointConfig) -> None:
    before, python = torch.get_rng_state(), random.getstate()
    load(checkpoints / name, config)
    assert torch.equal(torch.get_rng_state(), before)
    assert random.getstate() == python


def test_modules_built_elsewhere_afterwards_are_initialised(checkpoint: Path, config: CheckpointConfig) -> None:
    torch.manual_seed(1)
    before = torch.nn.Linear(8, 8).weight
    load(checkpoint, config)
    torch.manual_seed(1)
    assert torch.equal(torch.nn.Linear(8, 8).weight, before)


@pytest.mark.parametrize("stored", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("wanted", [torch.float32, torch.bfloat16, torch.float16])
def test_weights_come_in_the_precision_asked_for_and_the_readout_in_float32(
    stored: torch.dtype, wanted: torch.dtype, checkpoint: Path, config: CheckpointConfig
) -> None:
    all_in(checkpoint, stored)
    file = load_file(checkpoint / "model.safetensors")
    for name, tensor in load(checkpoint, config, wanted).state_dict().items():
        in_float32 = name.startswith(("scorer.", "act_head."))
        assert tensor.dtype == (torch.float32 if in_float32 else wanted), name
        assert torch.equal(tensor, file[name].to(tensor.dtype)), name


def test_a_file_in_mixed_formats_is_converted(checkpoint: Path, config: CheckpointConfig) -> None:
    path = checkpoint / "model.safetensors"
    change(checkpoint, type_emb__weight=load_file(path)["type_emb.weight"].to(torch.float64))
    stored = load_file(path)
    loaded = load(checkpoint, config).state_dict()
    assert {tensor.dtype for tensor in loaded.values()} == {torch.float32}
    assert all(torch.equal(loaded[name], stored[name].float()) for name in stored)


def test_extra_weights_are_ignored(
    checkpoint: Path, config: CheckpointConfig, load_agent: Callable[..., Agent], agent: Agent
) -> None:
    change(checkpoint, decoder__weight=torch.ones(4, 4), encoder__pooler__bias=torch.ones(3, dtype=torch.int64))
    assert "decoder.weight" not in load(checkpoint, config).state_dict()
    with load_agent(checkpoint) as loaded:
        assert loaded.predict("text", QUESTION) == agent.predict("text", QUESTION)


def test_the_temperature_buffer_may_be_missing(checkpoint: Path, config: CheckpointConfig) -> None:
    change(checkpoint, temperature=None)
    load(checkpoint, config)


def test_the_temperature_buffer_is_not_read_by_decoding(
    checkpoint: Path, load_agent: Callable[..., Agent], agent: Agent
) -> None:
    change(checkpoint, temperature=torch.full((3,), 99.0))
    with load_agent(checkpoint) as loaded:
        assert loaded.predict("text", QUESTION) == agent.predict("text", QUESTION)


def test_a_missing_weight_is_named_with_its_file(checkpoint: Path, config: CheckpointConfig) -> None:
    change(checkpoint, scorer__3__bias=None)
    with pytest.raises(ValueError, match=r"scorer\.3\.bias") as refused:
        load(checkpoint, config)
    assert str(checkpoint / "model.safetensors") in str(refused.value)


def test_many_missing_weights_are_counted(checkpoint: Path, config: CheckpointConfig) -> None:
    names = [name for name in load_file(checkpoint / "model.safetensors") if name.startswith("head.")]
    change(checkpoint, **dict.fromkeys(names))
    with pytest.raises(ValueError, match=f"and {len(names) - 3} more weights"):
        load(checkpoint, config)


@pytest.mark.parametrize("shape", [(2, 64), (3, 63), (192,), (3, 64, 1)])
def test_a_shape_that_does_not_fit_is_named_with_both_shapes(
    shape: tuple[int, ...], checkpoint: Path, config: CheckpointConfig
) -> None:
    change(checkpoint, type_emb__weight=torch.zeros(shape))
    with pytest.raises(ValueError, match=r"type_emb\.weight") as refused:
        load(checkpoint, config)
    message = str(refused.value)
    assert str(shape) in message and "(3, 64)" in message and str(checkpoint / "model.safetensors") in message


@pytest.mark.parametrize("dtype", [torch.int64, torch.int8, torch.uint8, torch.bool, torch.complex64])
@pytest.mark.parametrize("wanted", [torch.float32, torch.bfloat16])
def test_a_weight_that_is_not_floating_point_is_named_with_its_file_and_dtype(
    dtype: torch.dtype, wanted: torch.dtype, checkpoint: Path, config: CheckpointConfig
) -> None:
    change(checkpoint, scorer__3__bias=torch.zeros(1, dtype=dtype))
    stored = {"int64": "I64", "int8": "I8", "uint8": "U8", "bool": "BOOL", "complex64": "C64"}
    with pytest.raises(ValueError, match="dtype") as refused:
        load(checkpoint, config, wanted)
    assert str(refused.value) == (
        f"{checkpoint / 'model.safetensors'} stores scorer.3.bias with dtype {stored[str(dtype)[6:]]}, but weights "
        "must be floating point; save the checkpoint as F32, F16 or BF16, or download it again"
    )


def test_many_weights_that_are_not_floating_point_are_counted(checkpoint: Path, config: CheckpointConfig) -> None:
    stored = load_file(checkpoint / "model.safetensors")
    names = [name for name in stored if name.startswith("head.")]
    change(checkpoint, **{name: stored[name].to(torch.int8) for name in names})
    with pytest.raises(ValueError, match=f"and {len(names) - 3} more weights with dtype I8, "):
        load(checkpoint, config)


def test_the_temperature_buffer_may_be_whole_numbers(
    checkpoint: Path, load_agent: Callable[..., Agent], agent: Agent
) -> None:
    change(checkpoint, temperature=torch.ones(3, dtype=torch.int64))
    with load_agent(checkpoint) as loaded:
        assert loaded.predict("text", QUESTION) == agent.predict("text", QUESTION)


@pytest.mark.parametrize("kept", [0, 7, 8, 100, 20_000, -1])
def test_a_file_that_was_cut_short_is_named(kept: int, checkpoint: Path, config: CheckpointConfig) -> None:
    path = checkpoint / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:kept])
    with pytest.raises(ValueError, match=str(path)):
        load(checkpoint, config)


@pytest.mark.parametrize("garbage", [b"garbage" * 1000, b"\x10" + b"\0" * 7 + b"{not json at all}", b"PK\x03\x04" * 64])
def test_a_file_that_is_no_safetensors_is_named(garbage: bytes, checkpoint: Path, config: CheckpointConfig) -> None:
    path = checkpoint / "model.safetensors"
    path.write_bytes(garbage)
    with pytest.raises(ValueError, match=str(path)):
        load(checkpoint, config)


@pytest.mark.parametrize("missing", ["model.safetensors", "encoder/config.json"])
def test_a_missing_file_is_named(missing: str, checkpoint: Path, config: CheckpointConfig) -> None:
    (checkpoint / missing).unlink()
    with pytest.raises(FileNotFoundError, match=str(checkpoint / missing)):
        load(checkpoint, config)


@pytest.mark.parametrize(
    "content",
    [
        "not json",
        "[]",
        "{}",
        '{"model_type": "no-such-model"}',
        '{"model_type": 5}',
        '{"model_type": "modernbert", "hidden_size": "wide"}',
        '{"model_type": "modernbert", "hidden_size": 65, "num_attention_heads": 2}',
        '{"model_type": "modernbert", "num_hidden_layers": -1, "layer_types": ["sideways"]}',
    ],
)
def test_an_encoder_that_cannot_be_built_is_refused_with_the_file(
    content: str, checkpoint: Path, config: CheckpointConfig
) -> None:
    path = checkpoint / "encoder" / "config.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=str(path)):
        load(checkpoint, config)


@pytest.mark.parametrize(
    "extra",
    [
        {"dtype": "bfloat16"},
        {"torch_dtype": "float16"},
        {"attn_implementation": "eager"},
        {"return_dict": False},
        {"output_attentions": True, "output_hidden_states": True},
    ],
)
def test_the_precision_attention_and_outputs_an_export_was_made_with_do_not_matter(
    extra: dict[str, object], checkpoint: Path, load_agent: Callable[..., Agent], agent: Agent
) -> None:
    path = checkpoint / "encoder" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **extra}))
    with load_agent(checkpoint) as loaded:
        assert loaded.predict("text", QUESTION) == agent.predict("text", QUESTION)


@pytest.mark.parametrize(("kind", "usable"), [("bert", 64), ("roberta", 62), ("xlm-roberta", 62)])
def test_positions_that_an_encoder_keeps_for_padding_are_no_room(
    kind: str, usable: int, tmp_path: Path, config: CheckpointConfig
) -> None:
    shape = {"vocab_size": 30, "hidden_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1}
    padding = {"pad_token_id": 0 if kind == "bert" else 1}
    settings = {"model_type": kind, **shape, **padding, "intermediate_size": 64, "max_position_embeddings": 64}
    (tmp_path / "config.json").write_text(json.dumps(settings))
    assert build_model(tmp_path / "config.json", config).shape.position_limit == usable


def test_a_checkpoint_can_be_moved_away_once_it_is_loaded(
    checkpoint: Path, load_agent: Callable[..., Agent], agent: Agent
) -> None:
    with load_agent(checkpoint) as loaded:
        shutil.rmtree(checkpoint)
        assert loaded.predict("text", QUESTION) == agent.predict("text", QUESTION)
