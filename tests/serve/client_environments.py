"""Virtual environments for clients that nobody here wrote, so that their dependencies stay out of ours."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# What pip says when it could not ask the index; anything else is a failure of the test.
_OUT_OF_REACH = ("NewConnectionError", "ConnectTimeoutError", "Could not fetch URL", "No matching distribution found")
_INSTALL_SECONDS = 280

SDK = ("jevcompat==0.1.1", "typesafe-sdk==0.7.5")
"""TypeSafe's client, and the conformance suite, which has a requirement that is checked with that client."""

SCHEMATHESIS = ("schemathesis==4.32.5",)


def client_environment(cache: Path, packages: tuple[str, ...]) -> Path:
    """The folder of the commands of an environment with these packages in it, made once and kept in `cache`."""
    name = "-".join([*(package.replace("==", "-") for package in packages), f"py{sys.version_info.minor}"])
    folder = cache / name
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=_INSTALL_SECONDS)
        _install(folder, packages)
        (folder / "complete").touch()
    return folder / "bin"


def _install(folder: Path, packages: tuple[str, ...]) -> None:
    installed = subprocess.run(
        [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
        capture_output=True,
        text=True,
        timeout=_INSTALL_SECONDS,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")},
        check=False,
    )
    if installed.returncode == 0:
        return
    shutil.rmtree(folder, ignore_errors=True)
    if any(sign in installed.stderr for sign in _OUT_OF_REACH):
        pytest.skip(f"{', '.join(packages)} cannot be installed, as the package index is out of reach")
    raise RuntimeError(f"{', '.join(packages)} cannot be installed:\n{installed.stderr}")
