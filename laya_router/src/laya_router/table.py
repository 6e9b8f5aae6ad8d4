"""The checkpoints a router knows: their names, the other names people use for them, and where they come from."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import attrs

from laya_hooks.protocols import Source
from laya_hooks.providers import checkpoint_descriptions, named_checkpoints
from laya_hooks.suggestions import did_you_mean

ENGLISH: Final = "english"
MULTILINGUAL: Final = "multilingual"
TYPED_DECISIONS: Final = "typed-decisions"

_HUB_REPO: Final = "convaiinnovations/laya"

_DESCRIPTIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        ENGLISH: "reads English",
        MULTILINGUAL: "reads every other language",
        TYPED_DECISIONS: "tuned on four typed-decisions workflows",
    }
)
_SUBFOLDERS: Final[Mapping[str, Source]] = MappingProxyType(
    {
        ENGLISH: (_HUB_REPO, None),
        MULTILINGUAL: (_HUB_REPO, MULTILINGUAL),
        TYPED_DECISIONS: (_HUB_REPO, TYPED_DECISIONS),
    }
)
_STANDALONE_REPOS: Final[Mapping[str, Source]] = MappingProxyType(
    {
        ENGLISH: (_HUB_REPO, None),
        MULTILINGUAL: (f"{_HUB_REPO}-multilingual", None),
        TYPED_DECISIONS: (f"{_HUB_REPO}-typed-decisions", None),
    }
)
ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "en": ENGLISH,
        "laya": ENGLISH,
        "default": ENGLISH,
        _HUB_REPO: ENGLISH,
        "multi": MULTILINGUAL,
        "ml": MULTILINGUAL,
        "laya-multilingual": MULTILINGUAL,
        f"{_HUB_REPO}-multilingual": MULTILINGUAL,
        "typed": TYPED_DECISIONS,
        "typed_decisions": TYPED_DECISIONS,
        "decisions": TYPED_DECISIONS,
        "laya-typed-decisions": TYPED_DECISIONS,
        f"{_HUB_REPO}-typed-decisions": TYPED_DECISIONS,
    }
)

_NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]*")
_ROUTE: Final = "auto"


def published_sources(standalone_repos: bool = False) -> Mapping[str, Source]:
    """The published checkpoints by name: subfolders of one Hub repo, or a repo of their own each."""
    return _STANDALONE_REPOS if standalone_repos else _SUBFOLDERS


def clean_name(name: str) -> str:
    """A checkpoint name trimmed and lower-cased.

    Raises:
        TypeError: `name` is not a string.
    """
    if not isinstance(name, str):
        raise TypeError(f"a checkpoint name is a string, not {type(name).__name__} {name!r}")
    return name.strip().lower()


def asks_for_routing(model: str) -> bool:
    """Whether a `model=` means "let the router choose"."""
    return clean_name(model) == _ROUTE


@attrs.frozen
class Checkpoint:
    """One entry of the table; `source` is None for an attached agent that no source can rebuild."""

    name: str
    source: Source | None
    description: str | None = None

    @property
    def repo(self) -> str:
        """Where it comes from in one string: "repo", "repo/subfolder", a path, or its name when attached."""
        match self.source:
            case None:
                return self.name
            case (repo, subfolder):
                return f"{repo}/{subfolder}" if subfolder else str(repo)
            case path_or_repo:
                return os.fspath(path_or_repo)


class CheckpointTable:
    """Names, aliases and sources; changed by any thread, read by all without a lock."""

    def __init__(self, published: Mapping[str, Source]) -> None:
        self._published = {name: Checkpoint(name, source, _DESCRIPTIONS[name]) for name, source in published.items()}
        self._entries = dict(self._published)
        self._writes = threading.Lock()  # guards replacing _entries, which itself is never changed

    @classmethod
    def for_router(cls, models: Mapping[str, Source], standalone_repos: bool) -> CheckpointTable:
        """The published checkpoints, those that plugins bring, and a caller's own, which win over both.

        Raises:
            TypeError, ValueError: a name or a source of the caller cannot be one.
        """
        if not isinstance(models, Mapping):
            raise TypeError(f"models are a mapping of name to source, not {type(models).__name__}")
        table = cls(published_sources(standalone_repos))
        descriptions = checkpoint_descriptions()
        for name, source in named_checkpoints().items():
            if clean_name(name) not in table and clean_name(name) not in ALIASES:
                table.register(name, source, descriptions.get(name))
        for name, source in models.items():
            table.register(name, source)
        return table

    def resolve(self, name: str) -> str:
        """The table's own name for a name or alias.

        Raises:
            TypeError: `name` is not a string.
            ValueError: nothing goes by that name; the message lists what does.
        """
        return self._entry(canonical_name(name), name).name

    def __getitem__(self, name: str) -> Checkpoint:
        """The entry under the table's own name.

        Raises:
            ValueError: there is none, or it has just been taken out.
        """
        return self._entry(name, name)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def _entry(self, name: str, asked: str) -> Checkpoint:
        """The entry under the table's own name, for a caller who asked for it as `asked`.

        Raises:
            ValueError: there is none; the message lists what there is.
        """
        entries = self._entries
        entry = entries.get(name)
        if entry is None:
            known = f"known are {', '.join(sorted(entries))} and their aliases"
            raise ValueError(f"unknown model {asked!r}; {known}{did_you_mean(asked, [*entries, *ALIASES])}")
        return entry

    def has_source(self, name: str) -> bool:
        """Whether the checkpoint could be built (again)."""
        entry = self._entries.get(name)
        return entry is not None and entry.source is not None

    def buildable(self) -> list[str]:
        """The names that have a source."""
        return [name for name, entry in self._entries.items() if entry.source is not None]

    def sources(self) -> dict[str, Source]:
        """Every name with its source, or with itself where an attached agent has none."""
        return {name: entry.source or name for name, entry in self._entries.items()}

    def register(self, name: str, source: Source, description: str | None = None) -> tuple[str, bool]:
        """Add a name or point a known one, or its alias, somewhere else; its own name, and whether that is news.

        Raises:
            TypeError: the name or the source is of the wrong type.
            ValueError: the name cannot be one, or the source is blank.
        """
        checkpoint = Checkpoint(_checked_name(name), checked_source(source), description)
        with self._writes:
            before = self._entries.get(checkpoint.name)
            self._entries = {**self._entries, checkpoint.name: checkpoint}
        return checkpoint.name, before is None or before.source != checkpoint.source

    def attach(self, name: str) -> str:
        """The table's own name for an agent brought by the caller; a new name gets an entry without a source.

        Raises:
            TypeError, ValueError: the name cannot be one.
        """
        checked = _checked_name(name)
        with self._writes:
            if checked not in self._entries:
                self._entries = {**self._entries, checked: Checkpoint(checked, None)}
        return checked

    def unregister(self, name: str, keep: str) -> None:
        """Forget a name; a published one gets its own source back.

        Raises:
            ValueError: it is `keep`, the router's default, and not published.
        """
        with self._writes:
            if name in self._published:
                self._entries = {**self._entries, name: self._published[name]}
            elif name == keep:
                raise ValueError(f"{name!r} is the default of this router and stays registered")
            else:
                self._entries = {key: entry for key, entry in self._entries.items() if key != name}


def canonical_name(name: str) -> str:
    """A name trimmed and lower-cased, an alias replaced by what it stands for.

    Raises:
        TypeError: `name` is not a string.
    """
    cleaned = clean_name(name)
    return ALIASES.get(cleaned, cleaned)


def _checked_name(name: str) -> str:
    checked = canonical_name(name)
    if not _NAME.fullmatch(checked) or checked == _ROUTE:
        raise ValueError(
            f"{name!r} cannot name a checkpoint: use letters, digits, '.', '_' and '-', and not {_ROUTE!r}"
        )
    return checked


def checked_source(source: Source) -> Source:
    """A source as the table keeps it: a path, a Hub id, or (Hub id, subfolder).

    Raises:
        TypeError: it is none of them.
        ValueError: it is blank.
    """
    match source:
        case str() | os.PathLike():
            if not os.fspath(source).strip():
                raise ValueError("a checkpoint source is blank; give a directory or a Hub id")
            return source
        case (str(repo), str() | None as subfolder) if repo.strip():
            return repo, subfolder or None
    raise TypeError(f"a checkpoint source is a directory, a Hub id or (Hub id, subfolder), not {source!r}")
