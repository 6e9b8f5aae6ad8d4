"""Builds the agent of a table entry, through whichever installed runtime takes its source."""

from __future__ import annotations

import attrs

from laya_hooks.errors import HubUnreachable
from laya_hooks.protocols import AgentLike, LoadOptions
from laya_hooks.providers import load_agent
from laya_router import unreachable
from laya_router.table import CheckpointTable


@attrs.frozen
class AgentBuilder:
    """Makes agents of the table's checkpoints; `options` go to the runtime as they are, `default` is the router's."""

    table: CheckpointTable
    options: LoadOptions
    default: str

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
            raise unreachable.of_build(error, name, self.table, self.default) from error
