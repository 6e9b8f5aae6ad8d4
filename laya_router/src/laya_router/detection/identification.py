"""The language-identification library, py3langid, and all that is settled about its use.

Its model scores a text under 139 languages; the scores are logarithms of joint probabilities, so their differences
are log odds. Only languages written in Latin script compete with English, as other scripts decide by themselves.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from laya_router.language import ENGLISH

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

_LATIN_LANGUAGES: Final = """
    af az br bs ca cs cy da de en eo es et eu fi fo fr fy ga gd gl ha hr ht hu id ig is it jv la lb lt lv mg ms mt
    nl nn no oc pl pt ro rw sk sl sn so sq sv sw tl tr uz vi xh yo zu
"""
LATIN_LANGUAGES: Final = frozenset(_LATIN_LANGUAGES.split())
# A language is named when it is likelier than all others together.
_NAMED_FROM: Final = 0.5

_building = threading.Lock()  # held while the model is read, so that threads which come together read it once


def english_log_odds(text: str) -> float:
    """The log odds of English against all other languages of Latin script, for a lower-case text."""
    scores = _scores(text)
    others = [score for language, score in scores.items() if language in LATIN_LANGUAGES and language != ENGLISH]
    return scores[ENGLISH] - _log_sum(others)


def likely_language(text: str, latin: bool) -> str | None:
    """The ISO 639-1 code of a text's language, or None where none stands out or it has no such code.

    Args:
        latin: whether the text is in Latin script, or else in any other.
    """
    scores = {name: score for name, score in _scores(text).items() if (name in LATIN_LANGUAGES) == latin}
    best = max(scores, key=scores.__getitem__)
    likely = scores[best] - _log_sum(list(scores.values())) >= math.log(_NAMED_FROM)
    return best if likely and len(best) == 2 else None


def _scores(text: str) -> Mapping[str, float]:
    return {language: float(score) for language, score in _identifier().rank(text)}


def _log_sum(scores: list[float]) -> float:
    """The logarithm of a sum of probabilities that are given as logarithms."""
    top = max(scores)
    return top + math.log(sum(math.exp(score - top) for score in scores))


def _identifier() -> LanguageIdentifier:
    with _building:
        return _read_model()


@cache
def _read_model() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=False)
