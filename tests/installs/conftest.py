"""The environment and the wheels that the tests of real installs share."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from .environment import Environment, build_wheels

ROOT = Path(__file__).parents[2]
MINI = ROOT / "plugins" / "laya-mini"
MINI_CHECKPOINT = MINI / "src" / "laya_mini" / "checkpoint"
PACKAGES = [ROOT, *(ROOT / name for name in ("laya_hooks", "laya_core", "laya_router", "laya_serve"))]
PLUGINS = sorted(ROOT.glob("tests/plugins_under_test/*/pyproject.toml"))


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheels of the plugins under test, by distribution name."""
    return build_wheels([project.parent for project in PLUGINS], tmp_path_factory.mktemp("plugin-wheels"))


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """A virtual environment with the wheels of the project in it, and no plugin."""
    folder = tmp_path_factory.mktemp("environment")
    own = build_wheels([*PACKAGES, *([MINI] if MINI_CHECKPOINT.is_dir() else [])], folder)
    environment = Environment.create(folder / "venv")
    environment.install(list(own.values()))
    yield environment
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def healthy_plugins(environment: Environment, wheels: dict[str, Path]) -> Iterator[None]:
    """`acme-redact` and `globex-echo`, installed."""
    with environment.installed([wheels["acme-redact"], wheels["globex-echo"]]):
        yield


@pytest.fixture(scope="module")
def all_plugins(environment: Environment, wheels: dict[str, Path]) -> Iterator[None]:
    """The healthy ones and those that are broken, installed."""
    with environment.installed(list(wheels.values())):
        yield


@pytest.fixture(scope="session")
def mini_checkpoint() -> str:
    """The name of the embedded checkpoint."""
    if not MINI_CHECKPOINT.is_dir():
        pytest.skip("the embedded checkpoint has not been trained into plugins/laya-mini yet")
    return "mini"
