"""The whole run: from an input file or standard input to an output file or standard output."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Final

import click

from laya_hooks.protocols import RouterLike
from laya_router.commands.batch.answering import answer, is_failure
from laya_router.commands.batch.lines import chunks, read_lines
from laya_router.commands.batch.output_file import Written, open_output, write_lines
from laya_router.commands.batch.progress import reporting

_CHUNK_LINES: Final = 256
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

    Args:
        source: a file of JSON lines, or `-` for standard input.
        output: where results go; None for standard output.
        defaults: keys of a request for the lines that lack them.
        controls: keyword arguments of `router.predict_batch`.

    Raises:
        click.UsageError: the options contradict each other.
        ValueError: the output to resume does not belong to the input.
        OSError, LayaError: a file cannot be used, or a checkpoint cannot be loaded.
    """
    if output is None and resume:
        raise click.UsageError("--resume continues a file: name it with --output")
    if output is not None and output.exists() and source.exists() and output.samefile(source):
        raise click.UsageError("--batch and --output are the same file")
    with ExitStack() as opened:
        lines = _open_input(source, opened)
        file, written = _open_output(output, resume, opened)
        report = opened.enter_context(reporting(_size(source), written.lines))
        failed = written.failed
        for chunk in chunks(read_lines(lines, defaults, skip=written.lines), _CHUNK_LINES, _CHUNK_BYTES):
            results = list(answer(router, chunk, controls))
            write_lines(file, results)
            for result in results:
                if is_failure(result):
                    failed += 1
                    report.failed(result["line"], result["error"])
            report.done(len(chunk), sum(line.size for line in chunk))
    return failed


def _open_input(source: Path, opened: ExitStack) -> BinaryIO:
    return sys.stdin.buffer if str(source) == "-" else opened.enter_context(source.open("rb"))


def _open_output(output: Path | None, resume: bool, opened: ExitStack) -> tuple[BinaryIO, Written]:
    if output is None:
        return sys.stdout.buffer, Written()
    file, written = open_output(output, resume)
    return opened.enter_context(file), written


def _size(source: Path) -> int | None:
    return source.stat().st_size if source.is_file() else None
