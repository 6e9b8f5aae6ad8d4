"""The script of a letter, from the Unicode character names that the standard library carries."""

from __future__ import annotations

import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Final

LATIN: Final = "latin"
UNKNOWN: Final = "unknown"

# Character names begin with the script, with these exceptions.
_WIDTH_PREFIXES: Final = frozenset({"FULLWIDTH", "HALFWIDTH"})
_SCRIPT_OF_PREFIX: Final = {"CJK": "han"}
# Letters shared by scripts (modifier letters, mathematical alphabets, the ordinal indicators).
_COMMON: Final = frozenset({"MODIFIER", "MATHEMATICAL", "FEMININE", "MASCULINE", "MICRO", "SCRIPT", "DOUBLE-STRUCK"})


@lru_cache(maxsize=4096)
def script_of(character: str) -> str | None:
    """The lower-case script of a letter, or None for anything else (digits, marks, shared letters)."""
    if not character.isalpha():
        return None
    words = unicodedata.name(character, "").split()
    if words and words[0] in _WIDTH_PREFIXES:
        words = words[1:]
    if not words or words[0] in _COMMON:
        return None
    return _SCRIPT_OF_PREFIX.get(words[0], words[0].lower())


def count_scripts(text: str) -> Counter[str]:
    """How many letters of each script a text has."""
    counts: Counter[str] = Counter()
    for character, times in Counter(text).items():
        script = script_of(character)
        if script is not None:
            counts[script] += times
    return counts
