"""Writes a new plugin project from the templates in this package."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z0-9]|[A-Za-z0-9][A-Za-z0-9._-]*[A-Za-z0-9]")
_SUFFIX: Final = ".tmpl"


def write_plugin(name: str, parent: Path) -> Path:
    """Write the project of a plugin into a new folder `parent/name` and return that folder.

    Raises:
        ValueError: the name cannot be that of a distribution, or its module exists already.
        FileExistsError: the folder exists and is not empty.
    """
    module = _module_name(name)
    project = parent / name
    if project.exists() and any(project.iterdir()):
        raise FileExistsError(f"{project} exists and is not empty")
    words = {"name": name, "module": module, "hook": "".join(part.capitalize() for part in module.split("_"))}
    for path, template in _templates(files("laya.cli") / "templates" / "plugin"):
        target = project / Template(path).substitute(words)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(Template(template).substitute(words), encoding="utf-8")
    return project


def _module_name(name: str) -> str:
    module = re.sub(r"[-.]+", "_", name).lower()
    if not _NAME.fullmatch(name) or not module.isidentifier() or keyword.iskeyword(module):
        raise ValueError(f"{name!r} cannot name a plugin: use letters, digits, '-' and '_', a letter first")
    if find_spec(module) is not None:
        raise ValueError(f"{name!r} would hide the installed module {module!r}; choose another name")
    return module


def _templates(folder: Traversable, inside: str = "") -> Iterator[tuple[str, str]]:
    """The path of each file to write, `$` placeholders in it, and its template."""
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _templates(entry, f"{inside}{entry.name}/")
        elif entry.name.endswith(_SUFFIX):
            yield inside + entry.name.removesuffix(_SUFFIX), entry.read_text(encoding="utf-8")
