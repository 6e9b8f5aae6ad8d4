"""The Dockerfile: what hadolint asks for, and its steps carried out without Docker."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"


def steps() -> list[tuple[str, str]]:
    """Instruction and arguments of each step, continued lines joined."""
    text = re.sub(r"\\\n\s*", "", DOCKERFILE.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def arguments(word: str) -> list[str]:
    return [rest for name, rest in steps() if name == word]


def test_every_base_image_has_a_version() -> None:
    assert arguments("FROM")
    assert all(re.match(r"[\w./-]+:\d[\w.-]*( AS \w+)?$", image) for image in arguments("FROM"))


def test_the_server_runs_as_a_user_without_rights_given_by_number() -> None:
    names = [name for name, _ in steps()]
    (user,) = arguments("USER")
    assert user.isdigit()
    assert int(user) > 0
    assert f"--uid {user} " in next(rest for rest in arguments("RUN") if rest.startswith("useradd"))
    assert names.index("USER") < names.index("ENTRYPOINT")
    assert "RUN" not in names[names.index("USER") :]


def test_the_server_is_process_one_and_told_to_stop_properly() -> None:
    (entry,) = arguments("ENTRYPOINT")
    assert json.loads(entry) == ["/opt/laya/bin/laya-serve"]
    assert arguments("STOPSIGNAL") == ["SIGTERM"]


def test_weights_have_a_volume_and_the_hub_cache_is_in_it() -> None:
    (volume,) = arguments("VOLUME")
    assert any(f"HF_HOME={volume}/" in environment for environment in arguments("ENV"))


def test_pip_installs_known_versions_and_leaves_no_cache() -> None:
    installs = [rest for rest in arguments("RUN") if "pip install" in rest]
    assert len(installs) == 2
    assert any(rest.startswith("TORCH=torch==") for rest in arguments("ARG"))
    assert "--constraint constraints.txt" in installs[1]
    assert any("PIP_NO_CACHE_DIR=1" in environment for environment in arguments("ENV"))
    assert not [rest for rest in arguments("RUN") if re.search(r"\bsudo\b|\bcd\b|curl .*\|", rest)]


def test_only_copied_folders_are_installed_and_all_of_them() -> None:
    copied = {rest.split()[0] for rest in arguments("COPY") if not rest.startswith("--")}
    (install,) = (rest for rest in arguments("RUN") if "--constraint" in rest)
    installed = set(re.findall(r"\s\./(\S+)", install))
    assert installed | {"laya", "pyproject.toml"} == copied
    packages = {path.parent.name for path in ROOT.glob("laya_*/pyproject.toml")}
    assert packages <= installed


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_its_steps_make_a_server_that_passes_its_own_health_check(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = [sys.executable, ROOT / "tools" / "rehearse-dockerfile", DOCKERFILE, tmp_path, "--run", str(port)]
    command += ["--borrow-torch", sysconfig.get_path("purelib")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=800, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert done.stdout.endswith("healthy\n")
    packages = next((tmp_path / "opt" / "laya").glob("lib/python*/site-packages"))
    assert (packages / "laya_serve" / "playground" / "page" / "index.html").is_file()
    assert (packages / "laya_mini" / "checkpoint" / "model.safetensors").is_file()
    assert not list((tmp_path / "src").rglob("tests"))
