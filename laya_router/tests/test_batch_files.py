"""The files of `laya predict --batch`: requests in, and an output that survives interruptions."""

from __future__ import annotations

import errno
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from laya_hooks.testing import FakeRouter
from laya_router.commands.batch.answering import answer, is_failure
from laya_router.commands.batch.lines import Line, brings_questions, chunks, read_lines
from laya_router.commands.batch.output_file import Written, naming_output, open_output, write_lines
from laya_router.commands.batch.pace import FEWEST, Pace

DEFAULTS: dict[str, Any] = {"questions": {"q": {"type": "noul", "instructions": "Urgent?"}}, "model": "mini"}
RESULTS = [
    {"id": "a", "answers": {"q": number}} if number % 3 else {"line": number, "id": "b", "error": "bad ✗"}
    for number in range(1, 8)
]


def only(raw: bytes, defaults: dict[str, Any] = DEFAULTS) -> Line:
    (line,) = read_lines([raw], defaults)
    return line


def test_a_line_is_a_request_and_overrides_the_defaults() -> None:
    raw = b'{"state": "a", "model": "other", "lang": "de", "max_len": 99}\n'
    assert only(raw).request == {**DEFAULTS, "state": "a", "model": "other", "lang": "de", "max_len": 99}
    assert only(b'\xef\xbb\xbf{"state": {"a": [1]}}').request == {**DEFAULTS, "state": {"a": [1]}}


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"\n", "the line is empty"),
        (b"{", "not JSON: column 2"),
        (b"[1]", "a JSON object with a state, not an array"),
        (b"null", "not null"),
        (b'{"state": "\xff"}', "not UTF-8 text: invalid start byte at byte 11"),
        (b'{"state": NaN}', "NaN is no JSON number"),
        (b'{"state": "a", "id": 1e999}', "the number 1e999 is too large"),
        (b'{"state": [-1e400]}', "the number -1e400 is too large"),
        (b"[" * 100_000, "nested too deeply"),
        (b"{}", "it has no state"),
        (b'{"text": "a", "from": "b"}', "it has no state; its keys are 'text', 'from'"),
        (json.dumps(dict.fromkeys("abcdefghijk")).encode(), "'g', 'h', …"),
        (b'{"state": null}', "the state is None"),
        (b'{"state": "a", "colour": 1}', "unknown key 'colour'; it may have state, questions"),
        (b'{"state": "a", "ids": 1}', "head_max_len, id; did you mean 'id'?"),
        (b'{"state": "a", "questions": [1]}', "questions must be a mapping"),
        (b'{"state": "a", "max_len": 0}', "max_len is a number of tokens of at least 1"),
    ],
)
def test_a_bad_line_says_what_is_wrong(raw: bytes, message: str) -> None:
    line = only(raw)
    assert line.request is None and line.error is not None and message in line.error
    assert "requests[" not in line.error


def test_questions_have_to_come_from_somewhere() -> None:
    error = only(b'{"state": "a"}', {}).error
    assert error == "it has no questions; put them into the line, or give --questions or --preset"


def test_a_line_keeps_its_id_whatever_becomes_of_it() -> None:
    good, bad = only(b'{"id": "T-1", "state": "a"}'), only(b'{"id": null, "state": null}')
    assert (good.label, good.request) == ({"id": "T-1"}, {**DEFAULTS, "state": "a"})
    assert bad.label == {"id": None} and bad.error is not None
    result, failure = answer(FakeRouter(names=("mini",)), [good, bad], {})
    assert next(iter(result)) == "id" and result["id"] == "T-1" and "q" in result["answers"]
    assert failure == {"line": 1, "id": None, "error": bad.error} and is_failure(failure)
    assert not is_failure(result)


def test_a_line_that_brings_questions_is_known_without_reading_it_as_a_request() -> None:
    assert brings_questions(b'{"questions": 3}\n')
    for raw in (
        b"\n",
        b"{",
        b'["questions"]',
        b'"questions"',
        b'{"state": "\\"questions\\""}',
        b"[" * 100_000,
        b"\xff",
    ):
        assert not brings_questions(raw)


def test_skipped_lines_are_not_looked_at_and_numbers_stay() -> None:
    assert [line.number for line in read_lines([b"{"] * 3 + [b'{"state": 1}'], DEFAULTS, skip=3)] == [4]
    assert list(read_lines([b"{"] * 3, DEFAULTS, skip=3)) == []
    with pytest.raises(ValueError, match="has 4 lines, but the input only 3"):
        list(read_lines([b"{"] * 3, DEFAULTS, skip=4))


