"""The checkpoints of a router: the table of names, the agents in memory, and the hooks that hear of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from laya_hooks.chain import HookChain
from laya_hooks.context import new_run_id
from laya_hooks.protocols import AgentLike, LoadOptions, RouterLike, Source
from laya_hooks.registry import HookRegistry
from laya_router.announcements import Announcements
from laya_router.building import AgentBuilder
from laya_router.residency import Changes, Residency
from laya_router.table import CheckpointTable


class CheckpointHost(HookRegistry):
    """Builds checkpoints by name, keeps them in memory, and lets them go; hooks run outside its locks."""

    _table: CheckpointTable
    _residency: Residency
    _announcements: Announcements

    def _init_checkpoints(self, table: CheckpointTable, max_loaded: int, options: LoadOptions, default: str) -> None:
        """Set up the table and the memory.

        Raises:
            TypeError, ValueError: `max_loaded` is not a number of at least 1, or nobody knows `default`.
        """
        self._table = table
        self._default = table.resolve(default)
        self._residency = Residency(max_loaded, AgentBuilder(table, options, self._default), table.has_source)
        self._announcements = Announcements(cast("RouterLike", self))

    @property
    def default(self) -> str:
        """The name of the checkpoint for what no rule decides."""
        return self._default

    @property
    def loaded(self) -> list[str]:
        """The names of the checkpoints in memory, least recently used first."""
        return list(self._residency.agents())

    def agents(self) -> dict[str, AgentLike]:
        """The agents in memory by name, least recently used first; looking at them counts as no use."""
        return self._residency.agents()

    def load(self, name: str) -> AgentLike:
        """The agent of a checkpoint, built on first use; `on_evict` and `on_load` run after a build.

        Raises:
            ValueError: nobody knows the name.
            Exception: the build failed; every thread that waited for it gets the same error.
        """
        return self._resident(self._table.resolve(name), self.hook_chain(), new_run_id())

    def preload(self, names: Sequence[str] | None = None) -> None:
        """Build several checkpoints, or all that are registered, and keep room for all of them.

        Raises:
            TypeError, ValueError: a name is none, or nobody knows it; nothing is built then.
        """
        if isinstance(names, str):
            names = [names]
        elif names is not None and not isinstance(names, Iterable):
            raise TypeError(f"preload takes checkpoint names, not {type(names).__name__} {names!r}")
        wanted = self._table.buildable() if names is None else [self._table.resolve(name) for name in names]
        self._residency.make_room_for(len(set(wanted)))
        for name in wanted:
            self.load(name)

    def unload(self, name: str | None = None) -> None:
        """Let one checkpoint go, or all; calls that use it finish, then its memory is freed.

        Raises:
            ValueError: nobody knows the name.
        """
        if name is None:
            with self._telling() as changes:
                self._residency.drop_all(changes)
        else:
            self._let_go(self._table.resolve(name))

    def attach(self, name: str, agent: AgentLike) -> None:
        """Make an existing agent resident under a name, new or known; room is made for it, `on_load` does not run.

        Under a name that has a source, a later load may evict it, and the source is built when asked for again.

        Raises:
            TypeError, ValueError: the name cannot be one, or the agent is None.
        """
        if agent is None:
            raise TypeError(f"there is no agent to attach as {name!r}: it is None")
        checkpoint = self._table.attach(name)
        with self._telling() as changes:
            self._residency.put(checkpoint, agent, changes)
        self._table.attach(checkpoint)  # once more, for it may have been unregistered between the two

    def register(self, name: str, source: Source, description: str | None = None) -> None:
        """Add a checkpoint to the table, or point a known name somewhere else; nothing is loaded.

        Raises:
            TypeError, ValueError: the name or the source cannot be one.
        """
        checkpoint, changed = self._table.register(name, source, description)
        if changed:
            self._let_go(checkpoint)

    def unregister(self, name: str) -> None:
        """Take a checkpoint out of the table and of memory; a published name gets its own source back.

        Raises:
            ValueError: nobody knows the name, or it is the router's default.
        """
        checkpoint = self._table.resolve(name)
        self._table.unregister(checkpoint, keep=self.default)
        self._let_go(checkpoint)

    def describe(self, name: str) -> str | None:
        """What a checkpoint is for, in a few words, if anybody has said so.

        Raises:
            ValueError: nobody knows the name.
        """
        return self._table[self._table.resolve(name)].description

    def registered(self) -> dict[str, Source]:
        """Every name of the table and where it comes from; an attached agent without a source shows its name."""
        return self._table.sources()

    def _resident(self, checkpoint: str, chain: HookChain, run_id: str) -> AgentLike:
        agent = self._residency.resident(checkpoint)
        if agent is not None:
            return agent
        with self._telling(chain, run_id) as changes:
            return self._residency.get(checkpoint, changes)

    def _let_go(self, checkpoint: str) -> None:
        with self._telling() as changes:
            self._residency.drop([checkpoint], changes)

    @contextmanager
    def _telling(self, chain: HookChain | None = None, run_id: str | None = None) -> Iterator[Changes]:
        """Notes the changes of the block, and tells the hooks after it."""
        try:
            yield self._announcements.of_call(chain or self.hook_chain(), run_id or new_run_id())
        finally:
            self._announcements.tell()
