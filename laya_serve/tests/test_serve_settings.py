from __future__ import annotations

import errno
import os
import re
import socket
import subprocess
import sys
from typing import Any

import attrs
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from laya_hooks import HubUnreachable
from laya_serve import Settings, create_app
from laya_serve.building import build_router
from laya_serve.command import main, serve_command
from laya_serve.preload import preload
from laya_serve.server import check_address
from laya_serve.settings import variable_of

GIVEN: dict[str, tuple[str, Any]] = {
    "host": ("127.0.0.1", "127.0.0.1"),
    "port": ("9000", 9000),
    "device": ("CUDA:1", "cuda:1"),
    "threads": ("3", 3),
    "precision": ("float32", "float32"),
    "preload": ("0", False),
    "models": ("english, ml", ("english", "ml")),
    "default_model": ("mini", "mini"),
    "auto_task": ("yes", True),
    "max_loaded": ("3", 3),
    "extra_models": (
        '{"a": "./a", "b": ["org/repo", "sub"], "c": ["org/repo", null]}',
        {"a": "./a", "b": ("org/repo", "sub"), "c": ("org/repo", None)},
    ),
    "idle_unload_seconds": ("300", 300.0),
    "api_key": ("kéy", "kéy"),
    "root_path": ("/laya/", "/laya"),
    "log_level": ("WARNING", "warning"),
    "max_concurrent": ("8", 8),
    "body_read_timeout": ("2.5", 2.5),
    "max_token_budget": ("1024", 1024),
    "max_batch_tokens": ("4096", 4096),
    "max_queue": ("64", 64),
    "jev_confidence": ("on", True),
    "jev_strict": ("Contract", "contract"),
    "tournament_group": ("8", 8),
    "playground": ("0", False),
    "shutdown_grace": ("5", 5.0),
}


def test_every_setting_is_read_from_its_variable() -> None:
    settings = Settings.from_environment({variable_of(name): text for name, (text, _) in GIVEN.items()})
    assert attrs.asdict(settings) == {name: value for name, (_, value) in GIVEN.items()}
    assert settings.router_options() == {
        "default": "mini",
        "auto_task_detection": True,
        "max_loaded": 3,
        "models": settings.extra_models,
        "device": "cuda:1",
        "load_options": {"precision": "float32", "continuous_batching": {"max_queue_size": 64}},
    }


def test_blank_counts_as_unset_and_all_means_all() -> None:
    blank = {variable_of(field.name): "  " for field in attrs.fields(Settings)}
    assert Settings.from_environment(blank) == Settings()
    assert Settings.from_environment({"LAYA_MODELS": "all", "LAYA_DEVICE": "auto"}) == Settings()


@pytest.mark.parametrize(
    ("variable", "value", "choices"),
    [
        ("LAYA_PORT", "http", "from 0 to 65535"),
        ("LAYA_PORT", "65536", "from 0 to 65535"),
        ("LAYA_PORT", "-1", "from 0 to 65535"),
        ("LAYA_PORT", "٣", "from 0 to 65535"),
        ("LAYA_PORT", "9" * 5000, "from 0 to 65535"),
        ("LAYA_DEVICE", "gpu", "cpu"),
        ("LAYA_DEVICE", "cuda:x", "cuda:N"),
        ("LAYA_THREADS", "0", "at least 1|from 1"),
        ("LAYA_PRECISION", "int8", "bfloat16"),
        ("LAYA_MAX_LOADED", "0", "at least 1"),
        ("LAYA_MAX_LOADED", "1.5", "at least 1"),
        ("LAYA_PRELOAD", "maybe", "1 or 0"),
        ("LAYA_PLAYGROUND", "maybe", "1 or 0"),
        ("LAYA_LOG_LEVEL", "loud", "critical, error"),
        ("LAYA_EXTRA_MODELS", "{", "not JSON"),
        ("LAYA_EXTRA_MODELS", "[" * 100_000, "not JSON"),
        ("LAYA_EXTRA_MODELS", "[]", "subfolder"),
        ("LAYA_EXTRA_MODELS", '{"a": 3}', "a string or"),
        ("LAYA_EXTRA_MODELS", '{"a": ["repo", "sub", "more"]}', "a string or"),
        ("LAYA_IDLE_UNLOAD_SECONDS", "-1", "0 or more"),
        ("LAYA_IDLE_UNLOAD_SECONDS", "nan", "0 or more"),
        ("LAYA_IDLE_UNLOAD_SECONDS", "inf", "0 or more"),
        ("LAYA_BODY_READ_TIMEOUT", "0", "above 0"),
        ("LAYA_SHUTDOWN_GRACE", "soon", "0 or more"),
        ("LAYA_MAX_CONCURRENT", "0", "from 1"),
        ("LAYA_MAX_QUEUE", "0", "at least 1"),
        ("LAYA_JEV_STRICT", "2", "0, 1 or contract"),
        ("LAYA_TOURNAMENT_GROUP", "1", "from 2"),
        ("LAYA_TOURNAMENT_GROUP", "101", "to 100"),
        ("LAYA_ROOT_PATH", "laya", "begins with /"),
        ("LAYA_API_KEY", "a\nb", "control characters"),
    ],
)
def test_a_value_that_cannot_be_read_is_refused_with_its_name_and_the_choices(
    variable: str, value: str, choices: str
) -> None:
    with pytest.raises(ValueError, match=f"^{variable} is .*({choices})"):
        Settings.from_environment({variable: value})