@settings(max_examples=50)
@given(st.lists(st.integers(1, 50)), st.integers(1, 5), st.integers(1, 60))
def test_chunks_keep_order_and_bounds(sizes: list[int], most_lines: int, most_bytes: int) -> None:
    lines = [Line(number, size) for number, size in enumerate(sizes, 1)]
    made = list(chunks(lines, lambda: most_lines, most_bytes))
    assert [line for chunk in made for line in chunk] == lines
    for chunk in made:
        assert 1 <= len(chunk) <= most_lines
        assert len(chunk) == 1 or sum(line.size for line in chunk) <= most_bytes


def test_an_input_of_any_length_is_read_chunk_by_chunk() -> None:
    read = []

    def endless() -> Any:
        while True:
            read.append(None)
            yield b'{"state": 1}'

    made = chunks(read_lines(endless(), DEFAULTS), lambda: 10, 1 << 20)
    assert len(next(made)) == len(next(made)) == 10
    assert len(read) <= 21


def test_chunks_grow_while_they_take_little_time_and_shrink_when_they_take_much() -> None:
    pace = Pace()
    sizes = []
    for seconds in (0.0, 2.5, 2.5, 1.0, 10.0, 90.0):
        sizes.append(pace.lines)
        pace.took(pace.lines, seconds)
    assert sizes == [32, 64, 128, 256, 256, 128]
    assert pace.lines == FEWEST
    pace.took(pace.lines - 1, 0.001)  # what was left of the input
    assert pace.lines == FEWEST


@settings(max_examples=60)
@given(st.data())
def test_cut_anywhere_a_resumed_output_loses_and_doubles_nothing(data: st.DataObject) -> None:
    whole = "".join(json.dumps(result, ensure_ascii=False) + "\n" for result in RESULTS).encode()
    kept = whole[: data.draw(st.integers(0, len(whole)))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "out.jsonl")
        path.write_bytes(kept)
        file, written = open_output(path, resume=True)
        with file:
            complete = kept.count(b"\n")
            failed = [number for number, result in enumerate(RESULTS[:complete], 1) if "error" in result]
            assert written == Written(complete, tuple(failed))
            write_lines(file, RESULTS[complete:])
        assert path.read_bytes() == whole


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_text("precious\n")
    with pytest.raises(FileExistsError, match="--resume continues it"):
        open_output(path, resume=False)
    with pytest.raises(ValueError, match="line 1 is not a result"):
        open_output(path, resume=True)
    assert path.read_text() == "precious\n"


def test_what_has_no_end_is_not_resumed() -> None:
    with pytest.raises(ValueError, match="/dev/null is not a file, so it cannot be resumed"):
        open_output(Path("/dev/null"), resume=True)


def test_resuming_what_does_not_exist_begins(tmp_path: Path) -> None:
    file, written = open_output(tmp_path / "out.jsonl", resume=True)
    with file:
        assert written == Written()
        write_lines(file, [{"answers": {"q": "\ud800 ü"}}])
    (line,) = (tmp_path / "out.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line) == {"answers": {"q": "\ud800 ü"}}


@pytest.mark.skipif(sys.platform == "win32", reason="files are locked as POSIX does")
@pytest.mark.parametrize("resumed", [False, True])
def test_an_output_that_is_being_written_is_not_resumed(tmp_path: Path, resumed: bool) -> None:
    path = tmp_path / "out.jsonl"
    if resumed:
        path.write_text('{"answers": {}}\n')
    file, _ = open_output(path, resume=resumed)
    with file:
        with pytest.raises(BlockingIOError, match=r"out\.jsonl: another process is writing it"):
            open_output(path, resume=True)
        write_lines(file, RESULTS[:2])
    again, written = open_output(path, resume=True)
    with again:
        assert written.lines == 2 + resumed


def test_what_the_system_says_of_writing_names_the_output() -> None:
    told = []
    for path in (Path("out.jsonl"), None):
        with pytest.raises(OSError, match="No space left on device") as caught, naming_output(path):
            raise OSError(errno.ENOSPC, "No space left on device")
        told.append(str(caught.value))
    assert told == [
        "out.jsonl: No space left on device; the lines that are complete stay, and --resume continues after them",
        "standard output: No space left on device",
    ]
    with pytest.raises(BrokenPipeError), naming_output(None):
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")
