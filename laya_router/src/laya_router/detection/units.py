"""What of a state is read: its string values, line by line, within a bounded sample of a long one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

SAMPLE_CHARACTERS: Final = 20_000
UNIT_CHARACTERS: Final = 600
_PIECES: Final = 40


def units_of(state: object, limit: int = SAMPLE_CHARACTERS) -> list[str]:
    """The non-blank lines of all string values, none longer than `UNIT_CHARACTERS` and none twice.

    Beyond `limit` characters they come from pieces that lie evenly between the beginning and the end of the text.
    """
    text = "\n".join(string_values(state))
    pieces = [text] if len(text) <= limit else spread(text, limit, _PIECES)
    lines = (line.strip() for piece in pieces for line in piece.splitlines())
    return list(dict.fromkeys(unit for line in lines if line for unit in _cut(line)))


def string_values(state: object) -> Iterator[str]:
    """Every string value of a state in reading order, keys left out; a container that contains itself is read once."""
    pending: list[object] = [state]
    opened: set[int] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, Mapping | Sequence) and not isinstance(value, bytes | bytearray | memoryview):
            if id(value) in opened:
                continue
            opened.add(id(value))
            inner = list(value.values()) if isinstance(value, Mapping) else value
            pending.extend(reversed(inner))


def spread(text: str, characters: int, pieces: int) -> list[str]:
    """Pieces of equal size, `characters` together, whose starts lie evenly between the first character and the last."""
    size = characters // pieces
    last = len(text) - size
    return [text[start : start + size] for start in (last * piece // (pieces - 1) for piece in range(pieces))]


def _cut(line: str) -> Iterator[str]:
    """A long line in parts, between words where there are any."""
    while len(line) > UNIT_CHARACTERS:
        end = line.rfind(" ", UNIT_CHARACTERS // 2, UNIT_CHARACTERS)
        end = UNIT_CHARACTERS if end < 0 else end
        yield line[:end]
        line = line[end:].lstrip()
    if line:
        yield line
