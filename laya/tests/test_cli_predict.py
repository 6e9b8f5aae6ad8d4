from __future__ import annotations

import io
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from laya import presets
from laya_hooks import HubUnreachable

Run: TypeAlias = Callable[..., tuple[int, str, str]]


def test_a_text_and_a_preset_give_a_table_of_answers(laya: Run, router: Any) -> None:
    code, out, err = laya("predict", "I was charged twice", "--preset", "triage")
    assert (code, err) == (0, "")
    assert router.asked == [
        {
            "state": "I was charged twice",
            "questions": presets.load("triage").questions,
            "model": None,
            "lang": None,
            "min_confidence": None,
        }
    ]
    assert "answer_confidence 90%" in out
    for text in ("billing", "[red]tech", "10%", "1.25 of 2", "2 angry", "below 60%", "no", "yes"):
        assert text in out
    assert "answered by mini: why" in out and "7 of its tokens were cut" in out


def test_json_prints_the_whole_result(laya: Run, router: Any, questions_file: Path) -> None:
    code, out, _ = laya("predict", "x", "--questions", str(questions_file), "--json")
    assert code == 0
    assert json.loads(out)["answers"]["team"]["choice"] == "billing"


def test_every_option_reaches_the_router(laya: Run, router: Any, questions_file: Path) -> None:
    options = [
        "--model",
        "mini",
        "--lang",
        "de",
        "--min-confidence",
        "0.7",
        "--device",
        "cpu",
        "--precision",
        "float32",
    ]
    assert laya("predict", "x", "--questions", str(questions_file), *options)[0] == 0
    assert router.options == {"device": "cpu", "load_options": {"precision": "float32"}}
    assert router.asked[0]["questions"] == json.loads(questions_file.read_text())
    assert [router.asked[0][name] for name in ("model", "lang", "min_confidence")] == ["mini", "de", 0.7]


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("./My Checkpoint/", "my-checkpoint"),
        ("org/Repo", "repo"),
        ("/", "checkpoint"),
        ("../..", "checkpoint"),
        ("./auto", "checkpoint"),
    ],
)
def test_a_directory_or_hub_id_becomes_a_checkpoint_of_its_own(laya: Run, router: Any, model: str, name: str) -> None:
    assert laya("predict", "x", "--preset", "guard", "--model", model)[0] == 0
    assert router.options["models"] == {name: model} and router.asked[0]["model"] == name