def test_a_key_that_cannot_be_used_is_not_shown() -> None:
    with pytest.raises(ValueError, match="LAYA_API_KEY") as refused:
        Settings.from_environment({"LAYA_API_KEY": "secret\x01"})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "playground", "group"),
    [
        ({}, True, 0),
        ({"api_key": "k"}, False, 0),
        ({"api_key": "k", "playground": True}, True, 0),
        ({"playground": False}, False, 0),
        ({"jev_strict": "contract"}, True, 16),
        ({"jev_strict": "contract", "tournament_group": 0}, True, 0),
        ({"jev_strict": "1"}, True, 0),
        ({"tournament_group": 8}, True, 8),
    ],
)
def test_what_is_not_set_follows_from_what_is(given: dict[str, Any], playground: bool, group: int) -> None:
    settings = Settings(**given)
    assert (settings.serves_playground, settings.group) == (playground, group)


def test_a_page_is_served_at_the_root_where_the_settings_say_so(router: Any) -> None:
    def status(**given: Any) -> int:
        return TestClient(create_app(router, Settings(**given))).get("/").status_code

    assert status() == status(api_key="k", playground=True) == 200
    assert status(playground=False) == 404
    assert status(api_key="k") == 401
    with_key = TestClient(create_app(router, Settings(api_key="k")), headers={"authorization": "Bearer k"})
    assert [with_key.get(path).status_code for path in ("/", "/docs", "/openapi.json")] == [404, 404, 404]


def test_all_checkpoints_are_preloaded_default_first_and_those_out_of_reach_are_passed_over(
    router: Any, caplog: pytest.LogCaptureFixture
) -> None:
    router.default = "mine"
    names = {"english": "org/english", "german": "org/german", "mine": "./mine"}
    router.registered = lambda: names
    router.unreachable = {name: HubUnreachable(f"{name}: no network", otherwise="…") for name in ("english", "german")}
    preload(router, Settings())
    assert router.preloaded == [["mine"]]
    (record,) = caplog.records
    assert record.getMessage() == (
        "not preloaded: english, german (english: no network); requests for them get 503 until they can be downloaded; "
        "--models mine or LAYA_MODELS=mine starts without asking for them"
    )


def test_a_default_out_of_reach_stops_the_start_and_names_what_is_installed(router: Any) -> None:
    router.unreachable = {"english": HubUnreachable("no network", "mini", "english", "hf …", 'model="mini"')}
    with pytest.raises(HubUnreachable) as caught:
        preload(router, Settings())
    advice = "connect once to download it (hf …), or set LAYA_DEFAULT_MODEL=mini, which is installed"
    assert str(caught.value) == f"no network; {advice}"


def test_named_checkpoints_are_preloaded_and_nothing_else(router: Any) -> None:
    preload(router, Settings(models=("mine",)))
    assert router.preloaded == [["mine"]]
    preload(router, Settings(preload=False))
    assert len(router.preloaded) == 1


@pytest.mark.parametrize("preloads", [True, False])
def test_an_unknown_name_among_the_models_stops_the_start_before_anything_is_built(router: Any, preloads: bool) -> None:
    with pytest.raises(ValueError, match="LAYA_MODELS is 'mine,nobody': unknown model 'nobody'; known are english"):
        preload(router, Settings(models=("mine", "nobody"), preload=preloads))
    assert router.preloaded == []


