"""`laya predict --batch` as users run it: a real checkpoint in real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import pytest

Run: TypeAlias = Callable[..., tuple[int, str, str]]

QUESTIONS = {"refund": {"type": "noul", "instructions": "Does the customer want money back?"}}
ENVIRONMENT = {**os.environ, "HF_HUB_OFFLINE": "1"}


@pytest.fixture
def checkpoint(parity_checkpoints: Path) -> str:
    return str(parity_checkpoints / "bert")


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "laya", "predict", *arguments]


def write_requests(path: Path, requests: Sequence[Any]) -> Path:
    lines = [request if isinstance(request, str) else json.dumps(request) for request in requests]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return path


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def told(err: str) -> list[str]:
    return [line for line in err.splitlines() if not line.startswith("laya: warning: ")]


def test_answers_come_in_order_and_bad_lines_keep_their_place(laya: Run, checkpoint: str, tmp_path: Path) -> None:
    two = {"a": QUESTIONS["refund"], "b": {"type": "choice", "instructions": "Which?", "criteria": ["x", "y"]}}
    broken = {"team": {"type": "choice", "instructions": "Which?", "criteria": {}}}
    requests = [
        {"state": "I was charged twice"},
        "{not json",
        {"state": {"subject": "Refund", "text": "please"}, "questions": two},
        {"state": "x", "questions": broken},
        {"state": "x", "model": "nope"},
        {"state": "The invoice is wrong", "max_len": 96},
    ]
    source, output = write_requests(tmp_path / "in.jsonl", requests), tmp_path / "out.jsonl"
    questions = tmp_path / "questions.json"
    questions.write_text(json.dumps(QUESTIONS))
    options = ("--questions", str(questions), "--model", checkpoint, "--output", str(output))
    code, out, err = laya("predict", "--batch", str(source), *options)
    assert (code, out) == (1, "")
    results = read(output)
    assert [list(result.get("answers", ())) for result in results] == [["refund"], [], ["a", "b"], [], [], ["refund"]]
    failures = {result["line"]: result["error"] for result in results if "line" in result}
    assert failures.keys() == {2, 4, 5}
    assert "not JSON" in failures[2] and "'team'" in failures[4] and "unknown model 'nope'" in failures[5]
    assert told(err) == [f"laya: line {number}: {error}" for number, error in failures.items()]


def test_each_answer_is_that_of_a_single_call(laya: Run, checkpoint: str, tmp_path: Path) -> None:
    texts = ["I was charged twice", "ok", "Where is my parcel? " * 9]
    source = write_requests(tmp_path / "in.jsonl", [{"state": text} for text in texts])
    code, out, err = laya("predict", "--batch", str(source), "--preset", "triage", "--model", checkpoint)
    assert (code, told(err)) == (0, [])
    together = [json.loads(line) for line in out.splitlines()]
    for text, result in zip(texts, together, strict=True):
        _, alone, _ = laya("predict", text, "--preset", "triage", "--model", checkpoint, "--json")
        expected = json.loads(alone)
        for question, answer in expected["answers"].items():
            for key, value in answer.items():
                got = result["answers"][question][key]
                assert got == (
                    pytest.approx(value, abs=2e-4)
                    if isinstance(value, float | dict) and key != "legend" and key != "action"
                    else value
                )
        assert result["usage"] == expected["usage"]


def test_a_pipe_goes_in_and_out(checkpoint: str) -> None:
    requests = "".join(json.dumps({"state": f"ticket {number}", "questions": QUESTIONS}) + "\n" for number in range(5))
    run = subprocess.run(
        command("--batch", "-", "--model", checkpoint),
        input=requests,
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
    )
    assert (run.returncode, told(run.stderr)) == (0, [])
    assert [list(json.loads(line)["answers"]) for line in run.stdout.splitlines()] == [["refund"]] * 5


def wait_for_lines(process: subprocess.Popen[bytes], output: Path, wanted: int) -> None:
    """Wait until the output holds that many lines, or the process has ended."""
    while process.poll() is None and line_count(output) < wanted:
        with suppress(subprocess.TimeoutExpired):
            process.wait(0.02)


def line_count(output: Path) -> int:
    return output.read_bytes().count(b"\n") if output.exists() else 0


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_killed_in_the_middle_and_resumed_nothing_is_lost_or_doubled(tmp_path: Path) -> None:
    count = 600
    requests = [
        {"state": f"ticket {number}", "questions": {f"q{number % 4}": QUESTIONS["refund"]}}
        if number % 100
        else {"state": None, "questions": QUESTIONS}
        for number in range(1, count + 1)
    ]
    source, output = write_requests(tmp_path / "in.jsonl", requests), tmp_path / "out.jsonl"
    options = ("--model", "mini", "--output", str(output), "--resume")
    kills = 0
    for wanted in (1, 300):
        process = subprocess.Popen(
            command("--batch", "-", *options),
            env=ENVIRONMENT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        assert process.stdin is not None
        try:
            process.stdin.write(source.read_bytes())
            process.stdin.flush()  # and stays open: however fast it is, it cannot have come to the end
            wait_for_lines(process, output, wanted)
            kills += process.poll() is None
        finally:
            process.send_signal(signal.SIGKILL)
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.wait()
        with output.open("ab") as file:
            file.write(b'{"model": "half a li')  # as if the kill had come within a write
    assert kills == 2 and 300 <= line_count(output) < count
    arguments = command("--batch", str(source), *options)
    run = subprocess.run(arguments, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stderr
    results = read(output)
    assert len(results) == count
    for number, result in enumerate(results, 1):
        if number % 100:
            assert list(result["answers"]) == [f"q{number % 4}"]
        else:
            assert result["line"] == number and "the state is None" in result["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["text", "--batch", "IN"], "leave out the text and --file"),
        (["--batch", "IN", "--file", "IN"], "leave out the text and --file"),
        (["--batch", "IN", "--resume"], "name it with --output"),
        (["--output", "OUT", "text", "--preset", "guard"], "go with --batch"),
        (["--resume", "text", "--preset", "guard"], "go with --batch"),
        (["--batch", "IN", "--output", "IN", "--resume"], "are the same file"),
        (["--batch", "IN", "--output", "THERE"], "--resume continues it"),
        (["--batch", "NOWHERE"], "No such file"),
        (["--batch", "IN", "--model", "nope"], "unknown model 'nope'"),
        (["--batch", "IN", "--preset", "nope"], "nope"),
        (["--batch", "BARE"], "the lines of BARE bring no questions; give --questions FILE or --preset NAME"),
        (["--batch", "LONG"], "the first 256 lines of LONG bring no questions"),
        (["--batch", "BARE", "--output", "OUT"], "bring no questions"),
        (["--batch", "BARE", "--model", "nope"], "bring no questions"),
    ],
)
def test_bad_usage_is_one_line_and_writes_nothing(
    laya: Run, tmp_path: Path, arguments: list[str], message: str
) -> None:
    source = write_requests(tmp_path / "IN", [{"state": "x", "questions": QUESTIONS}])
    write_requests(tmp_path / "BARE", [{"state": "x"}, "{", {"state": "questions"}])
    write_requests(tmp_path / "LONG", [{"state": "x"}] * 256 + [{"state": "x", "questions": QUESTIONS}])
    (tmp_path / "THERE").write_text("")
    before = source.read_bytes()
    named = [str(tmp_path / argument) if argument.isupper() else argument for argument in arguments]
    code, out, err = laya("predict", *named)
    assert (code, out) == (2, "")
    (line,) = told(err)
    assert line.startswith("laya: error: ") and message in line.replace(f"{tmp_path}{os.sep}", "")
    assert source.read_bytes() == before and not (tmp_path / "OUT").exists()


def test_a_hook_that_refuses_one_request_leaves_the_others(
    laya: Run, checkpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from laya_hooks import BaseHook, PredictContext, add_default_hook

    class Refusing(BaseHook):
        def on_predict_start(self, ctx: PredictContext) -> None:
            if ctx.states[0] == "secret":
                raise LookupError("not this one")

    add_default_hook(Refusing())
    states = ["a", "b", "secret", "c"]
    source = write_requests(tmp_path / "in.jsonl", [{"state": state, "questions": QUESTIONS} for state in states])
    code, out, _ = laya("predict", "--batch", str(source), "--model", checkpoint)
    results = [json.loads(line) for line in out.splitlines()]
    assert code == 1 and results[2] == {"line": 3, "error": "not this one"}
    assert ["answers" in result for result in results] == [True, True, False, True]


def test_without_questions_of_their_own_lines_fail_beside_those_that_have_some(
    laya: Run, checkpoint: str, tmp_path: Path
) -> None:
    source = write_requests(tmp_path / "in.jsonl", [{"state": "a"}, {"state": "b", "questions": QUESTIONS}])
    code, out, err = laya("predict", "--batch", str(source), "--model", checkpoint)
    assert code == 1 and len(told(err)) == 1
    failed, answered = map(json.loads, out.splitlines())
    assert failed["line"] == 1 and "it has no questions" in failed["error"] and "answers" in answered


def test_an_empty_input_has_an_empty_output(laya: Run, tmp_path: Path) -> None:
    assert laya("predict", "--batch", str(write_requests(tmp_path / "in.jsonl", []))) == (0, "", "")


def test_a_resumed_output_tells_of_the_lines_that_failed_before(laya: Run, checkpoint: str, tmp_path: Path) -> None:
    requests = [{"id": "one", "state": "a", "questions": QUESTIONS}, {"id": "two", "state": None}, {"state": "c"}]
    source, output = write_requests(tmp_path / "in.jsonl", requests), tmp_path / "out.jsonl"
    arguments = ("predict", "--batch", str(source), "--model", checkpoint, "--output", str(output), "--resume")
    assert laya(*arguments)[0] == 1
    whole = output.read_bytes()
    assert [result.get("id") for result in read(output)] == ["one", "two", None]
    code, out, err = laya(*arguments)
    assert (code, out) == (1, "") and output.read_bytes() == whole
    assert told(err) == [f"laya: 2 earlier lines failed (lines 2, 3 of {output})"]
    output.write_bytes(whole.splitlines(keepends=True)[0])
    write_requests(source, requests[:1])
    assert laya(*arguments)[0] == 0


def test_of_many_lines_that_failed_before_the_first_are_listed(laya: Run, tmp_path: Path) -> None:
    output = write_requests(tmp_path / "out.jsonl", [{"line": number, "error": "bad"} for number in range(1, 13)])
    source = write_requests(tmp_path / "in.jsonl", [{"state": None, "questions": QUESTIONS}] * 12)
    _, _, err = laya("predict", "--batch", str(source), "--output", str(output), "--resume")
    assert told(err) == [f"laya: 12 earlier lines failed (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, … of {output})"]
