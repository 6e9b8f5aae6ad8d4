"""Tokenizers as checkpoints bring them, old exports included."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from laya_core import Agent
from laya_core.tokenizer import PromptTokenizer

Edit = Callable[..., None]


@pytest.fixture
def directory(checkpoint: Path) -> Path:
    return checkpoint / "tokenizer"


def ids(directory: Path) -> list[list[int]]:
    tokenizer = PromptTokenizer(directory)
    special = [tokenizer.cls_id, tokenizer.sep_id, tokenizer.mask_id, tokenizer.pad_id]
    return [special, *tokenizer.encode(["Please refund me.", "", "我的账户被重复扣款了"])]


OLDER_EXPORTS = {
    "backend class": {"tokenizer_class": "TokenizersBackend"},
    "no class": {"tokenizer_class": None},
    "unknown class": {"tokenizer_class": "SomethingOfTheFuture"},
    "list of extra tokens": {"extra_special_tokens": ["<a>", "<b>"]},
    "special tokens as objects": {
        name: {"content": token, "lstrip": False, "normalized": False, "__type": "AddedToken"}
        for name, token in [("cls_token", "[CLS]"), ("mask_token", "[MASK]"), ("pad_token", "[PAD]")]
    },
    "custom code": {"auto_map": {"AutoTokenizer": ["code.Tokenizer", None]}},
}


@pytest.mark.parametrize("export", OLDER_EXPORTS.values(), ids=OLDER_EXPORTS)
def test_older_exports_give_the_same_tokens(export: dict[str, object], directory: Path, edit_json: Edit) -> None:
    expected = ids(directory)
    edit_json(directory / "tokenizer_config.json", **export)
    assert ids(directory) == expected


def test_special_tokens_may_be_in_the_map_file_alone(directory: Path, edit_json: Edit) -> None:
    expected = ids(directory)
    config = json.loads((directory / "tokenizer_config.json").read_text())
    names = [name for name in config if name.endswith("_token")]
    (directory / "special_tokens_map.json").write_text(json.dumps({name: config[name] for name in names}))
    edit_json(directory / "tokenizer_config.json", **dict.fromkeys(names))
    assert ids(directory) == expected


def test_truncation_and_padding_stored_in_the_file_are_switched_off(directory: Path) -> None:
    expected = ids(directory)
    path = directory / "tokenizer.json"
    stored = json.loads(path.read_text(encoding="utf-8"))
    stored["truncation"] = {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0}
    stored["padding"] = {
        "strategy": {"Fixed": 40},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[PAD]",
    }
    path.write_text(json.dumps(stored), encoding="utf-8")
    assert ids(directory) == expected


def test_nothing_is_written_beside_the_tokenizer(
    checkpoint: Path, edit_json: Edit, load_agent: Callable[..., Agent]
) -> None:
    edit_json(checkpoint / "tokenizer" / "tokenizer_config.json", tokenizer_class="TokenizersBackend")

    def everything() -> dict[str, tuple[int, int, bytes]]:
        files = [path for path in checkpoint.rglob("*") if path.is_file()]
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_mode, path.read_bytes()) for path in files}

    folders = [checkpoint, *(path for path in checkpoint.rglob("*") if path.is_dir())]
    before = everything()
    for folder in folders:
        folder.chmod(0o555)
    try:
        with load_agent(checkpoint) as agent:
            agent.predict("Please refund me.", {"q": {"type": "noul", "instructions": "A refund?"}})
        assert everything() == before
    finally:
        for folder in folders:
            folder.chmod(0o755)


@pytest.mark.parametrize("name", ["cls_token", "sep_token", "mask_token", "pad_token"])
@pytest.mark.parametrize("value", [None, "", 5, {"lstrip": True}])
def test_a_missing_special_token_is_named_with_its_file(
    name: str, value: object, directory: Path, edit_json: Edit
) -> None:
    edit_json(directory / "tokenizer_config.json", **{name: value})
    with pytest.raises(ValueError, match=f"{directory / 'tokenizer_config.json'}: {name} is not defined"):
        PromptTokenizer(directory)


def test_a_special_token_outside_the_vocabulary_is_refused(directory: Path, edit_json: Edit) -> None:
    edit_json(directory / "tokenizer_config.json", sep_token="<nowhere>")
    with pytest.raises(ValueError, match="sep_token '<nowhere>' is not in the vocabulary"):
        PromptTokenizer(directory)


@pytest.mark.parametrize("missing", ["tokenizer.json", "tokenizer_config.json"])
def test_a_missing_file_is_named(missing: str, directory: Path) -> None:
    (directory / missing).unlink()
    with pytest.raises(FileNotFoundError, match=str(directory / missing)):
        PromptTokenizer(directory)


def test_a_missing_directory_is_named(directory: Path) -> None:
    shutil.rmtree(directory)
    with pytest.raises(FileNotFoundError, match=str(directory)):
        PromptTokenizer(directory)


@pytest.mark.parametrize("damage", [b"", b"not json", b"{}", b"\xff\xfe\x00", b'{"version": "1.0", "model": {}}'])
@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer_config.json"])
def test_a_damaged_file_is_named(name: str, damage: bytes, directory: Path) -> None:
    (directory / name).write_bytes(damage)
    with pytest.raises(ValueError, match=str(directory / name)):
        PromptTokenizer(directory)


def test_an_unpaired_surrogate_is_named_with_its_place(directory: Path) -> None:
    tokenizer = PromptTokenizer(directory)
    with pytest.raises(ValueError, match="at 3") as refused:
        tokenizer.encode(["fine", "abc\ud800def"])
    assert "\\ud800" in str(refused.value) and "remove it" in str(refused.value)
    assert str(refused.value).encode("utf-8")
    assert tokenizer.encode(["\U0001f600 \ue000 \uffff \x00"]) != [[]]


def test_encoding_adds_no_special_tokens_and_decoding_drops_them(directory: Path) -> None:
    tokenizer = PromptTokenizer(directory)
    [tokens] = tokenizer.encode(["Please refund me."])
    assert not {tokenizer.cls_id, tokenizer.sep_id} & set(tokens)
    assert tokenizer.decode([tokenizer.cls_id, *tokens, tokenizer.sep_id]) == tokenizer.decode(tokens)
    assert tokenizer.vocab_size == 974
