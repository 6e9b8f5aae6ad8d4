"""The whole run: from an input file or standard input to an output file or standard output."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO, Final

import click

from laya_hooks.protocols import RouterLike
from laya_router.commands.batch.answering import answer, is_failure
from laya_router.commands.batch.lines import brings_questions, chunks, read_lines
from laya_router.commands.batch.output_file import Written, naming_output, open_output, write_lines
from laya_router.commands.batch.pace import Pace
from laya_router.commands.batch.progress import reporting
from laya_router.commands.output import working

_FIRST_LINES: Final = 256
_CHUNK_BYTES: Final = 4 << 20


def run_batch(
    router: RouterLike,
    source: Path,
    output: Path | None,
    resume: bool,
    defaults: Mapping[str, Any],
    controls: Mapping[str, Any],
) -> int:
    """Answer every line of `source`, and return how many failed, those of a resumed output included.

    A checkpoint that is named in `defaults` is loaded first: a wrong name is no fault of the lines.

    Args:
        source: a file of JSON lines, or `-` for standard input.
        output: where results go; None for standard output.
        defaults: keys of a request for the lines that lack them.
        controls: keyword arguments of `router.predict_batch`.

    Raises:
        click.UsageError: the options contradict each other, or neither they nor the lines bring questions.
        ValueError: the output to resume does not belong to the input.
        OSError, LayaError: a file cannot be used, or a checkpoint cannot be loaded.
    """
    if output is None and resume:
        raise click.UsageError("--resume continues a file: name it with --output")
    if output is not None and output.exists() and source.exists() and output.samefile(source):
        raise click.UsageError("--batch and --output are the same file")
    with ExitStack() as opened:
        lines: Iterable[bytes] = _open_input(source, opened)
        if "questions" not in defaults:
            lines = _with_questions(lines, source)
        if "model" in defaults:
            with working("loading"):
                router.load(defaults["model"])
        file, written = _open_output(output, resume, opened)
        report = opened.enter_context(reporting(_size(source), written.lines))
        report.failed_earlier(written.failed, str(output))
        failed = len(written.failed)
        pace = Pace()
        for chunk in chunks(read_lines(lines, defaults, skip=written.lines), lambda: pace.lines, _CHUNK_BYTES):
            started = time.monotonic()
            results = list(answer(router, chunk, controls))
            with naming_output(output):
                write_lines(file, results)
            pace.took(len(chunk), time.monotonic() - started)
            for result in results:
                if is_failure(result):
                    failed += 1
                    report.failed(result["line"], result["error"])
            report.done(len(chunk), sum(line.size for line in chunk))
    return failed


def _open_input(source: Path, opened: ExitStack) -> BinaryIO:
    return sys.stdin.buffer if str(source) == "-" else opened.enter_context(source.open("rb"))


def _with_questions(lines: Iterable[bytes], source: Path) -> Iterable[bytes]:
    """The lines, once one of the first has been seen to bring questions; how many may not is the same on every run."""
    seen: list[bytes] = []
    reading = iter(lines)
    for line in islice(reading, _FIRST_LINES):
        seen.append(line)
        if brings_questions(line):
            return chain(seen, reading)
    if not seen:
        return seen
    which = "the lines" if len(seen) < _FIRST_LINES else f"the first {_FIRST_LINES} lines"
    name = "standard input" if str(source) == "-" else source
    raise click.UsageError(
        f"{which} of {name} bring no questions; give --questions FILE or --preset NAME, or put them into the lines"
    )


def _open_output(output: Path | None, resume: bool, opened: ExitStack) -> tuple[BinaryIO, Written]:
    if output is None:
        return sys.stdout.buffer, Written()
    file, written = open_output(output, resume)
    opened.callback(_close, file, output)
    return file, written


def _close(file: BinaryIO, output: Path) -> None:
    with naming_output(output):  # what could not be written fails again here
        file.close()


def _size(source: Path) -> int | None:
    return source.stat().st_size if source.is_file() else None
