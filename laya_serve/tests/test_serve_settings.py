from __future__ import annotations

import subprocess
import sys
from typing import Any

import attrs
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from laya_hooks import HubUnreachable
from laya_serve import Settings, create_app
from laya_serve.command import serve_command
from laya_serve.preload import preload
from laya_serve.settings import variable_of


def test_every_setting_is_read_from_its_variable() -> None:
    settings = Settings.from_environment(
        {
            "LAYA_HOST": "127.0.0.1",
            "LAYA_PORT": "9000",
            "LAYA_DEVICE": "cpu",
            "LAYA_PRECISION": "float32",
            "LAYA_PRELOAD": "0",
            "LAYA_MODELS": "english, ml",
            "LAYA_DEFAULT_MODEL": "mini",
            "LAYA_AUTO_TASK": "yes",
            "LAYA_MAX_LOADED": "3",
            "LAYA_EXTRA_MODELS": '{"a": "./a", "b": ["org/repo", "sub"], "c": ["org/repo", null]}',
            "LAYA_API_KEY": "key",
            "LAYA_ROOT_PATH": "/laya",
            "LAYA_LOG_LEVEL": "WARNING",
        }
    )
    assert attrs.asdict(settings) == {
        "host": "127.0.0.1",
        "port": 9000,
        "device": "cpu",
        "precision": "float32",
        "preload": False,
        "models": ("english", "ml"),
        "default_model": "mini",
        "auto_task": True,
        "max_loaded": 3,
        "extra_models": {"a": "./a", "b": ("org/repo", "sub"), "c": ("org/repo", None)},
        "api_key": "key",
        "root_path": "/laya",
        "log_level": "warning",
    }
    assert settings.router_options() == {
        "default": "mini",
        "auto_task_detection": True,
        "max_loaded": 3,
        "models": settings.extra_models,
        "device": "cpu",
        "load_options": {"precision": "float32"},
    }


def test_blank_counts_as_unset_and_all_means_all() -> None:
    blank = {variable_of(field.name): "  " for field in attrs.fields(Settings)}
    assert Settings.from_environment(blank) == Settings()
    assert Settings.from_environment({"LAYA_MODELS": "all"}).models is None


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("LAYA_PORT", "http"),
        ("LAYA_PORT", "65536"),
        ("LAYA_PORT", "-1"),
        ("LAYA_MAX_LOADED", "0"),
        ("LAYA_MAX_LOADED", "1.5"),
        ("LAYA_PRELOAD", "maybe"),
        ("LAYA_LOG_LEVEL", "loud"),
        ("LAYA_EXTRA_MODELS", "{"),
        ("LAYA_EXTRA_MODELS", "[]"),
        ("LAYA_EXTRA_MODELS", '{"a": 3}'),
        ("LAYA_EXTRA_MODELS", '{"a": ["repo", "sub", "more"]}'),
    ],
)
def test_a_value_that_cannot_be_read_is_refused_by_name(variable: str, value: str) -> None:
    with pytest.raises(ValueError, match=f"^{variable} is "):
        Settings.from_environment({variable: value})


def test_all_checkpoints_are_preloaded_default_first_and_those_out_of_reach_are_passed_over(
    router: Any, caplog: pytest.LogCaptureFixture
) -> None:
    router.default = "mine"
    router.unreachable = {"english": HubUnreachable("no network")}
    preload(router, Settings())
    assert router.preloaded == [["mine"]]
    assert "english is not preloaded: no network" in caplog.text


def test_a_default_out_of_reach_stops_the_start_and_names_what_is_installed(router: Any) -> None:
    router.unreachable = {"english": HubUnreachable("no network", installed="mini")}
    with pytest.raises(HubUnreachable, match="set LAYA_DEFAULT_MODEL=mini"):
        preload(router, Settings())


def test_named_checkpoints_are_preloaded_and_nothing_else(router: Any) -> None:
    preload(router, Settings(models=("mine",)))
    assert router.preloaded == [["mine"]]
    preload(router, Settings(preload=False))
    assert len(router.preloaded) == 1


def test_an_app_of_its_own_builds_the_router_of_its_settings_and_preloads_it(
    router: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: list[Any] = []
    monkeypatch.setattr("laya_serve.app.make_router", lambda given: options.append(given) or router)
    monkeypatch.setenv("LAYA_DEFAULT_MODEL", "mine")
    app = create_app()
    assert options[0]["default"] == "mine" and router.preloaded == []
    with TestClient(app):
        assert router.preloaded != []


def test_an_injected_router_is_not_preloaded(router: Any) -> None:
    with TestClient(create_app(router, Settings())):
        assert router.preloaded == []


def test_options_win_over_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[Settings] = []
    monkeypatch.setattr("laya_serve.command.run", ran.append)
    monkeypatch.setenv("LAYA_PORT", "9000")
    monkeypatch.setenv("LAYA_HOST", "localhost")
    result = CliRunner().invoke(serve_command(), ["--port", "9001", "--max-loaded", "4"])
    assert result.exit_code == 0
    assert (ran[0].port, ran[0].host, ran[0].max_loaded) == (9001, "localhost", 4)


def test_help_names_every_option_and_its_variable() -> None:
    output = CliRunner().invoke(serve_command(), ["--help"]).output
    for field in attrs.fields(Settings):
        assert f"--{field.name.replace('_', '-')}" in output
        assert variable_of(field.name) in output


@pytest.mark.parametrize("arguments", [["--port", "http"], ["--nonsense"], ["--default-model", "nobody"]])
def test_a_mistake_on_the_command_line_is_one_line_and_exit_code_2(arguments: list[str]) -> None:
    run = subprocess.run([sys.executable, "-m", "laya_serve", *arguments], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert run.stderr.startswith("laya-serve: error: ") and run.stderr.count("\n") == 1


def test_importing_the_package_imports_no_torch() -> None:
    code = "import laya_serve, sys; print(sorted({'torch', 'transformers', 'uvicorn'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
