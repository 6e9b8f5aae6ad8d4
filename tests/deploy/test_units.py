"""The systemd unit, the compose file, and the settings they and the documentation name."""

from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
from pathlib import Path

import attrs
import pytest
import yaml

from laya_serve import Settings
from laya_serve.settings import variable_of

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PAGES = [ROOT / "docs" / "deployment.md", ROOT / "docs" / "playground.md", *sorted(DEPLOY.iterdir())]
# Read by laya_hooks and by the reader's own shell, not by the server.
ELSEWHERE = {"LAYA_PLUGINS", "LAYA_PLUGINS_DISABLE", "LAYA_PLUGINS_STRICT"}


def unit() -> dict[str, list[str]]:
    """The [Service] section; a key may come several times."""
    section: dict[str, list[str]] = {}
    text = (DEPLOY / "laya.service").read_text(encoding="utf-8").partition("[Service]")[2].partition("[Install]")[0]
    for line in text.splitlines():
        if line and not line.startswith("#"):
            key, _, value = line.partition("=")
            section.setdefault(key, []).append(value)
    return section


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_setting_that_is_named_exists(page: Path) -> None:
    known = {variable_of(field.name) for field in attrs.fields(Settings)} | ELSEWHERE
    assert set(re.findall(r"\bLAYA_[A-Z_]+[A-Z]\b", page.read_text(encoding="utf-8"))) <= known


def test_the_example_of_settings_can_be_read() -> None:
    text = (DEPLOY / "laya.env.example").read_text(encoding="utf-8").replace("#LAYA_", "LAYA_")
    parser = configparser.ConfigParser()
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string("[env]\n" + "\n".join(line for line in text.splitlines() if not line.startswith("#")))
    settings = Settings.from_environment(dict(parser["env"]))
    assert (settings.default_model, settings.models, settings.root_path) == ("mini", ("mini",), "/laya")


@pytest.fixture
def runnable_unit(tmp_path: Path) -> Path:
    """The unit with a program that is there."""
    text = (DEPLOY / "laya.service").read_text(encoding="utf-8")
    assert "ExecStart=/opt/laya/bin/laya-serve\n" in text
    copy = tmp_path / "laya.service"
    copy.write_text(text.replace("/opt/laya/bin/laya-serve", sys.executable), encoding="utf-8")
    return copy


needs_systemd = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")


@needs_systemd
def test_systemd_finds_no_mistake_in_the_unit(runnable_unit: Path) -> None:
    command = ["systemd-analyze", "verify", "--man=no", str(runnable_unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    own = [line for line in (done.stdout + done.stderr).splitlines() if "laya.service" in line]
    assert (done.returncode, own) == (0, [])


@needs_systemd
def test_systemd_rates_the_unit_as_well_protected(runnable_unit: Path) -> None:
    command = ["systemd-analyze", "security", "--no-pager", "--offline=true", "--threshold=25", str(runnable_unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-400:] + done.stderr


def test_a_mistake_in_the_settings_does_not_restart_the_server_for_ever() -> None:
    service = unit()
    assert service["Restart"] == ["on-failure"]
    assert service["RestartPreventExitStatus"] == ["2"]
    command = [sys.executable, "-m", "laya_serve", "--port", "many"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2


def test_whoever_stops_the_server_waits_longer_than_it_drains() -> None:
    grace = Settings().shutdown_grace
    service = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]["laya"]
    assert float(unit()["TimeoutStopSec"][0]) > grace
    assert float(service["stop_grace_period"].removesuffix("s")) > grace


def test_compose_builds_the_dockerfile_and_keeps_the_weights() -> None:
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    service = compose["services"]["laya"]
    build = service["build"]
    assert (DEPLOY / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).is_file()
    (volume,) = service["volumes"]
    name, path = volume.split(":")
    assert name in compose["volumes"]
    assert f"VOLUME {path}\n" in (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
