"""Which part of a line is prose: sentences people wrote, not addresses, identifiers, code, logs or names."""

from __future__ import annotations

from typing import Final

import regex

# Longer tokens are keys, hashes or noise; the longest words people write in Latin script are shorter.
LONGEST_WORD: Final = 60

_WORD: Final = regex.compile(r"\p{L}[\p{L}\p{M}]*(?:['’]\p{L}+)*")
_MARKUP: Final = regex.compile(r"<[/!?\p{L}][^<>]*>|&\p{L}{2,8};|\p{Cs}")
# Tokens that no sentence is made of: addresses, paths, handles, assignments, anything with a digit, names in code.
_MACHINE_TOKEN: Final = regex.compile(
    r"""://|^www\.|@|[_/\\<>{}=\[\]|#$]|\d|::|\(\)
      | \w\.\w+\.\w              # a.b.c
      | \p{Ll}\p{Lu}             # camelCase and PascalCase
    """,
    regex.VERBOSE,
)
_ACRONYM: Final = regex.compile(r"\b\p{Lu}{2,5}\b")
_MOSTLY_CAPITALS: Final = 0.6

_LOG_LINE: Final = regex.compile(
    r"""\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d | \[?\d\d:\d\d:\d\d | \p{Lu}\p{Ll}\p{Ll}\ +\d+\ \d\d:\d\d:\d\d
      | [\[(<]?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|FATAL|CRITICAL|SEVERE)\b
      | at\ [\w.$<>/]+\( | File\ "[^"]*",\ line\ \d | Traceback\ \( | Caused\ by:
      | [\w.$]+(?:Error|Exception)\b | [\w./-]+(?:\[\d+\])?:\ [\w.-]+:\  | [\w.-]+\[\d+\]:
    """,
    regex.VERBOSE,
)
_CODE_CHARACTERS: Final = frozenset('{}[]()<>=;|&$#*_\\/+~^`"@%:')
_CODE_SHARE: Final = 0.15
_ORDER_ITEM: Final = regex.compile(r"\d+ ?[x×] ")

# An abbreviation ("S.p.A.", "Ltd.") ends no sentence.
_SENTENCE_END: Final = regex.compile(r"\p{Ll}{3}[.:]$|[!?]$")
_PARTICLE_LETTERS: Final = 3
_NAME_WORDS: Final = 6
_NAME_SHARE: Final = 0.5


def prose_of(text: str) -> str:
    """A text without what is no prose; acronyms go too, unless the text is written in capitals."""
    kept = " ".join(filter(_is_written, _MARKUP.sub(" ", text).split()))
    return kept if is_in_capitals(kept) else _ACRONYM.sub(" ", kept)


def words_of(text: str) -> list[str]:
    """The words of a text; an apostrophe is part of its word."""
    words: list[str] = _WORD.findall(text.replace("’", "'"))
    return words


def is_in_capitals(text: str) -> bool:
    """Whether most letters of a text are capitals."""
    return sum(map(str.isupper, text)) > _MOSTLY_CAPITALS * sum(map(str.isalpha, text))


def is_prose(line: str) -> bool:
    """Whether a line that stands beside others is read: neither quoted, code, a log line nor an item of an order."""
    return not (line.startswith(">") or _LOG_LINE.match(line) or _ORDER_ITEM.match(line) or _is_code(line))


def is_name_like(line: str) -> bool:
    """Whether a line reads like a name, an address or a closing: few words, the long ones mostly capitalised."""
    words = words_of(prose_of(line))
    if not 0 < len(words) <= _NAME_WORDS or _SENTENCE_END.search(line):
        return False
    if is_in_capitals(line):
        return len(words) <= 2
    long_words = [word for word in words if len(word) > _PARTICLE_LETTERS] or words
    capitalised = sum(word[0].isupper() for word in long_words)
    has_number = any(character.isdecimal() for character in line)
    enough = len(words) <= _PARTICLE_LETTERS or has_number or capitalised == len(long_words)
    return enough and capitalised >= _NAME_SHARE * len(long_words) and capitalised > 0


def _is_written(token: str) -> bool:
    """Whether a token may be part of a sentence; plain words, which most tokens are, need no pattern."""
    if len(token) > LONGEST_WORD:
        return False
    return (token.isalpha() and token[1:].islower()) or not _MACHINE_TOKEN.search(token)


def _is_code(line: str) -> bool:
    if line.endswith((";", "{", "}")):
        return True
    characters = [character for character in line if not character.isspace()]
    return sum(character in _CODE_CHARACTERS for character in characters) > _CODE_SHARE * len(characters)
