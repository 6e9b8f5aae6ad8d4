"""The click group: the facade's own sub-commands, and those that packages and plugins contribute."""

from __future__ import annotations

import warnings

import click

from laya.cli.plugins import plugins


class ContributedGroup(click.Group):
    """A group that asks the installed packages for their sub-commands when it needs them.

    Its own sub-commands work without asking, so that `laya plugins` can tell what is wrong with a plugin.
    """

    _complete = False

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all sub-commands."""
        self._contribute()
        return super().list_commands(ctx)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The sub-command of a name, its own before any contributed one."""
        own = super().get_command(ctx, cmd_name)
        if own is not None:
            return own
        self._contribute()
        return super().get_command(ctx, cmd_name)

    def add_command(self, cmd: click.Command, name: str | None = None) -> None:
        """Add a sub-command; of two with the same name the first stays, with a warning."""
        name = name or cmd.name
        if name in self.commands:
            warnings.warn(f"a second command named {name!r} is left out", RuntimeWarning, stacklevel=2)
            return
        super().add_command(cmd, name)

    def _contribute(self) -> None:
        if self._complete:
            return
        from laya_hooks.providers import add_commands

        self._complete = True
        add_commands(self)


@click.group(
    cls=ContributedGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="laya", message="%(prog)s %(version)s")
@click.pass_context
def laya(ctx: click.Context) -> None:
    """Typed decisions about text, with calibrated probabilities."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


laya.add_command(plugins)
