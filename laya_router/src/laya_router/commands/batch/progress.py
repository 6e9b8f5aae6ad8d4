"""How far a batch is: a bar on a terminal, nothing elsewhere; failed lines are told in any case."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, Protocol

import click

if TYPE_CHECKING:
    from rich.console import Console

_MOST_NUMBERS: Final = 10


class Report(Protocol):
    """Receives what happens to the lines of a batch."""

    def failed_earlier(self, numbers: Sequence[int], where: str) -> None:
        """These lines of the output that is resumed tell of a failure."""

    def failed(self, number: int, error: str) -> None:
        """A line failed."""

    def done(self, lines: int, size: int) -> None:
        """Lines of `size` bytes together were written."""


class _Plain:
    def failed_earlier(self, numbers: Sequence[int], where: str) -> None:
        if numbers:
            click.echo(_earlier(numbers, where), err=True)

    def failed(self, number: int, error: str) -> None:
        click.echo(f"laya: line {number}: {error}", err=True)

    def done(self, lines: int, size: int) -> None:
        """Nothing is shown."""


@contextmanager
def reporting(total: int | None, answered: int, answered_bytes: int = 0) -> Iterator[Report]:
    """Show a progress bar while the block runs, if standard error is a terminal.

    Args:
        total: bytes of the input, or None if nobody knows.
        answered: lines answered before.
    """
    if not sys.stderr.isatty():
        yield _Plain()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[lines]} lines"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=total, completed=answered_bytes, lines=answered)
        lines = answered

        class Bar:
            def failed_earlier(self, numbers: Sequence[int], where: str) -> None:
                if numbers:
                    _print(console, _earlier(numbers, where))

            def failed(self, number: int, error: str) -> None:
                _print(console, f"laya: line {number}: {error}")

            def done(self, count: int, size: int) -> None:
                nonlocal lines
                lines += count
                progress.update(task, advance=size, lines=lines)

        yield Bar()


def _earlier(numbers: Sequence[int], where: str) -> str:
    count = f"{len(numbers)} earlier {'line' if len(numbers) == 1 else 'lines'}"
    listed = ", ".join(map(str, numbers[:_MOST_NUMBERS])) + (", …" if numbers[_MOST_NUMBERS:] else "")
    return f"laya: {count} failed ({'line' if len(numbers) == 1 else 'lines'} {listed} of {where})"


def _print(console: Console, message: str) -> None:
    console.print(message, markup=False, highlight=False, soft_wrap=True)
