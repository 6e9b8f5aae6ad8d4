"""A fresh virtual environment with the project's own wheels, in which plugins are installed and removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

# PEP 517, many projects in one process: a pip per project would take seconds each.
BUILD_WHEELS = """
import os, sys
from hatchling.build import build_wheel
for project in sys.argv[2:]:
    os.chdir(project)
    build_wheel(sys.argv[1])
"""
# What would bring the editable installs of the running environment along.
NOT_THIRD_PARTY = ("laya", "_editable_", "__editable__", "_virtualenv")


@attrs.frozen
class Environment:
    """A virtual environment in `folder`."""

    folder: Path

    @classmethod
    def create(cls, folder: Path) -> Environment:
        """Make an environment that sees the third-party packages of the running one, and nothing of laya."""
        environment = cls(folder)
        venv.create(folder, with_pip=False)
        links = folder / "third-party"
        links.mkdir()
        for site_packages in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
            for entry in Path(site_packages).iterdir():
                if not entry.name.startswith(NOT_THIRD_PARTY) and entry.suffix != ".pth":
                    (links / entry.name).symlink_to(entry)
        (environment._site_packages / "third-party.pth").write_text(f"{links}\n", encoding="utf-8")
        return environment

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder / "bin" / "python"

    @property
    def laya(self) -> Path:
        """The `laya` command that pip made."""
        return self.folder / "bin" / "laya"

    def install(self, wheels: list[Path]) -> None:
        """Install wheels with pip: no index, no dependencies."""
        self._pip("install", "--no-index", "--no-deps", "--no-compile", *map(str, wheels))

    def uninstall(self, distributions: list[str]) -> None:
        """Remove distributions with pip."""
        self._pip("uninstall", "--yes", *distributions)

    @contextmanager
    def installed(self, wheels: list[Path]) -> Iterator[None]:
        """Install wheels for a block."""
        self.install(wheels)
        try:
            yield
        finally:
            self.uninstall([wheel.name.split("-")[0] for wheel in wheels])

    def run(self, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command in this environment, away from the repository, with further environment variables."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LAYA_", "PYTHON"))}
        return subprocess.run(
            list(map(str, command)),
            cwd=self.folder,
            env={**kept, "COLUMNS": "200", "PYTHONUTF8": "1", **variables},
            capture_output=True,
            encoding="utf-8",
            timeout=240,
        )

    def run_well(self, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command that has to succeed."""
        finished = self.run(*command, **variables)
        assert finished.returncode == 0, finished.stdout + finished.stderr
        return finished

    def plugins(self, **variables: str) -> dict[str, dict[str, Any]]:
        """What `laya plugins` tells of each entry point, by `distribution:entry-point`."""
        rows = json.loads(self.run_well(self.laya, "plugins", "--json", **variables).stdout)
        return {f"{row['distribution']}:{row['entry_point']}": row for row in rows}

    @property
    def _site_packages(self) -> Path:
        where = {"base": str(self.folder), "platbase": str(self.folder)}
        return Path(sysconfig.get_path("purelib", "venv", vars=where))

    def _pip(self, *arguments: str) -> None:
        # The pip of the running environment, found among the third-party packages, in this interpreter.
        run_tool(self.python, "-m", "pip", "--isolated", "--disable-pip-version-check", "--quiet", *arguments)


def build_wheels(projects: list[Path], folder: Path) -> dict[str, Path]:
    """Build the wheels of projects into `folder`, without isolation or network; by distribution name."""
    run_tool(Path(sys.executable), "-c", BUILD_WHEELS, str(folder), *map(str, projects))
    return {wheel.name.split("-")[0].replace("_", "-"): wheel for wheel in folder.glob("*.whl")}


def run_tool(python: Path, *arguments: str) -> None:
    """Run a tool that has to succeed."""
    finished = subprocess.run([python, *arguments], capture_output=True, encoding="utf-8", timeout=240)
    assert finished.returncode == 0, finished.stdout + finished.stderr
