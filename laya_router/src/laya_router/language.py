"""Language codes as people write them: BCP 47 tags, locale names, the word `english`."""

from __future__ import annotations

import re

ENGLISH = "en"

_ENGLISH_NAMES = frozenset({"en", "eng", "english"})
_NO_LANGUAGE = frozenset({"auto", "c", "mul", "posix", "und", "zxx"})
_PRIMARY_SUBTAG = re.compile(r"[a-z]{2,}")
_SUBTAG_END = re.compile(r"[-_.@]")


def primary_language(code: str) -> str | None:
    """The lower-case primary subtag of a code ("en_US.UTF-8" is "en"), or None if it names no language."""
    primary = _SUBTAG_END.split(code.strip().lower(), maxsplit=1)[0]
    if primary in _ENGLISH_NAMES:
        return ENGLISH
    if primary in _NO_LANGUAGE or not _PRIMARY_SUBTAG.fullmatch(primary):
        return None
    return primary
