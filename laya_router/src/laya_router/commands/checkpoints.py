"""`laya checkpoints`: what the router knows by name, and what of it is here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TypedDict

import click

from laya_hooks.protocols import RouterOptions, Source
from laya_router.commands.output import print_json


class Row(TypedDict):
    """One checkpoint as `--json` prints it; state is installed, cached, download or missing."""

    name: str
    description: str | None
    source: str
    aliases: list[str]
    state: str
    default: bool


@click.command(short_help="List the checkpoints the router knows.")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
def checkpoints(as_json: bool) -> None:
    """List the checkpoints by name: where they come from and whether they are here.

    \b
    installed  a directory on this machine
    cached     downloaded from the Hub before
    download   will be downloaded on first use
    missing    a directory that does not exist
    """
    rows = list(_rows())
    if as_json:
        print_json(rows)
        return
    for row in rows:
        default = " (default)" if row["default"] else ""
        click.echo(f"{click.style(row['name'], bold=True)}{default}: {row['state']}, from {row['source']}")
        if row["description"]:
            click.echo(f"    {row['description']}")
        if row["aliases"]:
            click.echo(f"    also {', '.join(row['aliases'])}")


def _rows() -> Iterator[Row]:
    from laya_hooks.providers import make_router
    from laya_router.table import ALIASES, Checkpoint

    default = os.environ.get("LAYA_DEFAULT_MODEL", "").strip()
    router = make_router(RouterOptions(default=default) if default else RouterOptions())
    for name, source in router.registered().items():
        yield Row(
            name=name,
            description=router.describe(name),
            source=Checkpoint(name, source).repo,
            aliases=sorted(alias for alias, target in ALIASES.items() if target == name and "/" not in alias),
            state=_state(source),
            default=name == router.default,
        )


def _state(source: Source) -> str:
    if isinstance(source, tuple):
        repo, subfolder = source
        return _hub_state(repo, subfolder)
    if os.path.isdir(source):
        return "installed"
    looks_like_hub_id = isinstance(source, str) and source.count("/") == 1 and not source.startswith((".", "~", "/"))
    return _hub_state(str(source), None) if looks_like_hub_id else "missing"


def _hub_state(repo: str, subfolder: str | None) -> str:
    from huggingface_hub import try_to_load_from_cache

    config = "rl_agent_config.json"
    found = try_to_load_from_cache(repo, f"{subfolder}/{config}" if subfolder else config)
    return "cached" if isinstance(found, str) else "download"
