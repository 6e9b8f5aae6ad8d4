"""What the commands share in writing to the terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click


def print_json(value: object) -> None:
    """Print a value as indented JSON, escaped where the terminal's encoding is not Unicode."""
    unicode_terminal = (getattr(sys.stdout, "encoding", None) or "").lower().startswith("utf")
    click.echo(json.dumps(value, indent=2, ensure_ascii=not unicode_terminal, default=str))


@contextmanager
def working(message: str) -> Iterator[None]:
    """Show that something takes its time, on a terminal only."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield
