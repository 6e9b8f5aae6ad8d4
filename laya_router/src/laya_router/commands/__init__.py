"""The sub-commands this package adds to the `laya` command; needs the extra `cli`."""

from __future__ import annotations

import click

from laya_router.commands.checkpoints import checkpoints
from laya_router.commands.predict import predict
from laya_router.commands.presets import presets
from laya_router.commands.route import route


def add_commands(cli: click.Group) -> None:
    """Add them to the click group of the `laya` command."""
    for command in (checkpoints, predict, presets, route):
        cli.add_command(command)
