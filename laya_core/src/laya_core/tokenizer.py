"""The checkpoint's fast tokenizer, read without transformers and without writing anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

from .config import read_json_object

_SPECIAL = ("cls_token", "sep_token", "mask_token", "pad_token")


class PromptTokenizer:
    """Text to token ids, without special tokens, and the ids of the four special tokens a row is built from.

    Thread-safe: the tokenizer is never reconfigured after construction.
    """

    def __init__(self, directory: Path) -> None:
        """Read `tokenizer.json` and `tokenizer_config.json` in `directory`.

        Raises:
            FileNotFoundError: a file is missing.
            ValueError: a file is damaged, or a cls, sep, mask or pad token is not defined. The message names the file.
        """
        path = directory / "tokenizer.json"
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing; a checkpoint needs a fast tokenizer (tokenizer.json)")
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # tokenizers raises bare Exception
            raise ValueError(f"{path} is not a tokenizer ({error}); download the checkpoint again") from None
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        tokens = _special_tokens(directory)
        self.mask_token = tokens["mask_token"]
        self.cls_id, self.sep_id, self.mask_id, self.pad_id = (
            self._id_of(tokens[name], name, path) for name in _SPECIAL
        )

    def _id_of(self, token: str, name: str, path: Path) -> int:
        index = self._tokenizer.token_to_id(token)
        if index is None:
            raise ValueError(f"{path}: the {name} {token!r} is not in the vocabulary")
        return index

    @property
    def vocab_size(self) -> int:
        """Number of token ids, added tokens included."""
        return self._tokenizer.get_vocab_size(with_added_tokens=True)

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text; the mask token inside a text is read as a space, so that users cannot add markers.

        Raises:
            ValueError: a text holds an unpaired surrogate, which is no character.
        """
        cleaned = [text.replace(self.mask_token, " ") for text in texts]
        try:
            encodings = self._tokenizer.encode_batch_fast(cleaned, add_special_tokens=False)
        except TypeError:
            raise ValueError(_unencodable(cleaned)) from None
        return [encoding.ids for encoding in encodings]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of a span of token ids."""
        return self._tokenizer.decode(list(ids), skip_special_tokens=True)


def _unencodable(texts: Sequence[str]) -> str:
    for text in texts:
        for place, character in enumerate(text):
            if "\ud800" <= character <= "\udfff":
                return f"the text {text[:40]!r}… has an unpaired surrogate ({character!r}) at {place}; remove it"
    return "a text cannot be tokenised"


def _special_tokens(directory: Path) -> dict[str, str]:
    config = read_json_object(directory / "tokenizer_config.json")
    legacy = directory / "special_tokens_map.json"
    tokens = {**(read_json_object(legacy) if legacy.is_file() else {}), **config}
    found = {}
    for name in _SPECIAL:
        value = tokens.get(name)
        content = value.get("content") if isinstance(value, dict) else value
        if not isinstance(content, str) or not content:
            raise ValueError(
                f"{directory / 'tokenizer_config.json'}: {name} is not defined; rows cannot be built without it"
            )
        found[name] = content
    return found
