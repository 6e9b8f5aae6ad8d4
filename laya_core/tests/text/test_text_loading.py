"""Loading a text model: what it needs, and errors that name the file."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest
import torch

from laya_core.text import TextAgent


@pytest.fixture
def model_directory(text_checkpoint: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(text_checkpoint, tmp_path / "model"))


def test_an_agent_says_what_it_loaded(model_directory: Path) -> None:
    with TextAgent(model_directory, device="cpu", precision="bfloat16") as agent:
        assert (agent.model_id, agent.revision, agent.device) == (str(model_directory), None, "cpu")
        assert agent.dtype is torch.bfloat16 and agent.model.dtype is torch.bfloat16
        assert not agent.model.training and not any(weight.requires_grad for weight in agent.model.parameters())
        assert "bfloat16" in repr(agent)
    assert "closed" in repr(agent)
    assert (agent.device, agent.dtype) == ("cpu", torch.bfloat16)
    with pytest.raises(RuntimeError, match="is closed; load the model again"):
        agent.model  # noqa: B018


def test_loading_leaves_the_random_numbers_alone(model_directory: Path) -> None:
    before = torch.get_rng_state()
    TextAgent(model_directory, device="cpu").close()
    assert torch.equal(before, torch.get_rng_state())


def test_a_subfolder_is_found(model_directory: Path) -> None:
    with TextAgent(model_directory.parent, subfolder="model", device="cpu") as agent:
        assert agent.tokenizer is not None


def test_a_model_without_a_tokenizer_takes_tokens(model_directory: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        (model_directory / name).unlink()
    with TextAgent(model_directory, device="cpu") as agent:
        assert agent.tokenizer is None
        (output,) = agent.generate_batch([[1, 5, 6, 7]], max_new_tokens=4, do_sample=False).values()
        assert (output.generated_tokens, output.text) == ([56, 51, 83, 51], None)
        (refused,) = agent.generate_batch(["word5"]).values()
        assert refused.error is not None and "no tokenizer" in refused.error


def test_a_digest_is_checked_before_anything_is_read(model_directory: Path) -> None:
    digest = hashlib.sha256((model_directory / "config.json").read_bytes()).hexdigest()
    TextAgent(model_directory, device="cpu", expected_sha256={"config.json": digest}).close()
    (model_directory / "config.json").write_text("{")
    with pytest.raises(ValueError, match=r"config.json has SHA-256 .* expected"):
        TextAgent(model_directory, device="cpu", expected_sha256={"config.json": digest})


@pytest.mark.parametrize(
    ("file", "content", "kind", "message"),
    [
        ("config.json", None, FileNotFoundError, "config.json is missing"),
        ("config.json", b"{", ValueError, "config.json is not valid JSON"),
        ("config.json", b'{"model_type": "bert"}', ValueError, r"lacks \d+ weights of its model"),
        ("config.json", b'{"model_type": "nope"}', ValueError, "is not a model that generates text"),
        ("model.safetensors", None, FileNotFoundError, "has no .*safetensors file"),
        ("model.safetensors", b"abc", ValueError, "the weights are damaged or incomplete"),
        ("tokenizer.json", b"{}", ValueError, "the tokenizer cannot be read"),
    ],
)
def test_a_missing_or_damaged_file_is_named(
    model_directory: Path, file: str, content: bytes | None, kind: type[Exception], message: str
) -> None:
    (model_directory / file).unlink()
    if content is not None:
        (model_directory / file).write_bytes(content)
    with pytest.raises(kind, match=message) as caught:
        TextAgent(model_directory, device="cpu")
    assert str(model_directory) in str(caught.value)


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        TextAgent(tmp_path / "nowhere")
