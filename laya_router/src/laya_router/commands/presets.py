"""`laya presets`: the ready question sets, to look at or to start one's own from."""

from __future__ import annotations

import click

from laya_router.commands.output import print_json


@click.command(short_help="List or print the ready question sets.")
@click.argument("name", required=False)
@click.option("--sample", is_flag=True, help="Print the sample state instead of the questions.")
def presets(name: str | None, sample: bool) -> None:
    """List the ready question sets, or print one as JSON.

    `laya presets triage > questions.json` is a start for a question file of your own.
    """
    from laya_router import presets as library

    if name is None:
        width = max(map(len, library.names()))
        for preset in map(library.load, library.names()):
            click.echo(f"{preset.name:<{width}}  {preset.description}")
    elif sample:
        click.echo(library.load(name).sample)
    else:
        print_json(library.load(name).questions)
