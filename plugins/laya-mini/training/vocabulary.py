"""Prunes a WordPiece vocabulary to the tokens that matter, and the embedding table with it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

SPECIAL_TOKENS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def choose_tokens(tokenizer_json: Path, texts: Iterable[str], size: int) -> list[int]:
    """The ids to keep, ascending: special tokens, single letters, then the most frequent in `texts`.

    Ties, and tokens `texts` do not use, go by id: BERT's vocabulary is sorted by frequency. Words that lose
    their own token are read as pieces, so that nothing becomes unknown.
    """
    tokenizer = Tokenizer.from_file(str(tokenizer_json))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    counts: Counter[int] = Counter()
    for encoding in tokenizer.encode_batch_fast(list(texts), add_special_tokens=False):
        counts.update(encoding.ids)

    def rank(entry: tuple[str, int]) -> tuple[bool, int, int]:
        token, index = entry
        return (not _is_indispensable(token), -counts[index], index)

    usable = [entry for entry in tokenizer.get_vocab().items() if not entry[0].startswith("[unused")]
    return sorted(index for _, index in sorted(usable, key=rank)[:size])


def _is_indispensable(token: str) -> bool:
    letter = token.removeprefix("##")
    return token in SPECIAL_TOKENS or (len(letter) == 1 and ord(letter) < 0x250)


def write_pruned_tokenizer(source: Path, kept: list[int], target: Path) -> None:
    """Writes the tokenizer's two files for the kept ids, renumbered from zero, into `target`."""
    data = json.loads((source / "tokenizer.json").read_text(encoding="utf-8"))
    renumbered = {old: new for new, old in enumerate(kept)}
    vocabulary: dict[str, int] = data["model"]["vocab"]
    data["model"]["vocab"] = {token: renumbered[old] for token, old in vocabulary.items() if old in renumbered}
    for token in data["added_tokens"]:
        token["id"] = renumbered[token["id"]]
    data["post_processor"] = _bert_processing(data["model"]["vocab"])
    data["truncation"] = data["padding"] = None
    target.mkdir(parents=True, exist_ok=True)
    _write_json(target / "tokenizer.json", data)
    settings = {
        "tokenizer_class": "BertTokenizer",
        "do_lower_case": True,
        "model_max_length": 512,
        **{f"{token.strip('[]').lower()}_token": token for token in SPECIAL_TOKENS},
    }
    _write_json(target / "tokenizer_config.json", settings)


def _bert_processing(vocabulary: dict[str, int]) -> dict[str, Any]:
    return {
        "type": "BertProcessing",
        "sep": ["[SEP]", vocabulary["[SEP]"]],
        "cls": ["[CLS]", vocabulary["[CLS]"]],
    }


def _write_json(path: Path, data: Any) -> None:
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
