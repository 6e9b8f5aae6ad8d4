from __future__ import annotations

import json
import string
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file
from tokenizers import Tokenizer
from training.config import Recipe
from training.starting_model import build_from_checkpoint

from laya_core.encoders.from_transformers import build_encoder_of_transformers
from laya_mini import CHECKPOINT
from laya_mini.plugin import laya_checkpoint_descriptions, laya_checkpoints

LAYOUT = (
    "rl_agent_config.json",
    "model.safetensors",
    "encoder/config.json",
    "tokenizer/tokenizer.json",
    "tokenizer/tokenizer_config.json",
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer.from_file(str(CHECKPOINT / "tokenizer" / "tokenizer.json"))


def test_plugin_names_the_packaged_directory() -> None:
    assert laya_checkpoints() == {"mini": str(CHECKPOINT)}
    assert laya_checkpoint_descriptions().keys() == {"mini"}


def test_checkpoint_has_exactly_the_published_layout() -> None:
    files = {path.relative_to(CHECKPOINT).as_posix() for path in CHECKPOINT.rglob("*") if path.is_file()}
    assert files == set(LAYOUT)


def test_checkpoint_stays_under_fifty_megabytes() -> None:
    assert sum((CHECKPOINT / name).stat().st_size for name in LAYOUT) <= 50_000_000


def test_vocabulary_and_embedding_table_agree(tokenizer: Tokenizer) -> None:
    settings = json.loads(Path(CHECKPOINT / "encoder" / "config.json").read_text(encoding="utf-8"))
    assert tokenizer.get_vocab_size() == settings["vocab_size"]


def test_every_temperature_is_one_that_decoding_accepts_unclamped() -> None:
    config = json.loads((CHECKPOINT / "rl_agent_config.json").read_text(encoding="utf-8"))
    temperatures = [*config["temperature"], *config["temperature_by_options"].values()]
    assert len(config["temperature"]) == 3
    assert all(0.5 <= temperature <= 5.0 for temperature in temperatures)


@pytest.mark.parametrize("first", ["", "a", "Z", "7"])
def test_printable_ascii_is_never_unknown(tokenizer: Tokenizer, first: str) -> None:
    text = " ".join(first + character for character in string.printable if not character.isspace())
    assert "[UNK]" not in tokenizer.encode(text).tokens


def test_words_without_a_token_of_their_own_are_read_in_pieces(tokenizer: Tokenizer) -> None:
    encoded = tokenizer.encode("Zxqwvyl paradigmatically 0x7fQ3", add_special_tokens=False)
    assert "[UNK]" not in encoded.tokens
    assert len(encoded.tokens) > 3


def test_every_weight_of_transformers_encoder_is_there_for_devices_that_run_it() -> None:
    settings = json.loads((CHECKPOINT / "encoder" / "config.json").read_text(encoding="utf-8"))
    encoder, _ = build_encoder_of_transformers(settings)
    stored = safe_open(CHECKPOINT / "model.safetensors", framework="pt").keys()
    assert {f"encoder.{name}" for name in encoder.state_dict()} <= set(stored)


def test_a_checkpoint_that_is_trained_further_keeps_all_its_weights() -> None:
    model = build_from_checkpoint(CHECKPOINT, Recipe())
    stored = load_file(CHECKPOINT / "model.safetensors")
    assert model.state_dict().keys() == stored.keys()
    assert all(torch.equal(weight, stored[name].float()) for name, weight in model.state_dict().items())
