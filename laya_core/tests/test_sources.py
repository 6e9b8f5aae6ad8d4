"""Where a checkpoint comes from when it is a directory, and digests; the Hub has tests of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laya_core import Agent, load, sources
from laya_core.sources import find_checkpoint, verify_digests
from laya_hooks import hookimpl
from laya_hooks.testing import plugged


def test_a_directory_is_found_by_text_path_and_from_home(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(checkpoint.parent))
    monkeypatch.chdir(checkpoint.parent)
    for source in [str(checkpoint), checkpoint, "~/checkpoint", "./checkpoint", "checkpoint/", "checkpoint"]:
        found = find_checkpoint(source)
        assert found.directory.resolve() == checkpoint.resolve()
        assert found.revision is None
        assert found.model_id == str(source)


def test_a_subfolder_is_looked_for_inside(checkpoint: Path) -> None:
    assert find_checkpoint(checkpoint.parent, subfolder="checkpoint").directory == checkpoint
    assert find_checkpoint((str(checkpoint.parent), "checkpoint")).directory == checkpoint
    assert find_checkpoint((str(checkpoint), None)).directory == checkpoint
    assert find_checkpoint((str(checkpoint.parent), "other"), subfolder="checkpoint").directory == checkpoint


def test_a_missing_subfolder_is_named(checkpoint: Path) -> None:
    with pytest.raises(FileNotFoundError, match="check the subfolder 'nowhere'") as missing:
        find_checkpoint(checkpoint, subfolder="nowhere")
    assert str(checkpoint / "nowhere") in str(missing.value)


@pytest.mark.parametrize("folder", ["../elsewhere", "a/../../b", "/etc", ".."])
def test_a_subfolder_does_not_lead_out(folder: str, checkpoint: Path) -> None:
    with pytest.raises(ValueError, match="relative path inside the checkpoint"):
        find_checkpoint(checkpoint, subfolder=folder)


@pytest.mark.parametrize(
    "source", ["/no/such/place", "./nowhere", "../nowhere", "~/no-such-place", "no/such/", "a/b/c"]
)
def test_a_missing_directory_is_named(source: str) -> None:
    with pytest.raises(FileNotFoundError, match="check the path"):
        find_checkpoint(source)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        find_checkpoint(Path("nowhere"))


def test_a_subfolder_or_digests_of_another_type_are_named(checkpoint: Path) -> None:
    wrong: Any = 5
    with pytest.raises(TypeError, match="5 must be a relative path inside the checkpoint"):
        find_checkpoint(checkpoint, subfolder=wrong)
    with pytest.raises(TypeError, match="expected_sha256 maps relative paths to hex digests, not 5"):
        verify_digests(checkpoint, wrong)


@pytest.mark.parametrize("source", ["no-such-model", "", "what is this", "owner/na me", "https:model"])
def test_what_can_be_neither_directory_nor_hub_id_is_refused(source: str) -> None:
    with pytest.raises(ValueError, match="unknown checkpoint"):
        find_checkpoint(source)


@pytest.mark.parametrize(
    ("source", "end"),
    [
        ("minni", "are known: large, mini; did you mean 'mini'?"),
        ("Larg", "are known: large, mini; did you mean 'large'?"),
        ("bigger", "are known: large, mini; did you mean 'big'?"),
        ("weather", "are known: large, mini"),
    ],
)
def test_an_unknown_name_is_told_with_those_there_are_and_the_one_it_may_mean(source: str, end: str) -> None:
    class Names:
        @hookimpl
        def laya_checkpoints(self) -> dict[str, Any]:
            return {"mini": "./mini", "large": ("owner/model", None), "big": ("owner/model", None)}

    with plugged(Names()), pytest.raises(ValueError, match="unknown checkpoint") as refused:
        find_checkpoint(source)
    assert str(refused.value).endswith(end)


def test_a_name_stands_for_what_a_plugin_says(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named: dict[Any, Any] = {"mine": str(checkpoint), "inside": (str(checkpoint.parent), "checkpoint")}
    monkeypatch.setattr(sources, "resolve_checkpoint", lambda source: named.get(source, source))
    for name in named:
        found = find_checkpoint(name)
        assert (found.directory, found.model_id) == (checkpoint, name)


def digests(checkpoint: Path) -> dict[str, str]:
    files = [path for path in checkpoint.rglob("*") if path.is_file()]
    return {str(path.relative_to(checkpoint)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_digests_that_match_pass(checkpoint: Path) -> None:
    expected = digests(checkpoint)
    verify_digests(checkpoint, expected)
    verify_digests(checkpoint, {name: f" {digest.upper()}\n" for name, digest in expected.items()})
    verify_digests(checkpoint, {})


def test_a_digest_that_differs_is_named_before_anything_is_parsed(checkpoint: Path) -> None:
    (checkpoint / "rl_agent_config.json").write_text("not even JSON")
    with pytest.raises(ValueError, match="has SHA-256") as refused:
        Agent(checkpoint, device="cpu", expected_sha256={"rl_agent_config.json": "0" * 64})
    assert str(checkpoint / "rl_agent_config.json") in str(refused.value)
    assert "0" * 64 in str(refused.value) and "do not use this file" in str(refused.value)


def test_a_file_whose_digest_is_expected_has_to_exist(checkpoint: Path) -> None:
    with pytest.raises(FileNotFoundError, match="cannot be checked"):
        verify_digests(checkpoint, {"encoder/extra.json": "0" * 64})
    with pytest.raises(FileNotFoundError):
        verify_digests(checkpoint, {"encoder": "0" * 64})


@pytest.mark.parametrize("digest", [None, 5, "", "0" * 63])
def test_what_is_no_digest_differs(digest: Any, checkpoint: Path) -> None:
    with pytest.raises(ValueError, match="has SHA-256"):
        verify_digests(checkpoint, {"rl_agent_config.json": digest})


@pytest.mark.parametrize("name", ["../checkpoint/model.safetensors", "/etc/passwd"])
def test_digests_do_not_lead_out_of_the_checkpoint(name: str, checkpoint: Path) -> None:
    with pytest.raises(ValueError, match="relative path inside the checkpoint"):
        verify_digests(checkpoint, {name: "0" * 64})


def test_load_gives_an_agent_and_passes_its_arguments_on(checkpoint: Path) -> None:
    started: list[Any] = []
    with pytest.warns(RuntimeWarning, match="temperature_by_options"):
        agent = load(
            checkpoint.parent,
            subfolder="checkpoint",
            device="cpu",
            precision="bfloat16",
            expected_sha256=digests(checkpoint),
            on_predict_start=started.append,
        )
    assert isinstance(agent, Agent)
    with agent:
        assert (agent.device, str(agent.dtype), agent.backend) == ("cpu", "torch.bfloat16", "eager")
        agent.predict("text", {})
        assert [context.agent for context in started] == [agent]


def test_errors_of_the_agent_come_through_load_unchanged(checkpoint: Path) -> None:
    (checkpoint / "model.safetensors").unlink()
    with pytest.warns(RuntimeWarning), pytest.raises(FileNotFoundError) as missing:
        load(checkpoint, device="cpu")
    assert str(checkpoint / "model.safetensors") in str(missing.value)


@pytest.mark.parametrize(
    "missing",
    [
        "rl_agent_config.json",
        "model.safetensors",
        "encoder/config.json",
        "tokenizer/tokenizer.json",
        "tokenizer/tokenizer_config.json",
    ],
)
def test_a_checkpoint_that_lacks_a_file_says_which(
    missing: str, checkpoint: Path, load_agent: Callable[..., Agent]
) -> None:
    (checkpoint / missing).unlink()
    with pytest.raises(FileNotFoundError, match=str(checkpoint / missing)):
        load_agent(checkpoint)
