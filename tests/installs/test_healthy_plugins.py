"""Two plugins in a fresh environment, with no code that mentions them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .environment import Environment

SCRIPTS = Path(__file__).parent / "scripts"
FRAMEWORK = {"laya-core:core", "laya-router:router", "laya-serve:serve"}

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("healthy_plugins")]


def test_they_act_as_defaults_around_installed_and_per_call_hooks(
    environment: Environment, parity_checkpoints: Path
) -> None:
    finished = environment.run_well(environment.python, SCRIPTS / "decide.py", parity_checkpoints / "modernbert")
    *seen, result = finished.stdout.splitlines()
    assert seen == [
        "echo start ['Card 4111 was charged twice']",  # acme-redact is first by name, but its start hook is trylast
        "installed start ['Card #### was charged twice']",
        "per-call start ['Card #### was charged twice']",
        "echo end ['Card #### was charged twice'] [['answers', 'digits_masked', 'model', 'usage']]",
        "installed end ['Card #### was charged twice']",
        "per-call end ['Card #### was charged twice']",
    ]
    decided = json.loads(result)
    assert decided["digits_masked"] == 4
    assert 0.0 <= decided["answers"]["refund"]["noul"] <= 1.0


def test_the_embedded_checkpoint_answers_by_its_name(environment: Environment, mini_checkpoint: str) -> None:
    finished = environment.run_well(environment.python, SCRIPTS / "decide.py", mini_checkpoint)
    assert "installed start ['Card #### was charged twice']" in finished.stdout
    decided = json.loads(finished.stdout.splitlines()[-1])
    assert decided["digits_masked"] == 4
    assert 0.0 <= decided["answers"]["refund"]["noul"] <= 1.0


def test_laya_plugins_tells_what_each_implements_in_load_order(environment: Environment) -> None:
    plugins = environment.plugins()
    assert list(plugins)[:2] == ["acme-redact:redact", "globex-echo:echo"]
    assert set(plugins) >= FRAMEWORK
    assert [row["order"] for row in plugins.values()] == list(range(len(plugins)))
    assert {row["status"] for row in plugins.values()} == {"loaded"}
    redact, echo = plugins["acme-redact:redact"], plugins["globex-echo:echo"]
    assert (redact["version"], echo["version"]) == ("1.2.0", "0.3.0")
    assert redact["events"] == echo["events"] == ["on_predict_start", "on_predict_end"]
    assert redact["providers"] == ["laya_commands"]
    assert echo["providers"] == []


def test_laya_plugins_shows_them_in_its_table(environment: Environment) -> None:
    lines = environment.run_well(environment.laya, "plugins").stdout.splitlines()
    row = next(line for line in lines if "globex-echo:echo" in line)
    assert [cell.strip() for cell in row.strip("│").split("│")][1:] == [
        "globex-echo:echo",
        "0.3.0",
        "on_predict_start",
        "loaded",
    ]


def test_a_plugin_brings_a_command(environment: Environment) -> None:
    assert environment.run_well(environment.laya, "redact", "room 12").stdout == "room ##\n"
    assert "Mask the digits of TEXT" in environment.run_well(environment.laya, "--help").stdout


@pytest.mark.parametrize(
    ("variables", "defaults", "blocked"),
    [
        ({}, ["acme_redact", "Echo"], {}),
        ({"LAYA_PLUGINS_STRICT": "1"}, ["acme_redact", "Echo"], {}),
        (
            {"LAYA_PLUGINS": "0"},
            [],
            {"acme-redact:redact": "LAYA_PLUGINS=0", "globex-echo:echo": "LAYA_PLUGINS=0"},
        ),
        ({"LAYA_PLUGINS": "echo"}, ["Echo"], {"acme-redact:redact": "not named in LAYA_PLUGINS"}),
        ({"LAYA_PLUGINS": "redact, Globex_Echo"}, ["acme_redact", "Echo"], {}),
        ({"LAYA_PLUGINS_DISABLE": "echo"}, ["acme_redact"], {"globex-echo:echo": "named in LAYA_PLUGINS_DISABLE"}),
        (
            {"LAYA_PLUGINS": "echo,redact", "LAYA_PLUGINS_DISABLE": "acme-redact,globex-echo:echo"},
            [],
            {
                "acme-redact:redact": "named in LAYA_PLUGINS_DISABLE",
                "globex-echo:echo": "named in LAYA_PLUGINS_DISABLE",
            },
        ),
    ],
    ids=lambda value: " ".join(f"{name}={text}" for name, text in value.items()) if isinstance(value, dict) else "",
)
def test_the_environment_selects_plugins(
    environment: Environment, variables: dict[str, str], defaults: list[str], blocked: dict[str, str]
) -> None:
    listed = environment.run_well(environment.python, SCRIPTS / "list_defaults.py", **variables)
    assert json.loads(listed.stdout) == defaults
    assert listed.stderr == ""
    plugins = environment.plugins(**variables)
    assert {name: row["reason"] for name, row in plugins.items() if row["status"] == "blocked"} == blocked
    assert all(plugins[name]["status"] == "loaded" for name in FRAMEWORK)


def test_a_blocked_plugin_brings_no_command(environment: Environment) -> None:
    finished = environment.run(environment.laya, "redact", "room 12", LAYA_PLUGINS_DISABLE="acme-redact")
    assert finished.returncode == 2
    assert finished.stderr.startswith("laya: error: No such command 'redact'")


def test_a_name_in_laya_plugins_that_is_not_installed_is_told(environment: Environment) -> None:
    listed = environment.run_well(environment.python, SCRIPTS / "list_defaults.py", LAYA_PLUGINS="echo,absent")
    assert json.loads(listed.stdout) == ["Echo"]
    assert "RuntimeWarning: LAYA_PLUGINS names 'absent', but no installed distribution has such" in listed.stderr
