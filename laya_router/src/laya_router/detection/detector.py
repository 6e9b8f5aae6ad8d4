"""What a state's text says about its language, and whether an English-only checkpoint can read it.

A state is read in units: the lines of its string values. One unit alone is English or not by its own score. Of many,
those that are prose count, each by itself: one foreign unit makes the state foreign, and only where none is, the
units together decide. What is not prose (code, log lines, names, addresses) is read where there is nothing else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple, TypedDict

import attrs

from laya_router.detection.evidence import Evidence, evidence_of
from laya_router.detection.identification import likely_language
from laya_router.detection.prose import is_name_like, is_prose, prose_of, words_of
from laya_router.detection.scripts import LATIN, UNKNOWN, count_scripts, script_of
from laya_router.detection.units import UNIT_CHARACTERS, spread, units_of
from laya_router.detection.vocabulary import known_words
from laya_router.language import ENGLISH

# A text is foreign by its script from this share of its letters, or this many letters.
_FOREIGN_SHARE: Final = 0.3
_FOREIGN_LETTERS: Final = 10
# Up to this share of its letters, capitalised words of another script are a name in a Latin text.
_NAMED_SHARE: Final = 0.5
# Scripts that put no space between words: so few letters are a name there.
_UNSPACED: Final = frozenset({"han", "hiragana", "katakana", "hangul", "thai", "lao", "khmer", "myanmar", "tibetan"})
_NAME_LETTERS: Final = 3
_NAME_WORDS: Final = 3

_CLOSELY_READ: Final = 40
_LEAST_WORDS: Final = 2
_SEGMENT_CHARACTERS: Final = 80


class Detection(TypedDict):
    """What the state's text says about its language; shares are of all letters, in [0, 1]."""

    script: str
    script_profile: dict[str, float]
    language: str | None
    is_english: bool
    language_undecided: bool
    diacritic_rate: float
    non_latin_fraction: float
    mixed_segment: str | None


@attrs.frozen
class Verdict:
    """Whether a text is English (None: nobody can tell), in which language, and which part says so.

    Args:
        evidence: of the text or part that decided, where it is in Latin script.
        segment: the foreign part of a text that is English otherwise.
    """

    english: bool | None
    language: str | None = None
    evidence: Evidence | None = None
    segment: str | None = None


class Reading(NamedTuple):
    """A detection, and what it rests on in a few plain words."""

    detection: Detection
    grounds: str


@attrs.frozen
class _Unit:
    """A line of a state with its letters by script."""

    text: str
    scripts: Counter[str]

    @property
    def foreign_letters(self) -> int:
        return self.scripts.total() - self.scripts[LATIN]


def detect(state: object) -> Detection:
    """Look at every string value of a state, line by line, within a bounded sample of a long one."""
    return read(state).detection


def read(state: object) -> Reading:
    """`detect`, with the grounds for it in words."""
    units = [_Unit(text, count_scripts(text)) for text in units_of(state)]
    scripts: Counter[str] = sum((unit.scripts for unit in units), Counter())
    letters = scripts.total()
    verdict = _judge(units, scripts)
    detection = Detection(
        script=scripts.most_common(1)[0][0] if letters else UNKNOWN,
        script_profile={name: round(count / letters, 4) for name, count in scripts.most_common()},
        language=verdict.language,
        is_english=verdict.english is True,
        language_undecided=verdict.english is None,
        diacritic_rate=_share(sum(_diacritics(unit.text) for unit in units), letters),
        non_latin_fraction=_share(letters - scripts[LATIN], letters),
        mixed_segment=None if verdict.segment is None else verdict.segment[:_SEGMENT_CHARACTERS],
    )
    return Reading(detection, _grounds(detection, verdict))


def _judge(units: Sequence[_Unit], scripts: Counter[str]) -> Verdict:
    if not scripts:
        return Verdict(english=None)
    verdict = _judge_alone(units) if len(units) == 1 else _judge_parts(units)
    if verdict.segment is not None and scripts[LATIN] < scripts.total() / 2:
        return attrs.evolve(verdict, segment=None)
    return verdict


