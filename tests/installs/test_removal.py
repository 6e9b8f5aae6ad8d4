"""What pip removes is gone, and nothing of the running environment was there in the first place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .environment import Environment

pytestmark = pytest.mark.slow

SCRIPTS = Path(__file__).parent / "scripts"
PLUGINS = {"acme-redact:redact", "globex-echo:echo"}
ORIGINS = """
import laya, laya_core, laya_hooks, laya_router, laya_serve
for package in laya, laya_core, laya_hooks, laya_router, laya_serve:
    print(package.__file__)
"""


def test_uninstalling_removes_the_behaviour(environment: Environment, wheels: dict[str, Path]) -> None:
    with environment.installed([wheels["acme-redact"], wheels["globex-echo"]]):
        first, *_, result = _decide(environment)
        assert first == "echo start ['Card 4111 was charged twice']"
        assert json.loads(result)["digits_masked"] == 4
        assert set(environment.plugins()) >= PLUGINS
    (result,) = _decide(environment)
    assert "digits_masked" not in json.loads(result)
    assert not PLUGINS & set(environment.plugins())
    assert environment.run(environment.laya, "redact", "room 12").returncode == 2


def test_the_packages_come_from_the_wheels_alone(environment: Environment) -> None:
    origins = environment.run_well(environment.python, "-c", ORIGINS).stdout.splitlines()
    assert len(origins) == 5
    assert all(Path(origin).is_relative_to(environment.folder) for origin in origins)
    assert all(row["distribution"].startswith("laya-") for row in environment.plugins().values())


def _decide(environment: Environment) -> list[str]:
    return environment.run_well(environment.python, SCRIPTS / "decide_with_fake.py").stdout.splitlines()
