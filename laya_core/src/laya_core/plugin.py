"""What laya-core brings to the framework: agents for checkpoint directories and Hub ids."""

from __future__ import annotations

from laya_hooks import AgentLike, LoadOptions, Source, hookimpl


@hookimpl(trylast=True)
def laya_load_agent(source: Source, options: LoadOptions) -> AgentLike:
    """Load a checkpoint with torch, after every other runtime has had its turn."""
    from .agent import Agent

    arguments = {name: value for name, value in options.items() if name != "continuous_batching"}
    if options.get("continuous_batching") is not None:
        raise ValueError("continuous_batching is not available in this version of laya-core; leave it out")
    return Agent(source, **arguments)  # type: ignore[arg-type]
