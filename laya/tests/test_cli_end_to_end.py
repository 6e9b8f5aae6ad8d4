"""The command as users run it: a real checkpoint, no network."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

Run: TypeAlias = Callable[..., tuple[int, str, str]]


def in_a_process(*arguments: str, text: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "laya", *arguments],
        input=text,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "HF_HUB_OFFLINE": "1", **environment},
    )


def errors(err: str) -> list[str]:
    return [line for line in err.splitlines() if not line.startswith("laya: warning: ")]


@pytest.fixture
def checkpoint(parity_checkpoints: Path) -> Path:
    return parity_checkpoints / "bert"


def test_a_piped_text_is_answered_as_json(checkpoint: Path) -> None:
    run = in_a_process(
        "predict", "--preset", "triage", "--model", str(checkpoint), "--json", text="I was charged twice"
    )
    assert (run.returncode, errors(run.stderr)) == (0, [])
    result = json.loads(run.stdout)
    assert list(result["answers"]) == ["team", "urgency", "mood", "may_leave"]
    assert result["routing"]["repo"] == str(checkpoint)


def test_a_text_is_answered_as_a_table_in_any_encoding(checkpoint: Path) -> None:
    run = in_a_process("predict", "x", "--preset", "guard", "--model", str(checkpoint), PYTHONIOENCODING="ascii")
    assert (run.returncode, errors(run.stderr)) == (0, [])
    assert "verdict" in run.stdout and run.stdout.isascii()


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.safetensors", None),
        ("model.safetensors", b"\x10\x00\x00"),
        ("rl_agent_config.json", None),
        ("rl_agent_config.json", b"{"),
        ("encoder/config.json", None),
        ("tokenizer/tokenizer.json", b"{}"),
    ],
)
def test_a_missing_or_damaged_file_is_one_line(
    laya: Run, checkpoint: Path, tmp_path: Path, file: str, content: bytes | None
) -> None:
    broken = shutil.copytree(checkpoint, tmp_path / "broken")
    (broken / file).unlink()
    if content is not None:
        (broken / file).write_bytes(content)
    code, out, err = laya("predict", "x", "--preset", "guard", "--model", str(broken))
    assert (code, out) == (2, "")
    (line,) = errors(err)
    assert line.startswith("laya: error: ") and "broken" in line


def test_a_question_the_core_refuses_is_one_line_that_names_it(laya: Run, checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text('{"team": {"type": "choice", "instructions": "Which?", "criteria": {}}}')
    code, _, err = laya("predict", "x", "--questions", str(tmp_path / "q.json"), "--model", str(checkpoint))
    (line,) = errors(err)
    assert code == 2 and line.startswith("laya: error: ") and "'team'" in line


def test_without_network_and_cache_the_error_is_one_line(tmp_path: Path) -> None:
    run = in_a_process("predict", "x", "--preset", "guard", HF_HOME=str(tmp_path))
    assert (run.returncode, run.stdout) == (2, "")
    (line,) = errors(run.stderr)
    assert line.startswith("laya: error: ") and "convaiinnovations/laya" in line


@pytest.mark.skipif(os.name != "posix", reason="closes streams as a POSIX shell does")
def test_a_closed_standard_error_keeps_nobody_from_an_answer(checkpoint: Path, tmp_path: Path) -> None:
    questions = tmp_path / "questions.json"
    questions.write_text('{"q": {"type": "noul", "instructions": "Urgent?"}}')
    arguments = shlex.join(["predict", "hello", "--questions", str(questions), "--model", str(checkpoint), "--json"])
    command = f"{shlex.quote(sys.executable)} -m laya {arguments} 2>&-"
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert run.returncode == 0 and "q" in json.loads(run.stdout)["answers"]


@pytest.mark.skipif(os.name != "posix", reason="gives the bytes of a POSIX locale")
def test_bytes_that_are_no_text_are_told_in_any_locale() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "laya", "predict", "--preset", "guard"],
        input=b"a\xff\xfeb",
        env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "1"},
        capture_output=True,
        check=False,
    )
    assert run.returncode == 2
    assert run.stderr == b"laya: error: standard input: not utf-8 text: invalid start byte at byte 1\n"


@pytest.mark.skipif(os.name != "posix", reason="closes streams as a POSIX shell does")
@pytest.mark.parametrize(
    ("arguments", "closed", "told"),
    [
        ("presets triage", ">&-", "standard output is closed; direct it to a file"),
        ("route", "<&-", "there is no text in standard input"),
    ],
)
def test_a_stream_that_is_closed_is_named(arguments: str, closed: str, told: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m laya {arguments} {closed}"
    run = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert run.returncode == 2
    assert run.stderr.startswith(f"laya: error: {told}") and run.stderr.count("\n") == 1


def test_leaving_searches_for_no_cycles_among_all_that_was_loaded() -> None:
    told = "import atexit, gc; atexit.register(lambda: print('frozen', gc.get_freeze_count() > 1_000))"
    run = subprocess.run(
        [sys.executable, "-c", f"{told}; from laya.cli import main; main(['presets'])"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout.splitlines()[-1]) == (0, "frozen True")


@pytest.mark.parametrize("command", ["laya", "laya-serve"])
def test_an_interrupt_in_the_middle_of_importing_torch_ends_the_command(
    command: str, checkpoint: Path, tmp_path: Path
) -> None:
    models = json.dumps({"given": str(checkpoint)})
    arguments = {
        "laya": ["predict", "x", "--preset", "guard", "--model", str(checkpoint)],
        "laya-serve": ["--port", "0", "--default-model", "given", "--extra-models", models],
    }
    (tmp_path / "torch.py").write_text(
        "import os, signal\n"
        "try:\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    for _ in range(1000): pass\n"
        "except BaseException:\n"
        "    print('lost in foreign code')\n"
    )
    # Whoever started the tests may have them ignore interrupts, which processes inherit.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    module = {"laya": "laya.cli", "laya-serve": "laya_serve"}[command]
    run = subprocess.run(
        [sys.executable, "-c", f"{heeding}; import {module}; {module}.main()", *arguments[command]],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert (run.returncode, run.stdout) == (130, "")
    assert "Traceback" not in run.stderr and "lost in foreign code" not in run.stderr
