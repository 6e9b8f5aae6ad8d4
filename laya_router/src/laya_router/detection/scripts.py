"""The script of a letter, from the Unicode Script property."""

from __future__ import annotations

from collections import Counter
from functools import cache, lru_cache
from typing import Final

import regex

LATIN: Final = "latin"
UNKNOWN: Final = "unknown"

# The values of the property; which characters have them is known to `regex`. The commonest first, as they are tried
# in this order.
_SCRIPTS: Final = """
    latin cyrillic greek arabic hebrew han hiragana katakana hangul devanagari bengali tamil telugu thai armenian
    georgian gujarati gurmukhi kannada malayalam oriya sinhala khmer lao myanmar tibetan ethiopic mongolian thaana
    adlam ahom anatolian_hieroglyphs avestan balinese bamum bassa_vah batak bhaiksuki bopomofo brahmi braille
    buginese buhid canadian_aboriginal carian caucasian_albanian chakma cham cherokee chorasmian coptic cuneiform
    cypriot cypro_minoan deseret dives_akuru dogra duployan egyptian_hieroglyphs elbasan elymaic glagolitic gothic
    grantha gunjala_gondi hanifi_rohingya hanunoo hatran imperial_aramaic inscriptional_pahlavi
    inscriptional_parthian javanese kaithi kawi kayah_li kharoshthi khitan_small_script khojki khudawadi lepcha
    limbu linear_a linear_b lisu lycian lydian mahajani makasar mandaic manichaean marchen masaram_gondi medefaidrin
    meetei_mayek mende_kikakui meroitic_cursive meroitic_hieroglyphs miao modi mro multani nabataean nag_mundari
    nandinagari new_tai_lue newa nko nushu nyiakeng_puachue_hmong ogham ol_chiki old_hungarian old_italic
    old_north_arabian old_permic old_persian old_sogdian old_south_arabian old_turkic old_uyghur osage osmanya
    pahawh_hmong palmyrene pau_cin_hau phags_pa phoenician psalter_pahlavi rejang runic samaritan saurashtra sharada
    shavian siddham signwriting sogdian sora_sompeng soyombo sundanese syloti_nagri syriac tagalog tagbanwa tai_le
    tai_tham tai_viet takri tangsa tangut tifinagh tirhuta toto ugaritic vai vithkuqi wancho warang_citi yezidi yi
    zanabazar_square
"""


@lru_cache(maxsize=8192)
def script_of(character: str) -> str | None:
    """The lower-case script of a letter, or None for anything else (digits, marks, letters that scripts share)."""
    if not character.isalpha():
        return None
    found = _any_script().match(character)
    return None if found is None else found.lastgroup


def count_scripts(text: str) -> Counter[str]:
    """How many letters of each script a text has."""
    if text.isascii():
        letters = sum(map(str.isalpha, text))
        return Counter({LATIN: letters}) if letters else Counter()
    counts: Counter[str] = Counter()
    for character, times in Counter(text).items():
        script = script_of(character)
        if script is not None:
            counts[script] += times
    return counts


@cache
def _any_script() -> regex.Pattern[str]:
    return regex.compile("|".join(rf"(?P<{script}>\p{{Script={script}}})" for script in _SCRIPTS.split()))
