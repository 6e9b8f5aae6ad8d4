"""Calibration temperatures by language."""

from __future__ import annotations

from collections.abc import Mapping

from .config import Temperatures


def primary_subtag(tag: str) -> str:
    """The primary language subtag of a BCP 47 tag or a POSIX locale, lower-case: "de" for "de_AT.UTF-8"."""
    return tag.strip().lower().replace("_", "-").split(".")[0].split("-")[0]


def parse_lang_temperatures(by_language: object, inherited: Temperatures) -> dict[str, Temperatures]:
    """Read `lang_temperatures`. A language's bands replace the checkpoint's; an omitted `temperature` inherits.

    Raises:
        ValueError: it is not `{language: {"temperature": [...], "temperature_by_options": {...}}}`, or two tags
            name one language.
    """
    if not isinstance(by_language, Mapping):
        raise ValueError(f"lang_temperatures must map languages to temperatures, not {by_language!r}")
    parsed: dict[str, Temperatures] = {}
    for tag, entry in by_language.items():
        where = f"lang_temperatures[{tag!r}]"
        if not isinstance(entry, Mapping) or not entry.keys() <= {"temperature", "temperature_by_options"}:
            raise ValueError(f"{where} takes 'temperature' and 'temperature_by_options', not {entry!r}")
        language = primary_subtag(str(tag))
        if language in parsed:
            raise ValueError(f"{where}: there are temperatures for {language!r} already; give one entry per language")
        by_type = entry.get("temperature", inherited.by_type)
        parsed[language] = Temperatures.parse(by_type, entry.get("temperature_by_options", {}), where)
    return parsed
