"""Can an English-only checkpoint read what a state says?

This detector looks at scripts alone. Text in another script than Latin is not English; Latin text stays undecided,
whatever its language, and the router falls back to its default. Callers rely on `detect` and the keys of
`Detection`, so a detector that tells the languages of Latin text can take this one's place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, TypedDict

from laya_router.scripts import LATIN, UNKNOWN, count_scripts, script_of
from laya_router.texts import sampled_lines

# Scripts that one living language uses almost alone.
_LANGUAGE_OF_SCRIPT: Final[Mapping[str, str]] = {
    "armenian": "hy",
    "georgian": "ka",
    "greek": "el",
    "hangul": "ko",
    "hiragana": "ja",
    "katakana": "ja",
    "khmer": "km",
    "lao": "lo",
    "thai": "th",
}
# A name in its own script does not make an English line foreign; a sentence does.
_SEGMENT_LETTERS: Final = 8
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


def detect(state: object) -> Detection:
    """Look at every string value of a state, line by line, within a bounded sample of a long one."""
    lines = sampled_lines(state)
    counts_by_line = [count_scripts(line) for line in lines]
    counts: Counter[str] = sum(counts_by_line, Counter())
    letters = counts.total()
    script = counts.most_common(1)[0][0] if letters else UNKNOWN
    mixed = _foreign_segment(lines, counts_by_line) if script == LATIN else None
    foreign = script not in (LATIN, UNKNOWN) or mixed is not None
    return Detection(
        script=script,
        script_profile={name: round(count / letters, 4) for name, count in counts.most_common()},
        language=_LANGUAGE_OF_SCRIPT.get(_telling_script(counts)) if foreign and mixed is None else None,
        is_english=False,
        language_undecided=not foreign,
        diacritic_rate=_share(sum(not c.isascii() for line in lines for c in line if script_of(c)), letters),
        non_latin_fraction=_share(letters - counts[LATIN], letters),
        mixed_segment=mixed,
    )


def _telling_script(counts: Counter[str]) -> str:
    """Kana tells Japanese from Chinese, whichever script has more letters."""
    return "hiragana" if counts["hiragana"] or counts["katakana"] else counts.most_common(1)[0][0]


def _foreign_segment(lines: Sequence[str], counts_by_line: Sequence[Counter[str]]) -> str | None:
    for line, counts in zip(lines, counts_by_line, strict=True):
        foreign = counts.total() - counts[LATIN]
        if foreign >= _SEGMENT_LETTERS and foreign > counts[LATIN]:
            return line.strip()[:_SEGMENT_CHARACTERS]
    return None


def _share(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0