def test_the_default_model_of_the_environment_is_honoured(
    laya: Run, router: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYA_DEFAULT_MODEL", "mini")
    laya("predict", "x", "--preset", "guard")
    assert router.options["default"] == "mini"


@pytest.mark.parametrize("argument", [["-"], []])
def test_the_text_comes_from_standard_input_when_it_is_absent_or_a_dash(
    laya: Run, router: Any, monkeypatch: pytest.MonkeyPatch, argument: list[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("from a pipe\n"))
    assert laya("predict", *argument, "--preset", "guard")[0] == 0
    assert router.asked[0]["state"] == "from a pipe\n"


def test_standard_input_that_is_no_text_is_named(laya: Run, router: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9"), encoding="utf-8"))
    code, out, err = laya("predict", "--preset", "guard")
    assert (code, out) == (2, "")
    assert err == "laya: error: standard input: not utf-8 text: unexpected end of data at byte 3\n"


def test_the_text_comes_from_a_file_and_json_files_are_json_states(laya: Run, router: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a text", encoding="utf-8")
    (tmp_path / "b.json").write_text('{"subject": "x", "n": 1}', encoding="utf-8")
    for name in ("a.txt", "b.json"):
        assert laya("predict", "--file", str(tmp_path / name), "--preset", "guard")[0] == 0
    assert [asked["state"] for asked in router.asked] == ["a text", {"subject": "x", "n": 1}]


def mistakes() -> list[tuple[list[str], str]]:
    return [
        (["x"], "give the questions"),
        (["x", "--preset", "guard", "--questions", "q.json"], "with --questions or with --preset, not both"),
        (["x", "--questions", "q.json"], "q.json: there are no questions in it; `laya presets triage` prints some"),
        (["x", "--preset", "nope"], "unknown preset 'nope'"),
        (["x", "--preset", "traige"], "did you mean 'triage'?"),
        (["x", "--questions", "missing.json"], "No such file or directory: missing.json"),
        (["x", "--questions", "."], "'.' is a directory"),
        (["x", "--questions", "broken.json"], "broken.json: not JSON: line 2, column 1"),
        (["x", "--questions", "list.json"], "list.json: questions are a JSON object"),
        (
            ["x", "--questions", "flat.json"],
            """flat.json: the question 'q' has to be an object, such as {"type": "noul", "instructions": "Now – ?"}""",
        ),
        (["x", "--questions", "number.json"], 'the question \'n\' has to be an object, such as {"type": "noul", "ins'),
        (["x", "--questions", "alone.json"], "alone.json: this is a question without an id"),
        (["x", "--questions", "latin.json"], "latin.json: not UTF-8"),
        (["x", "--file", "a.txt", "--preset", "guard"], "not both"),
        (["--file", "missing.txt", "--preset", "guard"], "No such file or directory: missing.txt"),
        (["--file", "empty.txt", "--preset", "guard"], "there is no text in empty.txt"),
        (["--file", "broken.json", "--preset", "guard"], "broken.json: not JSON"),
        ([" ", "--preset", "guard"], "there is no text"),
        (["--preset", "guard"], "there is no text in standard input"),
        (["x", "--preset", "guard", "--min-confidence", "2"], "--min-confidence"),
        (["x", "--preset", "guard", "--min-confidence", "nan"], "'--min-confidence': nan is not in the range"),
        (["x", "--questions", "deep.json"], "deep.json: its JSON is nested too deeply"),
        (["--file", "long.json", "--preset", "guard"], "long.json: not usable as JSON: Exceeds the limit"),
        (["--file", "nan.json", "--preset", "guard"], "nan.json: not usable as JSON: NaN is no JSON number"),
        (["--file", "huge.json", "--preset", "guard"], "huge.json: not usable as JSON: the number 1e999 is too large"),
        (["x", "--questions", "half.json"], "half.json: the id '\\ud800' has an unpaired surrogate"),
        (["x\udcff", "--preset", "guard"], "the argument: not utf-8 text: invalid byte at character 1"),
        (["x", "--nonsense"], "--nonsense"),
        (["x", "y", "--preset", "guard"], "unexpected extra argument"),
    ]


@pytest.mark.parametrize(("arguments", "message"), mistakes())
def test_a_mistake_is_one_line_on_standard_error_and_exit_code_2(
    laya: Run,
    router: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    for name, content in {
        "broken.json": b'{"q":\n',
        "list.json": b"[1]",
        "flat.json": '{"q": "Now – ?"}'.encode(),
        "number.json": b'{"q": {"type": "noul", "instructions": "?"}, "n": 3}',
        "alone.json": b'{"type": "noul", "instructions": "Urgent?"}',
        "latin.json": b'{"q": "\xff"}',
        "deep.json": b"[" * 100_000,
        "long.json": b"9" * 5_000,
        "nan.json": b'{"a": NaN}',
        "huge.json": b"1e999",
        "half.json": b'{"\\ud800": {"type": "noul", "instructions": "x?"}}',
        "empty.txt": b"\n",
        "a.txt": b"text",
        "q.json": b"{}",
    }.items():
        (tmp_path / name).write_bytes(content)
    code, out, err = laya("predict", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("laya: error: ") and err.count("\n") == 1 and message in err
    assert router.asked == []


@pytest.mark.parametrize(
    ("failure", "line"),
    [
        (ValueError("question 'q':\n  no criteria"), "question 'q': no criteria"),
        (
            FileNotFoundError(2, "No such file or directory", "w.safetensors"),
            "No such file or directory: w.safetensors",
        ),
        (
            HubUnreachable("no network", download="hf …"),
            "no network; connect once to download it (hf …), or give a directory as --model",
        ),
        (KeyError("encoder"), "KeyError: 'encoder' (LAYA_DEBUG=1 shows where)"),
        (AssertionError(), "AssertionError (LAYA_DEBUG=1 shows where)"),
    ],
)
def test_what_the_router_raises_is_one_line_too(laya: Run, router: Any, failure: Exception, line: str) -> None:
    router.failure = failure
    assert laya("predict", "x", "--preset", "guard") == (2, "", f"laya: error: {line}\n")


def test_an_unreachable_hub_tells_the_option_to_use(laya: Run, router: Any) -> None:
    router.failure = HubUnreachable("no network", "mini", "english", "hf …", 'use model="mini"')
    _, _, err = laya("predict", "x", "--preset", "guard")
    assert (
        err == "laya: error: no network; connect once to download it (hf …), or use --model mini, which is installed\n"
    )


def test_debugging_shows_the_traceback_before_the_line(laya: Run, router: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAYA_DEBUG", "1")
    router.failure = ValueError("broken")
    code, _, err = laya("predict", "x", "--preset", "guard")
    assert code == 2 and err.startswith("Traceback") and err.endswith("laya: error: broken\n")


def test_an_interrupt_is_exit_code_130(laya: Run, router: Any) -> None:
    router.failure = KeyboardInterrupt()  # type: ignore[assignment]
    assert laya("predict", "x", "--preset", "guard")[0] == 130


def test_a_warning_is_one_line(laya: Run, router: Any, monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(
        router, "predict", lambda *_, **__: warnings.warn("odd\nvalue", stacklevel=1) or {"answers": {}}
    )
    _, _, err = laya("predict", "x", "--preset", "guard")
    assert err == "laya: warning: odd value\n"
