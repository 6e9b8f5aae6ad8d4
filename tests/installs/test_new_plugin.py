"""`laya plugins new` writes a project that builds, installs, passes its own tests and is found."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .environment import Environment, build_wheels

pytestmark = pytest.mark.slow

NAME = "initech-stopwatch"
ONE_CALL = """
import logging
logging.basicConfig(level="INFO")
from laya_hooks.testing import FakeAgent
FakeAgent().predict("a state", {})
"""


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


def test_it_acts_without_any_code(environment: Environment, project: Path) -> None:
    finished = environment.run_well(environment.python, "-c", ONE_CALL)
    assert "INFO:initech_stopwatch:" in finished.stderr
    assert "answered in" in finished.stderr


def test_a_second_one_of_the_same_name_is_refused(environment: Environment, project: Path) -> None:
    refused = environment.run(environment.laya, "plugins", "new", NAME, "--dir", project.parent)
    assert refused.returncode == 2
    assert refused.stderr.startswith("laya: error: ")
