"""`laya plugins new` writes a project that builds, installs, passes its own tests and is found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from .environment import Environment, build_wheels

pytestmark = pytest.mark.slow

NAME = "initech-stopwatch"


@pytest.fixture(scope="module")
def project(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The project as the command writes it, its wheel installed."""
    parent = tmp_path_factory.mktemp("projects")
    written = environment.run_well(environment.laya, "plugins", "new", NAME, "--dir", parent)
    assert str(parent / NAME) in written.stdout
    wheels = build_wheels([parent / NAME], tmp_path_factory.mktemp("new-wheel"))
    with environment.installed([wheels[NAME]]):
        yield parent / NAME


def test_its_own_tests_pass(environment: Environment, project: Path) -> None:
    finished = environment.run_well(environment.python, "-m", "pytest", "-p", "no:cacheprovider", project)
    assert "2 passed" in finished.stdout


def test_it_is_found_and_loaded(environment: Environment, project: Path) -> None:
    row = environment.plugins()[f"{NAME}:initech_stopwatch"]
    assert row["status"] == "loaded"
    assert row["value"] == "initech_stopwatch:InitechStopwatch"
    assert row["events"] == ["on_predict_end"]


def test_it_acts_without_any_code_as_its_readme_says(
    environment: Environment, project: Path, mini_checkpoint: str
) -> None:
    readme = (project / "README.md").read_text(encoding="utf-8")
    shown = re.search(r'^python -c "\n(.+?)^"$', readme, re.DOTALL | re.MULTILINE)
    assert shown is not None and mini_checkpoint in shown[1]
    finished = environment.run_well(environment.python, "-c", shown[1])
    (line,) = (line for line in finished.stderr.splitlines() if line.startswith("INFO:initech_stopwatch:"))
    assert "answered in" in line


def test_a_second_one_of_the_same_name_is_refused(environment: Environment, project: Path) -> None:
    refused = environment.run(environment.laya, "plugins", "new", NAME, "--dir", project.parent)
    assert refused.returncode == 2
    assert refused.stderr.startswith("laya: error: ")
