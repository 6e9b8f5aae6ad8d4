"""`laya plugins`: what is installed and what became of it; `laya plugins new` starts one."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from laya_hooks.discovery import PluginRecord


@click.group(invoke_without_command=True, short_help="List the installed plugins, or start a new one.")
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.pass_context
def plugins(ctx: click.Context, as_json: bool) -> None:
    """List every plugin found: what it implements, its place in the order, and whether it is loaded."""
    if ctx.invoked_subcommand is not None:
        return
    from laya_hooks.plugins import plugin_records

    records = plugin_records()
    if as_json:
        click.echo(json.dumps([_row(record) for record in records], indent=2))
    else:
        _print_table(records)


@plugins.command()
@click.argument("name")
@click.option(
    "--dir",
    "parent",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path(),
    help="Where to make the project folder; here by default.",
)
def new(name: str, parent: Path) -> None:
    """Write a ready plugin project called NAME, with a hook, a test and a README."""
    from laya.cli.new_plugin import write_plugin

    project = write_plugin(name, parent)
    click.echo(
        f"wrote {project}\n\n"
        f"  pip install -e {shlex.quote(f'{project}[test]')}\n"
        f"  python -m pytest {shlex.quote(str(project))}\n"
        "  laya plugins  # lists it, as loaded\n\n"
        f"{project / 'README.md'} tells how to see it at work."
    )


def _row(record: PluginRecord) -> dict[str, Any]:
    return {
        "order": record.order,
        "distribution": record.distribution,
        "version": record.version,
        "entry_point": record.name,
        "value": record.value,
        "events": list(record.events),
        "providers": list(record.providers),
        "status": record.status,
        "reason": record.reason,
    }


def _print_table(records: list[PluginRecord]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    for heading in ("order", "plugin", "version", "implements", "status"):
        table.add_column(heading, overflow="fold")
    for record in records:
        status = record.status if record.reason is None else f"{record.status}: {record.reason}"
        table.add_row(
            str(record.order),
            escape(record.qualified_name),
            escape(record.version),
            "\n".join((*record.events, *record.providers)),
            escape(status),
        )
    Console().print(table)
