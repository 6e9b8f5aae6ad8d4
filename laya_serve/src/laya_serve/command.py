"""`laya serve`, which is `laya-serve` too: settings as options, then uvicorn."""

from __future__ import annotations

import os
import sys
from typing import Any

import attrs
import click

from laya_hooks.errors import LayaError
from laya_hooks.interrupts import INTERRUPTED, leave_on_interrupt
from laya_serve.settings import Settings, variable_of


def _options() -> list[click.Parameter]:
    return [
        click.Option(
            [f"--{field.name.replace('_', '-')}", field.name],
            help=f"{field.metadata['meaning']} [{variable_of(field.name)}]",
        )
        for field in attrs.fields(Settings)
    ]


def serve_command() -> click.Command:
    """A fresh `serve` command."""
    return click.Command(
        "serve",
        params=_options(),
        callback=_serve,
        help="Serve the router over HTTP. Every option is an environment variable as well.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def main() -> None:
    """Run the server from the command line (`laya-serve`): 2 and one line on a mistake, 130 when interrupted."""
    leave_on_interrupt()
    try:
        serve_command().main(prog_name="laya-serve", standalone_mode=False)
    except click.ClickException as error:
        sys.exit(_one_line(error.format_message()))
    except (KeyboardInterrupt, click.Abort):
        sys.exit(INTERRUPTED)
    except (LayaError, OSError, RuntimeError, TypeError, ValueError) as error:
        sys.exit(_one_line(str(error)))


def _one_line(message: str) -> int:
    click.echo(f"laya-serve: error: {' '.join(message.split())}", err=True)
    return 2


def _serve(**options: Any) -> None:
    given = {variable_of(name): value for name, value in options.items() if value is not None}
    settings = Settings.from_environment({**os.environ, **given})
    run(settings)


def run(settings: Settings) -> None:
    """Build the router, preload it, and serve until a signal ends the process.

    Raises:
        ValueError: a setting cannot be used on this machine, or names an unknown checkpoint.
        HubUnreachable: a checkpoint that was asked for, or the default, cannot be downloaded.
    """
    from laya_serve.app import create_app
    from laya_serve.building import build_router
    from laya_serve.preload import preload
    from laya_serve.server import DrainingServer, check_address, configure_logging

    check_address(settings)
    configure_logging(settings)
    router = build_router(settings)
    preload(router, settings)
    server = DrainingServer(create_app(router, settings), settings)
    server.run()
