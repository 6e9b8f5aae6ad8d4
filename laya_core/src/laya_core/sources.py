"""Where a checkpoint comes from: a directory, or the Hugging Face Hub and its local cache."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Final

from attrs import frozen

from laya_hooks import Source, named_checkpoints, resolve_checkpoint
from laya_hooks.providers import proper_names
from laya_hooks.suggestions import did_you_mean

from .hub import DECISION_MODEL, Contents, fetch_snapshot

_HUB_ID: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")
_BLOCK: Final = 1 << 20


@frozen
class HubCheckpoint:
    """A repository on the Hub and the checkpoint's folder in it, or ""."""

    repo: str
    folder: str


@frozen
class LocalCheckpoint:
    """A checkpoint directory on this machine; `revision` is the Hub commit it was fetched from, if any."""

    model_id: str
    directory: Path
    revision: str | None = None


def find_checkpoint(
    source: Source,
    *,
    subfolder: str | None = None,
    revision: str | None = None,
    token: str | None = None,
    contents: Contents = DECISION_MODEL,
) -> LocalCheckpoint:
    """Find or download the checkpoint that `source` names.

    Args:
        source: a directory, a Hub id, (Hub id, subfolder), or a name of the router's table or a plugin. To load a
            directory that is called like a known name, write it with a separator (`./mini`).
        subfolder: the checkpoint's folder inside the directory or Hub repository.
        revision: a Hub branch, tag or commit.
        token: a Hub access token.
        contents: the files that make up the checkpoint, for a download.

    Raises:
        FileNotFoundError: there is no such directory, repository or revision.
        PermissionError: the Hub refuses access.
        HubUnreachable: the Hub does not answer and the checkpoint is not in the cache.
        ValueError: `source` can be neither a directory nor a Hub id.
        TypeError: it is nothing of the kind.
    """
    found = _place_of(source, subfolder)
    if isinstance(found, HubCheckpoint):
        repo, folder = found.repo, found.folder
        snapshot = fetch_snapshot(repo, folder, revision, token, contents)
        found = LocalCheckpoint(f"{repo}/{folder}" if folder else repo, snapshot / folder, snapshot.name)
    return _existing(found)


def check_source(source: Source, subfolder: str | None = None) -> None:
    """Refuse what cannot be a checkpoint of decisions, as far as can be told without torch and the Hub.

    Raises:
        FileNotFoundError: there is no such directory, or it is no checkpoint.
        ValueError: `source` can be neither a directory nor a Hub id.
        TypeError: it is nothing of the kind.
    """
    found = _place_of(source, subfolder)
    if isinstance(found, LocalCheckpoint):
        config = _existing(found).directory / DECISION_MODEL.needed[0]
        if not config.is_file():
            raise FileNotFoundError(f"{config} is missing; a checkpoint directory must contain it")


def verify_digests(directory: Path, expected_sha256: Mapping[str, str]) -> None:
    """Compare files with their expected SHA-256, before anything reads them.

    Args:
        expected_sha256: hex digest by path relative to `directory`.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a digest differs, or a path leads out of the directory.
    """
    if not isinstance(expected_sha256, Mapping):
        raise TypeError(f"expected_sha256 maps relative paths to hex digests, not {expected_sha256!r}")
    for name, expected in expected_sha256.items():
        path = directory / _checked_subfolder(name)
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing, so its SHA-256 cannot be checked")
        actual = _sha256(path)
        if actual != str(expected).strip().lower():
            raise ValueError(
                f"{path} has SHA-256 {actual}, expected {expected}; do not use this file, download it again"
            )


def _place_of(source: Source, subfolder: str | None) -> LocalCheckpoint | HubCheckpoint:
    resolved = resolve_checkpoint(source)
    match resolved:
        case (str() | os.PathLike() as resolved, str() | None as inner):
            subfolder = subfolder or inner
        case str() | os.PathLike():
            pass
        case _:
            raise TypeError(
                f"a checkpoint is a directory, a Hub id, a name or (repository, subfolder), not {resolved!r}"
            )
    location = os.path.expanduser(os.fspath(resolved))
    folder = _checked_subfolder(subfolder)
    if os.path.isdir(location):
        return LocalCheckpoint(str(source) if isinstance(source, str) else location, Path(location, folder))
    if not isinstance(resolved, str) or _looks_like_path(resolved):
        raise FileNotFoundError(f"there is no checkpoint directory {location}; check the path")
    if _HUB_ID.fullmatch(resolved):
        return HubCheckpoint(resolved, folder)
    raise ValueError(
        f"unknown checkpoint {resolved!r}: not a directory, not a Hub id (owner/name), and not one of the names "
        f"that are known: {', '.join(sorted(proper_names()))}{did_you_mean(resolved, named_checkpoints())}"
    )


def _existing(found: LocalCheckpoint) -> LocalCheckpoint:
    if not found.directory.is_dir():
        raise FileNotFoundError(f"{found.directory} is missing; check the subfolder {found.directory.name!r}")
    return found


def _looks_like_path(source: str) -> bool:
    is_relative = source.startswith(("./", "../", "~", ".\\", "..\\"))
    return is_relative or os.path.isabs(source) or source.endswith("/") or source.count("/") > 1


def _checked_subfolder(folder: str | None) -> str:
    if folder is not None and not isinstance(folder, str):
        raise TypeError(f"{folder!r} must be a relative path inside the checkpoint, as a string")
    path = PurePosixPath(folder or "")
    if path.is_absolute() or ".." in path.parts:
        raise ValueError(f"{folder!r} must be a relative path inside the checkpoint")
    return "" if path == PurePosixPath() else str(path)


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
