"""Checkpoints on the Hugging Face Hub: the files one needs, downloaded into the client's cache or found there."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Final

from attrs import frozen

from laya_hooks import HubUnreachable
from laya_hooks.providers import described, installed_checkpoint


@frozen
class Contents:
    """The files of a checkpoint: those it cannot do without, and the patterns of what is downloaded."""

    needed: tuple[str, ...]
    patterns: tuple[str, ...]


DECISION_MODEL: Final = Contents(
    needed=(
        "rl_agent_config.json",
        "model.safetensors",
        "encoder/config.json",
        "tokenizer/tokenizer.json",
        "tokenizer/tokenizer_config.json",
    ),
    patterns=("rl_agent_config.json", "model.safetensors", "encoder/config.json", "tokenizer/*"),
)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


def fetch_snapshot(
    repo: str, folder: str, revision: str | None, token: str | None, contents: Contents = DECISION_MODEL
) -> Path:
    """The cached snapshot of a repository that holds the checkpoint in `folder`; its name is the commit.

    What is missing is downloaded. Without a usable Hub, a complete snapshot in the cache is taken.

    Args:
        folder: the checkpoint's folder inside the repository, or "".
        revision: a branch, tag or commit; None for the default branch.
        contents: the files of the checkpoint.

    Raises:
        FileNotFoundError: there is no such repository or revision.
        PermissionError: the Hub refuses access.
        HubUnreachable: the Hub does not answer and the cache lacks a file.
    """
    from huggingface_hub import errors, snapshot_download

    prefix = f"{folder}/" if folder else ""
    patterns = [prefix + pattern for pattern in contents.patterns]
    snapshot = partial(snapshot_download, repo, revision=revision, token=token, allow_patterns=patterns)
    if revision is not None and _COMMIT.fullmatch(revision):  # never changes, so there is nothing to ask
        cached = _cached(snapshot, folder, contents)
        if cached is not None:
            return cached
    try:
        _require_answer(repo, revision, token)
        return Path(snapshot())
    except errors.RevisionNotFoundError:
        raise FileNotFoundError(f"{repo} has no revision {revision!r} on the Hub") from None
    except (errors.HTTPError, errors.LocalEntryNotFoundError, errors.FileMetadataError, ConnectionError) as failure:
        cached = _cached(snapshot, folder, contents)
        if cached is not None:
            return cached
        raise _explained(failure, repo, folder, revision, contents) from failure


def _require_answer(repo: str, revision: str | None, token: str | None) -> None:
    """Ask for the revision once. The client's own requests wait without a limit, or retry for half a minute."""
    from huggingface_hub import HfApi, constants

    HfApi(token=token).model_info(repo, revision=revision, timeout=constants.HF_HUB_ETAG_TIMEOUT)


def _cached(snapshot: Callable[..., str], folder: str, contents: Contents) -> Path | None:
    """The snapshot as the cache has it, or None when a file is missing there."""
    from huggingface_hub import errors

    try:
        directory = Path(snapshot(local_files_only=True))
    except errors.LocalEntryNotFoundError:
        return None
    return directory if all((directory / folder / name).is_file() for name in contents.needed) else None


def _explained(failure: Exception, repo: str, folder: str, revision: str | None, contents: Contents) -> OSError:
    from huggingface_hub import constants, errors

    if isinstance(failure, errors.GatedRepoError):
        return PermissionError(f"{repo} is gated; accept its terms on the Hub and pass token=")
    if isinstance(failure, errors.RepositoryNotFoundError):
        return FileNotFoundError(f"there is no repository {repo} on the Hub; a private one needs token=")
    reason = next(iter(str(failure).splitlines()), type(failure).__name__)
    if isinstance(failure, errors.HfHubHTTPError) and failure.response.status_code in (401, 403):
        return PermissionError(f"the Hub refuses access to {repo}; check the token ({reason})")
    checkpoint = f"{repo}/{folder}" if folder else repo
    installed = installed_checkpoint() if contents is DECISION_MODEL else None
    here = "" if installed is None else f", or load the installed {described(installed)}"
    return HubUnreachable(
        f"{checkpoint} is not in the local cache ({constants.HF_HUB_CACHE}) and the Hub at {constants.ENDPOINT} cannot "
        f"be reached ({reason})",
        installed,
        checkpoint,
        _download_command(repo, folder, revision, contents),
        f"load a local directory{here}",
    )


def _download_command(repo: str, folder: str, revision: str | None, contents: Contents) -> str:
    """What to type to have the files of a checkpoint in the cache."""
    patterns = [f"{folder}/*"] if folder else contents.patterns
    chosen = "".join(f' --include "{name}"' if "*" in name else f" --include {name}" for name in patterns)
    return f"hf download {repo}{chosen}{f' --revision {revision}' if revision else ''}"
