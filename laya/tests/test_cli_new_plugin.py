from __future__ import annotations

import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Run: TypeAlias = Callable[..., tuple[int, str, str]]


def test_a_new_plugin_passes_its_own_tests_at_once(laya: Run, tmp_path: Path) -> None:
    code, out, _ = laya("plugins", "new", "laya-Slow.calls", "--dir", str(tmp_path))
    project = tmp_path / "laya-Slow.calls"
    assert code == 0 and str(project) in out
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(project)],
        capture_output=True,
        text=True,
        check=False,
        cwd=project,
    )
    assert run.returncode == 0, run.stdout
    assert "2 passed" in run.stdout


def test_the_commands_to_go_on_with_name_its_test_tools_and_work_in_a_folder_of_any_name(
    laya: Run, tmp_path: Path
) -> None:
    parent = tmp_path / "my projects"
    code, out, _ = laya("plugins", "new", "slow_calls", "--dir", str(parent))
    assert code == 0
    install, test, _ = (shlex.split(line, comments=True) for line in out.splitlines() if line.startswith("  "))
    extra = f"{parent / 'slow_calls'}[test]"
    assert install == ["pip", "install", "-e", extra]
    assert test == ["python", "-m", "pytest", str(parent / "slow_calls")]
    project = tomllib.loads((parent / "slow_calls" / "pyproject.toml").read_text())
    assert any(need.startswith("pytest") for need in project["project"]["optional-dependencies"]["test"])


def test_its_project_names_the_entry_point(laya: Run, tmp_path: Path) -> None:
    laya("plugins", "new", "slow_calls", "--dir", str(tmp_path))
    project = tomllib.loads((tmp_path / "slow_calls" / "pyproject.toml").read_text())
    assert project["project"]["name"] == "slow_calls"
    assert project["project"]["entry-points"]["laya"] == {"slow_calls": "slow_calls:SlowCalls"}
    assert (tmp_path / "slow_calls" / "src" / "slow_calls" / "py.typed").exists()


def test_what_it_writes_is_clean_for_ruff_and_mypy(laya: Run, tmp_path: Path) -> None:
    laya("plugins", "new", "slow_calls", "--dir", str(tmp_path))
    source = tmp_path / "slow_calls" / "src"
    for tool in (
        ["ruff", "check"],
        ["ruff", "format", "--check"],
        ["mypy", "--strict", "--cache-dir", str(tmp_path / "c")],
    ):
        run = subprocess.run([sys.executable, "-m", *tool, str(source)], capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout


@pytest.mark.parametrize("name", ["", "-x", "x-", "3d", "a b", "class", "../up", "é"])
def test_a_name_that_cannot_be_a_distribution_and_a_module_is_refused(laya: Run, tmp_path: Path, name: str) -> None:
    code, _, err = laya("plugins", "new", "--dir", str(tmp_path), "--", name)
    assert code == 2 and "cannot name a plugin" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["laya", "json", "laya-hooks"])
def test_a_name_that_would_hide_a_module_is_refused(laya: Run, tmp_path: Path, name: str) -> None:
    code, _, err = laya("plugins", "new", name, "--dir", str(tmp_path))
    assert code == 2 and "would hide" in err


def test_a_folder_with_something_in_it_is_left_alone(laya: Run, tmp_path: Path) -> None:
    (tmp_path / "mine_own").mkdir()
    (tmp_path / "mine_own" / "notes.txt").write_text("keep")
    code, _, err = laya("plugins", "new", "mine_own", "--dir", str(tmp_path))
    assert code == 2 and "is not empty" in err
    assert [path.name for path in (tmp_path / "mine_own").iterdir()] == ["notes.txt"]
