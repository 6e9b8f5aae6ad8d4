from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import click
import pytest

from laya import presets
from laya.cli.group import ContributedGroup

Run: TypeAlias = Callable[..., tuple[int, str, str]]


def test_the_command_alone_prints_its_help(laya: Run) -> None:
    code, out, _ = laya()
    assert code == 0 and out == laya("--help")[1]
    for command in ("checkpoints", "plugins", "predict", "presets"):
        assert command in out


def test_presets_are_listed_and_printed(laya: Run) -> None:
    assert all(name in laya("presets")[1] for name in presets.names())
    assert json.loads(laya("presets", "triage")[1]) == presets.load("triage").questions
    assert laya("presets", "triage", "--sample")[1].strip() == presets.load("triage").sample
    assert laya("presets", "nope")[0] == 2


def test_checkpoints_say_where_they_come_from_and_what_is_here(
    laya: Run, router: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached = "org/cached"
    monkeypatch.setattr(
        "huggingface_hub.try_to_load_from_cache",
        lambda repo, file: "/cache/file" if (repo, file) == (cached, "sub/rl_agent_config.json") else None,
    )
    sources = {
        "english": "org/repo",
        "multilingual": (cached, "sub"),
        "mini": str(tmp_path),
        "gone": str(tmp_path / "gone"),
        "mine": "mine",
    }
    monkeypatch.setattr(router, "registered", lambda: sources)
    rows = {row["name"]: row for row in json.loads(laya("checkpoints", "--json")[1])}
    assert {name: row["state"] for name, row in rows.items()} == {
        "english": "download",
        "multilingual": "cached",
        "mini": "installed",
        "gone": "missing",
        "mine": "missing",
    }
    assert rows["multilingual"]["source"] == "org/cached/sub"
    assert rows["multilingual"]["aliases"] == ["laya-multilingual", "ml", "multi"]
    assert [name for name, row in rows.items() if row["default"]] == ["english"]
    out = laya("checkpoints")[1]
    assert "english (default): download, from org/repo" in out and "also laya-multilingual, ml, multi" in out


def test_plugins_are_listed_with_what_they_implement(laya: Run) -> None:
    rows = {f"{row['distribution']}:{row['entry_point']}": row for row in json.loads(laya("plugins", "--json")[1])}
    router = rows["laya-router:router"]
    assert router["status"] == "loaded" and router["reason"] is None
    assert set(router["providers"]) == {"laya_make_router", "laya_checkpoints", "laya_commands"}
    assert [row["order"] for row in rows.values()] == list(range(len(rows)))
    assert "laya-router" in laya("plugins")[1]


def in_a_fresh_process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-m", "laya", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_a_blocked_plugin_is_listed_with_the_reason() -> None:
    run = in_a_fresh_process("plugins", "--json", LAYA_PLUGINS_DISABLE="laya-router")
    row = next(row for row in json.loads(run.stdout) if row["distribution"] == "laya-router")
    assert row["status"] == "blocked" and "LAYA_PLUGINS_DISABLE" in row["reason"]


def test_a_command_of_a_blocked_package_is_unknown_in_one_line() -> None:
    run = in_a_fresh_process("predict", "x", LAYA_PLUGINS_DISABLE="laya-router")
    assert (run.returncode, run.stdout, run.stderr) == (2, "", "laya: error: No such command 'predict'.\n")


def test_plugins_are_listed_even_when_strict_mode_stops_everything_else() -> None:
    strict = {"LAYA_PLUGINS": "nobody", "LAYA_PLUGINS_STRICT": "1"}
    assert in_a_fresh_process("plugins", **strict).returncode == 0
    stopped = in_a_fresh_process("presets", **strict)
    assert stopped.returncode == 2 and stopped.stderr.count("\n") == 1 and "nobody" in stopped.stderr


def test_help_needs_neither_rich_nor_torch_nor_the_server() -> None:
    code = (
        "import sys; from laya.cli.entry import run; run(['--help']); "
        "print(sorted({'rich', 'torch', 'starlette', 'uvicorn', 'huggingface_hub'} & set(sys.modules)))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip().endswith("[]")


def test_a_reader_that_goes_away_early_is_no_traceback() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "laya", "presets"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == ""
    process.wait(60)


def test_of_two_commands_with_one_name_the_first_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    group = ContributedGroup("group")
    first, second = click.Command("same"), click.Command("same")
    monkeypatch.setattr("laya_hooks.providers.add_commands", lambda cli: cli.add_command(second))
    group.add_command(first)
    with pytest.warns(RuntimeWarning, match="second command named 'same'"):
        assert group.list_commands(click.Context(group)) == ["same"]
    assert group.commands["same"] is first
