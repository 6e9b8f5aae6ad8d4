"""Which of the installed entry points are loaded, by LAYA_PLUGINS and LAYA_PLUGINS_DISABLE."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import attrs

FRAMEWORK: Final = frozenset({"laya", "laya-hooks", "laya-core", "laya-router", "laya-serve", "laya-mini"})
"""The distributions that LAYA_PLUGINS does not switch off."""

_EVERYTHING: Final = frozenset({"1", "all"})
_NOTHING: Final = frozenset({"0", "none"})
_TRUE: Final = frozenset({"1", "true", "yes", "on"})


def normalised_name(name: str) -> str:
    """Return a name as PyPI compares those of distributions."""
    return re.sub(r"[-_.]+", "-", name).lower()


@attrs.frozen
class Selection:
    """What the environment asks for; None in `only` means every plugin."""

    only: frozenset[str] | None = None
    disabled: frozenset[str] = frozenset()
    strict: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Selection:
        """Read LAYA_PLUGINS, LAYA_PLUGINS_DISABLE and LAYA_PLUGINS_STRICT; blank counts as unset."""
        only: frozenset[str] | None = _names(environment.get("LAYA_PLUGINS", ""))
        if not only or only <= _EVERYTHING:
            only = None
        elif only <= _NOTHING:
            only = frozenset()
        return cls(
            only,
            _names(environment.get("LAYA_PLUGINS_DISABLE", "")),
            environment.get("LAYA_PLUGINS_STRICT", "").strip().lower() in _TRUE,
        )

    def blocked_because(self, distribution: str, entry_point: str) -> str | None:
        """Return why an entry point is not loaded, or None if it is."""
        if self.disabled & _aliases(distribution, entry_point):
            return "named in LAYA_PLUGINS_DISABLE"
        if self.only is None or normalised_name(distribution) in FRAMEWORK:
            return None
        if self.only & _aliases(distribution, entry_point):
            return None
        return "not named in LAYA_PLUGINS" if self.only else "LAYA_PLUGINS=0"

    def unmatched(self, found: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
        """Yield the names that fit none of the (distribution, entry point) found.

        Each comes with its variable, and with what may have been meant as the end of a message.
        """
        from .suggestions import did_you_mean

        known = {alias for distribution, entry_point in found for alias in _aliases(distribution, entry_point)}
        for variable, names in (("LAYA_PLUGINS", self.only), ("LAYA_PLUGINS_DISABLE", self.disabled)):
            for name in sorted((names or frozenset()) - known):
                yield variable, name, did_you_mean(name, sorted(known))


def _names(value: str) -> frozenset[str]:
    return frozenset(normalised_name(name.strip()) for name in value.split(",") if name.strip())


def _aliases(distribution: str, entry_point: str) -> set[str]:
    """The ways to name an entry point: its name, its distribution, or `distribution:name`."""
    distribution, entry_point = normalised_name(distribution), normalised_name(entry_point)
    return {entry_point, distribution, f"{distribution}:{entry_point}"}