@pytest.mark.parametrize(
    ("message", "blamed"),
    [
        ("unknown model 'nobody'; known are english", "LAYA_DEFAULT_MODEL is 'nobody': unknown model"),
        ("'A B' cannot name a checkpoint", "LAYA_EXTRA_MODELS is {'A B': './a'}: 'A B' cannot name"),
    ],
)
def test_the_setting_behind_a_router_that_cannot_be_built_is_named(
    monkeypatch: pytest.MonkeyPatch, message: str, blamed: str
) -> None:
    def refuse(options: Any) -> Any:
        raise ValueError(message)

    monkeypatch.setattr("laya_serve.building.make_router", refuse)
    with pytest.raises(ValueError, match=blamed):
        build_router(Settings(default_model="nobody", extra_models={"A B": "./a"}))


def test_threads_are_set_before_anything_that_computes_is_imported(
    router: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("MKL_NUM_THREADS", "1")
    seen: list[str] = []
    monkeypatch.setattr(
        "laya_serve.building.make_router", lambda _: seen.append(os.environ["OMP_NUM_THREADS"]) or router
    )
    build_router(Settings())
    build_router(Settings(threads=3))
    assert seen == ["1", "3"]


def test_an_app_of_its_own_builds_the_router_of_its_settings_and_preloads_and_frees_it(
    router: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: list[Any] = []
    monkeypatch.setattr("laya_serve.building.make_router", lambda given: options.append(given) or router)
    monkeypatch.setenv("LAYA_DEFAULT_MODEL", "mine")
    app = create_app()
    assert options[0]["default"] == "mine" and router.preloaded == []
    with TestClient(app):
        assert router.preloaded != [] and router.unloads == 0
    assert router.unloads == 1


def test_an_injected_router_is_neither_preloaded_nor_freed(router: Any) -> None:
    with TestClient(create_app(router, Settings())):
        assert router.preloaded == []
    assert router.unloads == 0


def test_an_address_that_is_taken_or_unknown_is_refused_by_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = f"LAYA_HOST, LAYA_PORT are 127.0.0.1, {port}: .*in use; .* --port {port + 1} or LAYA_PORT={port + 1}$"
        with pytest.raises(ValueError, match=told):
            check_address(Settings(host="127.0.0.1", port=port))
    check_address(Settings(host="127.0.0.1", port=0))
    with pytest.raises(ValueError, match="LAYA_HOST"):
        check_address(Settings(host="a..b"))


@pytest.mark.parametrize(
    ("code", "port", "advice"),
    [
        (errno.EACCES, 80, "take a port above 1023, such as --port 8000 or LAYA_PORT=8000"),
        (errno.EADDRINUSE, 65535, "take a free port, such as --port 8000 or LAYA_PORT=8000"),
        (errno.EADDRNOTAVAIL, 8000, "use an address of this machine, such as --host 127.0.0.1 or LAYA_HOST=127.0.0.1"),
    ],
)
def test_what_to_type_depends_on_what_is_wrong_with_an_address(
    monkeypatch: pytest.MonkeyPatch, code: int, port: int, advice: str
) -> None:
    def refuse(self: socket.socket, address: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(socket.socket, "bind", refuse)
    with pytest.raises(ValueError, match=f": {re.escape(os.strerror(code))}; {advice}$"):
        check_address(Settings(host="127.0.0.1", port=port))


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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--port", "http"], "LAYA_PORT is 'http'"),
        (["--nonsense"], "--nonsense"),
        (["--host", "127.0.0.1", "--port", "0", "--default-model", "nobody"], "LAYA_DEFAULT_MODEL is 'nobody'"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_line_and_exit_code_2(arguments: list[str], says: str) -> None:
    run = subprocess.run([sys.executable, "-m", "laya_serve", *arguments], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert run.stderr.startswith("laya-serve: error: ") and run.stderr.count("\n") == 1
    assert says in run.stderr


@pytest.mark.parametrize(
    ("failure", "code", "told"),
    [
        (KeyboardInterrupt(), 130, ""),
        (RuntimeError("CUDA driver\nis too old"), 2, "laya-serve: error: CUDA driver is too old\n"),
        (TypeError("no source"), 2, "laya-serve: error: no source\n"),
    ],
)
def test_what_ends_the_start_is_no_traceback(
    failure: BaseException, code: int, told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(settings: Settings) -> None:
        raise failure

    monkeypatch.setattr("laya_serve.command.run", fail)
    monkeypatch.setattr("sys.argv", ["laya-serve"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code, capsys.readouterr().err.strip("\n")) == (code, told.strip("\n"))


def test_importing_the_package_imports_no_torch() -> None:
    code = "import laya_serve, sys; print(sorted({'torch', 'transformers', 'uvicorn'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
