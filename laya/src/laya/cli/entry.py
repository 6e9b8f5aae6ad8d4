"""Runs the command line: arguments in, exit code out, every mistake in one line on standard error."""

from __future__ import annotations

import gc
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TextIO

import click

from laya.cli.group import laya
from laya_hooks.errors import LayaError
from laya_hooks.interrupts import INTERRUPTED, leave_on_interrupt

FAILED: Final = 2

# Errors whose text is written for users; of any other kind the name is told too.
_EXPLAINED: Final = (click.ClickException, LayaError, LookupError, OSError, RuntimeError, TypeError, ValueError)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the `laya` command and exit: 0 when it worked, 2 when it did not, 130 when interrupted."""
    leave_on_interrupt()
    code = run(arguments)
    # All that was loaded is freed with the process; to search it for cycles first takes most of a second.
    gc.freeze()
    sys.exit(code)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the `laya` command and return its exit code."""
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        try:
            _check_streams()
            code = laya.main(arguments, prog_name="laya", standalone_mode=False)
            sys.stdout.flush()
            return code if isinstance(code, int) else 0
        except (KeyboardInterrupt, click.Abort):
            return INTERRUPTED
        except BrokenPipeError:
            # The reader has gone; the interpreter must not flush into the pipe again on its way out.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return FAILED
        except Exception as error:
            return _report(error)


def _check_streams() -> None:
    """Python sets a stream that was closed before it started to None."""
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise click.ClickException("standard output is closed; direct it to a file, or to /dev/null to read nothing")


def _report(error: Exception) -> int:
    if os.environ.get("LAYA_DEBUG", "").strip() not in ("", "0"):
        traceback.print_exception(error)
    click.echo(f"laya: error: {explain(error)}", err=True)
    return FAILED


def explain(error: Exception) -> str:
    """What went wrong in one line."""
    if isinstance(error, click.ClickException):
        text = error.format_message()
    elif isinstance(error, OSError) and error.strerror and error.filename:
        text = f"{error.strerror}: {error.filename}"
    else:
        text = str(error)
    line = " ".join(text.split())
    if isinstance(error, _EXPLAINED) and not isinstance(error, KeyError) and line:
        return line
    kind = type(error).__name__
    return f"{kind}: {line} (LAYA_DEBUG=1 shows where)" if line else f"{kind} (LAYA_DEBUG=1 shows where)"


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    click.echo(f"laya: warning: {' '.join(str(message).split())}", err=True)
