"""What this package gives the others: `laya serve`."""

from __future__ import annotations

from typing import Any

from laya_hooks.spec import hookimpl


@hookimpl
def laya_commands(cli: Any) -> None:
    """`laya serve`."""
    from laya_serve.command import serve_command

    cli.add_command(serve_command())
