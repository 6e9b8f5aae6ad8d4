"""Broken plugins beside the healthy ones: each is skipped with a warning that says what is wrong, and harms nobody."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from .environment import Environment

SCRIPTS = Path(__file__).parent / "scripts"
CAUSES = {
    "broken-event:finish": "on_predict_finish is no event and no provider",
    "broken-import:licensed": "RuntimeError: no licence key found",
    "broken-object:settings": "{'level': 'info'} is not a hook: it has none of the events",
    "broken-signature:no_context": "on_predict_start() -> None cannot be called with the context",
    "broken-signature:other_name": "on_predict_end(context: 'PredictContext') -> 'None' asks for context",
}

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("all_plugins")]


@pytest.fixture(scope="module")
def decision(environment: Environment, all_plugins: None) -> subprocess.CompletedProcess[str]:
    """One decision while everything is installed."""
    return environment.run_well(environment.python, SCRIPTS / "decide_with_fake.py")


def test_the_healthy_plugins_work_beside_broken_ones(decision: subprocess.CompletedProcess[str]) -> None:
    start, end, result = decision.stdout.splitlines()
    assert start == "echo start ['Card 4111 was charged twice']"
    assert end.startswith("echo end ['Card #### was charged twice']")
    assert json.loads(result)["digits_masked"] == 4


@pytest.mark.parametrize("name", CAUSES)
def test_a_warning_names_distribution_entry_point_and_cause(
    decision: subprocess.CompletedProcess[str], name: str
) -> None:
    distribution, entry_point = name.split(":")
    warnings = [line for line in decision.stderr.splitlines() if f"the laya plugin {entry_point!r}" in line]
    assert len(warnings) == 1
    assert "RuntimeWarning" in warnings[0]
    assert f" of {distribution} 0.1.0 cannot be used and is skipped: {CAUSES[name]}" in warnings[0]


def test_laya_plugins_tells_which_have_failed_and_why(environment: Environment) -> None:
    plugins = environment.plugins()
    failed = {name: row for name, row in plugins.items() if row["status"] == "failed"}
    assert set(failed) == set(CAUSES)
    for name, row in failed.items():
        assert row["reason"].startswith(CAUSES[name])
        assert row["events"] == row["providers"] == []
    assert plugins["acme-redact:redact"]["status"] == plugins["globex-echo:echo"]["status"] == "loaded"


def test_disabled_ones_are_not_imported_and_warn_of_nothing(environment: Environment) -> None:
    disabled = ",".join({name.split(":")[0] for name in CAUSES})
    listed = environment.run_well(environment.python, SCRIPTS / "list_defaults.py", LAYA_PLUGINS_DISABLE=disabled)
    assert json.loads(listed.stdout) == ["acme_redact", "Echo"]
    assert listed.stderr == ""


def test_strict_mode_raises_and_names_every_one(environment: Environment) -> None:
    finished = environment.run(environment.python, SCRIPTS / "list_defaults.py", LAYA_PLUGINS_STRICT="1")
    assert finished.returncode == 1
    error = finished.stderr.splitlines()[-1]
    assert error.startswith("laya_hooks.errors.PluginError: the laya plugin 'finish'")
    assert all(cause in error for cause in CAUSES.values())
    assert error.endswith("(LAYA_PLUGINS_STRICT is set)")


def test_in_strict_mode_laya_plugins_still_lists_them_and_other_commands_refuse(environment: Environment) -> None:
    assert {row["status"] for row in environment.plugins(LAYA_PLUGINS_STRICT="1").values()} == {"loaded", "failed"}
    refused = environment.run(environment.laya, "redact", "room 12", LAYA_PLUGINS_STRICT="1")
    assert refused.returncode == 2
    assert refused.stderr.startswith("laya: error: the laya plugin 'finish' (broken_event) of broken-event 0.1.0")
