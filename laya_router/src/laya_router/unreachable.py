"""What a router says when a checkpoint has to be downloaded and the Hub cannot be reached."""

from __future__ import annotations

from laya_hooks.errors import HubUnreachable
from laya_hooks.providers import is_directory, named_checkpoints
from laya_router.decision import RouteDecision
from laya_router.table import ENGLISH, MULTILINGUAL, CheckpointTable


def of_build(error: HubUnreachable, name: str, table: CheckpointTable, default: str) -> HubUnreachable:
    """The error of building a checkpoint by name."""
    return _with_advice(error, error.problem, name, table, default, routed=True)


def of_request(
    error: HubUnreachable, decision: RouteDecision, routed: bool, table: CheckpointTable, default: str
) -> HubUnreachable:
    """The error of a request: which checkpoint it was to have and why, and how to have an answer all the same.

    Args:
        error: that of building the checkpoint.
        routed: whether the router chose it, not the caller by `model=` or `task=`.
    """
    reason = f" ({decision.reason})" if decision.reason else ""
    problem = f"this request goes to {decision.model!r}{reason}, but {error.problem}"
    return _with_advice(error, problem, decision.model, table, default, routed)


def _with_advice(
    error: HubUnreachable, problem: str, name: str, table: CheckpointTable, default: str, routed: bool
) -> HubUnreachable:
    installed = _installed(table)
    if installed is None:
        otherwise = f"give a local directory: Router(models={{{name!r}: directory}})"
    elif routed and name in (ENGLISH, default) and name != MULTILINGUAL and default != installed:
        otherwise = (
            f'use the installed {_described(installed, table)}: model="{installed}" or Router(default="{installed}")'
        )
    else:
        otherwise = f'pass model="{installed}" to ask the installed {_described(installed, table)} all the same'
    return HubUnreachable(problem, installed, name, error.download, otherwise)


def _installed(table: CheckpointTable) -> str | None:
    """The first checkpoint that a plugin brings as a directory, unless its name was pointed somewhere else."""
    brought = named_checkpoints()
    sources = table.sources()
    return next(
        (name for name in table.buildable() if is_directory(brought.get(name)) and sources[name] == brought[name]), None
    )


def _described(name: str, table: CheckpointTable) -> str:
    description = table[name].description
    return f"{name!r} ({description})" if description else repr(name)
