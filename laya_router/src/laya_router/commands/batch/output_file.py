"""The output: a line for every line of the input, in order, whatever interrupts the writing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import SEEK_END
from pathlib import Path
from typing import Any, BinaryIO

from attrs import frozen

_FAILED = b'{"line": '


@frozen
class Written:
    """What an output file holds: its complete lines, and the numbers of those that tell of a failure."""

    lines: int = 0
    failed: tuple[int, ...] = ()


def open_output(path: Path, resume: bool) -> tuple[BinaryIO, Written]:
    """Open an output file to append to.

    Args:
        resume: continue a file that is there; a last line without its end is cut off.

    Raises:
        FileExistsError: it is there, and `resume` is off.
        BlockingIOError: another process is writing it.
        ValueError: it is no regular file, or not the output of this command.
        OSError: it cannot be opened.
    """
    file: BinaryIO
    if not resume:
        try:
            file = path.open("xb")
        except FileExistsError:
            raise FileExistsError(f"{path} exists; --resume continues it, or choose another --output") from None
        with _closed_on_error(file):
            _lock(file, path)
        return file, Written()
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a file, so it cannot be resumed; choose a file as --output")
    file = path.open("a+b")
    with _closed_on_error(file):
        _lock(file, path)
        return file, _repair(file, path)


def write_lines(file: BinaryIO, results: Iterable[Mapping[str, Any]]) -> None:
    """Write a line for each result and hand them to the system, so that the end of this process loses none."""
    file.write(b"".join(_encoded(result) for result in results))
    file.flush()


@contextmanager
def naming_output(path: Path | None) -> Iterator[None]:
    """Name the output (None: standard output) in what the system says of writing to it, which names no file."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        advice = "" if path is None else "; the lines that are complete stay, and --resume continues after them"
        raise OSError(f"{path or 'standard output'}: {error.strerror or error}{advice}") from error


@contextmanager
def _closed_on_error(file: BinaryIO) -> Iterator[None]:
    try:
        yield
    except BaseException:
        file.close()
        raise


def _lock(file: BinaryIO, path: Path) -> None:
    """Keep other runs away from the file until it is closed or this process ends, however it does."""
    if sys.platform == "win32":
        return
    from fcntl import LOCK_EX, LOCK_NB, flock

    try:
        flock(file, LOCK_EX | LOCK_NB)
    except BlockingIOError:
        raise BlockingIOError(f"{path}: another process is writing it; --resume continues it after its end") from None
    except OSError:
        return  # a file system without locks


def _repair(file: BinaryIO, path: Path) -> Written:
    file.seek(0)
    lines = complete = 0
    failed = []
    last = b""
    for line in file:
        if not line.endswith(b"\n"):
            break
        lines += 1
        if line.startswith(_FAILED):
            failed.append(lines)
        complete += len(line)
        last = line
    if last and not _is_result(last):
        raise ValueError(f"{path}: line {lines} is not a result of `laya predict --batch`; is it the right file?")
    file.truncate(complete)
    file.seek(0, SEEK_END)
    return Written(lines, tuple(failed))


def _is_result(line: bytes) -> bool:
    try:
        value = json.loads(line)
    except ValueError:
        return False
    return isinstance(value, dict) and ("answers" in value or ("line" in value and "error" in value))


def _encoded(result: Mapping[str, Any]) -> bytes:
    # Lone surrogates, which JSON can escape and UTF-8 cannot hold, make the line ASCII.
    try:
        return json.dumps(result, ensure_ascii=False, default=str).encode() + b"\n"
    except UnicodeEncodeError:
        return json.dumps(result, default=str).encode() + b"\n"
