"""The text of a state as a reader sees it: every string value, line by line, within a bounded sample."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

SAMPLE_CHARACTERS: Final = 20_000
_PIECES: Final = 40


def sampled_lines(state: object, limit: int = SAMPLE_CHARACTERS) -> list[str]:
    """The non-blank lines of all string values; beyond `limit` characters, pieces spread over the whole text."""
    text = "\n".join(string_values(state))
    pieces = [text] if len(text) <= limit else _spread(text, limit)
    return [line for piece in pieces for line in piece.splitlines() if line.strip()]


def string_values(state: object) -> Iterator[str]:
    """Every string value of a state, keys left out."""
    pending: list[object] = [state]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            pending.extend(reversed(list(value.values())))
        elif isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
            pending.extend(reversed(value))


def _spread(text: str, limit: int) -> list[str]:
    """Pieces of equal size whose starts lie evenly between the first character and the last."""
    size = limit // _PIECES
    last = len(text) - size
    return [text[start : start + size] for start in (last * piece // (_PIECES - 1) for piece in range(_PIECES))]
