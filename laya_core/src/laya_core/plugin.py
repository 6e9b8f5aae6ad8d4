"""What laya-core brings to the framework: agents for checkpoint directories and Hub ids."""

from __future__ import annotations

from laya_hooks import AgentLike, LoadOptions, Source, hookimpl

from .sources import check_source


@hookimpl(trylast=True)
def laya_load_agent(source: Source, options: LoadOptions) -> AgentLike:
    """Load a checkpoint with torch, after every other runtime has had its turn."""
    check_source(source, options.get("subfolder"))  # a wrong path is told before torch is imported, which takes seconds
    from .agent import Agent

    return Agent(source, **options)
