"""Builds the agent of a table entry, through whichever installed runtime takes its source."""

from __future__ import annotations

import os

import attrs

from laya_hooks.errors import HubUnreachable
from laya_hooks.protocols import AgentLike, LoadOptions
from laya_hooks.providers import load_agent, named_checkpoints
from laya_router.table import CheckpointTable


@attrs.frozen
class AgentBuilder:
    """Makes agents of the table's checkpoints; `options` go to the runtime as they are."""

    table: CheckpointTable
    options: LoadOptions

    def __call__(self, name: str) -> AgentLike:
        """The agent of a checkpoint.

        Raises:
            ValueError: it was attached, has been let go, and no source is known.
            HubUnreachable: it has to be downloaded and cannot be; the message says what is installed instead.
        """
        source = self.table[name].source
        if source is None:
            raise ValueError(f"{name!r} was attached and has been let go; attach it again or register its source")
        try:
            return load_agent(source, self.options)
        except HubUnreachable as error:
            installed = self._installed_checkpoint()
            if installed is None:
                error.checkpoint = name
                raise
            raise HubUnreachable(
                f"{error}; the checkpoint {installed!r} is installed and needs no download: "
                f'use model="{installed}" or Router(default="{installed}")',
                installed,
                name,
            ) from error

    def _installed_checkpoint(self) -> str | None:
        brought = named_checkpoints()
        return next((name for name in self.table.buildable() if _is_directory(brought.get(name))), None)


def _is_directory(source: object) -> bool:
    return isinstance(source, str | os.PathLike) and os.path.isdir(source)
