"""Which words are English, from the dictionary that simplemma carries."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache

from laya_router.language import ENGLISH

_looking_up = threading.Lock()  # held while a word is new: the first one reads the dictionary


def known_words(words: Sequence[str]) -> int:
    """How many of some lower-case words an English dictionary has."""
    return sum(map(is_known, words))


@lru_cache(maxsize=16_384)
def is_known(word: str) -> bool:
    """Whether an English dictionary has a lower-case word, inflected forms included."""
    import simplemma

    with _looking_up:
        return simplemma.is_known(word, ENGLISH)
