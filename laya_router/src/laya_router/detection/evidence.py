"""How English a piece of Latin text is: two pieces of evidence, and the weights that were fitted for them."""

from __future__ import annotations

import json
import math
from functools import cache
from importlib.resources import files
from typing import Final, TypedDict

import attrs

from laya_router.detection.identification import english_log_odds
from laya_router.detection.prose import is_in_capitals, prose_of, words_of
from laya_router.detection.units import spread
from laya_router.detection.vocabulary import is_known, known_words

# The log odds grow with the length of a text; past this many they say little more.
_LOG_ODDS_SCALE: Final = 3.0
# As many characters are more than enough to tell a language by, and identification takes most of the time.
_IDENTIFIED_CHARACTERS: Final = 240
_LEAST_WORDS: Final = 2


class Weights(TypedDict):
    """What was fitted: score = identification·asinh(log odds / 3) + vocabulary·known share + bias.

    A part of a state is foreign below the score `foreign_part`; a whole text is English at 0 or more.
    """

    identification: float
    vocabulary: float
    bias: float
    foreign_part: float


@attrs.frozen
class Evidence:
    """What speaks for English in a text.

    Args:
        text: what of it was read, in lower case.
        words: how many words that are.
        known: how many of them an English dictionary has.
        log_odds: of English against all other languages of Latin script, from the language identification.
    """

    text: str
    words: int
    known: int
    log_odds: float

    @property
    def features(self) -> tuple[float, float]:
        """The identification's and the vocabulary's part, as the weights multiply them."""
        return math.asinh(self.log_odds / _LOG_ODDS_SCALE), self.known / self.words

    @property
    def score(self) -> float:
        """The log odds that an English-only checkpoint can read the text."""
        weights = fitted_weights()
        identification, vocabulary = self.features
        return weights["identification"] * identification + weights["vocabulary"] * vocabulary + weights["bias"]

    @property
    def is_english(self) -> bool:
        """Whether a text that stands alone is English."""
        return self.score >= 0

    @property
    def is_foreign_part(self) -> bool:
        """Whether the text makes a state foreign that it is a part of."""
        return self.words >= _LEAST_WORDS and self.score < fitted_weights()["foreign_part"]


def evidence_of(text: str) -> Evidence | None:
    """The evidence in a text, or None if it has no prose."""
    read = " ".join(_without_names(prose_of(text)).lower().split())
    words = words_of(read)
    if not words:
        return None
    return Evidence(read, len(words), known_words(words), english_log_odds(_to_identify(read)))


@cache
def fitted_weights() -> Weights:
    """The weights that `laya_router/fitting/fit_weights.py` has written."""
    weights: Weights = json.loads(files("laya_router.detection").joinpath("weights.json").read_text(encoding="utf-8"))
    return weights


def _to_identify(text: str) -> str:
    """A text, or of a long one its beginning, middle and end."""
    if len(text) <= _IDENTIFIED_CHARACTERS:
        return text
    return " ".join(spread(text, _IDENTIFIED_CHARACTERS, pieces=3))


def _without_names(prose: str) -> str:
    """A text without its capitalised words that no English dictionary has, if at least two others are left."""
    tokens = prose.split()
    kept = [token for token in tokens if not _is_name(token)]
    if len(kept) == len(tokens) or is_in_capitals(prose):
        return prose
    return " ".join(kept) if len(words_of(" ".join(kept))) >= _LEAST_WORDS else prose


def _is_name(token: str) -> bool:
    if token.islower():
        return False
    words = words_of(token)
    return bool(words) and words[0][0].isupper() and not all(is_known(word.lower()) for word in words)