def _judge_alone(units: Sequence[_Unit]) -> Verdict:
    """The verdict on units read as one text."""
    if any(_is_foreign_script(unit) for unit in units):
        return Verdict(english=False, language=_language_of(units, latin=False))
    text = " ".join(unit.text for unit in units)
    if len(text) > UNIT_CHARACTERS:
        text = " ".join(spread(text, UNIT_CHARACTERS, pieces=4))
    evidence = evidence_of(text)
    if evidence is None:
        return Verdict(english=None)
    if evidence.is_english:
        return Verdict(english=True, language=ENGLISH, evidence=evidence)
    return Verdict(english=False, language=likely_language(evidence.text, latin=True), evidence=evidence)


def _judge_parts(units: Sequence[_Unit]) -> Verdict:
    """The verdict on units of which each counts by itself."""
    prose = [unit for unit in units if is_prose(unit.text)]
    read = [unit for unit in prose if not _is_name(unit)]
    for unit in read:
        if _is_foreign_script(unit):
            return Verdict(english=False, language=_language_of([unit], latin=False), segment=unit.text)
    found = [(evidence, unit.text) for unit in _least_english(read) if (evidence := evidence_of(unit.text)) is not None]
    foreign = [(evidence, text) for evidence, text in found if evidence.is_foreign_part]
    if not foreign:
        return _judge_alone(read or prose or units)
    worst, segment = min(foreign, key=lambda pair: pair[0].score)
    mixed = any(evidence.is_english and evidence.words >= _LEAST_WORDS for evidence, _ in found)
    return Verdict(
        english=False,
        language=likely_language(worst.text, latin=True),
        evidence=worst,
        segment=segment if mixed else None,
    )


def _least_english(units: Sequence[_Unit]) -> Sequence[_Unit]:
    """The units that are worth reading closely: of many, those with the fewest words an English dictionary has."""
    if len(units) <= _CLOSELY_READ:
        return units
    distinct = {tuple(words_of(prose_of(unit.text).lower())): unit for unit in units}
    return [distinct[words] for words in sorted(distinct, key=_known_share)[:_CLOSELY_READ]]


def _known_share(words: Sequence[str]) -> float:
    return known_words(words) / len(words) if len(words) >= _LEAST_WORDS else 1.0


def _is_foreign_script(unit: _Unit) -> bool:
    foreign, letters = unit.foreign_letters, unit.scripts.total()
    if foreign == 0 or (foreign < _FOREIGN_SHARE * letters and foreign < _FOREIGN_LETTERS):
        return False
    return not (foreign <= _NAMED_SHARE * letters and _is_capitalised_name(_foreign_words(unit.text)))


def _foreign_words(text: str) -> list[str]:
    return [word for word in words_of(text) if script_of(word[0]) not in (LATIN, None)]


def _is_capitalised_name(words: Sequence[str]) -> bool:
    return 0 < len(words) <= _NAME_WORDS and all(word[0].isupper() for word in words)


def _is_name(unit: _Unit) -> bool:
    """Whether a unit beside others is no more than a name, in whatever script."""
    if unit.foreign_letters <= unit.scripts[LATIN]:
        return is_name_like(unit.text)
    if any(script in _UNSPACED for script in unit.scripts):
        return unit.foreign_letters <= _NAME_LETTERS
    words = words_of(unit.text)
    return len(words) == 1 or _is_capitalised_name(words)


def _language_of(units: Sequence[_Unit], latin: bool) -> str | None:
    text = " ".join(unit.text for unit in units if latin or unit.foreign_letters)[:UNIT_CHARACTERS]
    return likely_language(prose_of(text).lower(), latin)


def _diacritics(text: str) -> int:
    if text.isascii():
        return 0
    return sum(not character.isascii() and script_of(character) is not None for character in text)


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _grounds(detection: Detection, verdict: Verdict) -> str:
    script = detection["script"].replace("_", " ").title()
    if verdict.english is None:
        return "no text" if detection["script"] == UNKNOWN else f"{script} text without evidence of its language"
    words = (
        "" if verdict.evidence is None else f", {verdict.evidence.known} of {verdict.evidence.words} words are English"
    )
    if verdict.english:
        return f"English text{words}"
    likely = "" if verdict.language is None else f" but {verdict.language}"
    if verdict.segment is not None:
        return f"English text with a part that is not{likely}{words}"
    return f"{script} text, not English{likely}{words}"
