"""What laya-core brings to the framework: agents for checkpoint directories and Hub ids."""

from __future__ import annotations

from typing import TYPE_CHECKING

from laya_hooks.spec import hookimpl

if TYPE_CHECKING:
    from laya_hooks.protocols import AgentLike, LoadOptions, Source


@hookimpl(trylast=True)
def laya_load_agent(source: Source, options: LoadOptions) -> AgentLike:
    """Load a checkpoint with torch, after every other runtime has had its turn."""
    from .sources import check_source

    check_source(source, options.get("subfolder"))  # a wrong path is told before torch is imported, which takes seconds
    from .agent import Agent

    return Agent(source, **options)
