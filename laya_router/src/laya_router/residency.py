"""Which agents stay in memory: each built once, the least recently used let go.

A build takes seconds, so it runs outside the lock that predictions take to find their agent. The residency never
closes an agent: it drops its reference, and the memory is freed when the last call that uses the agent ends.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from concurrent.futures import Future
from typing import Protocol

from laya_hooks.protocols import AgentLike


class Changes(Protocol):
    """Notes the changes of one call; called under the residency's lock, so in the order in which they happen."""

    def loaded(self, name: str, agent: AgentLike) -> None: ...

    def evicted(self, name: str) -> None: ...


class _Abandoned(Exception):
    """The building thread was interrupted; whoever waited may build in its place."""


class Residency:
    """At most `capacity` agents by name, least recently used first to go.

    Args:
        capacity: how many agents stay.
        build: makes the agent of a name.
        can_rebuild: whether an agent let go could be built again; those that could not stay.

    Raises:
        TypeError, ValueError: `capacity` is not a whole number of at least 1.
    """

    def __init__(self, capacity: int, build: Callable[[str], AgentLike], can_rebuild: Callable[[str], bool]) -> None:
        if isinstance(capacity, bool) or not isinstance(capacity, int):
            raise TypeError(f"max_loaded is a number of checkpoints, not {capacity!r}")
        if capacity < 1:
            raise ValueError(f"max_loaded is at least 1, not {capacity}")
        self._build = build
        self._can_rebuild = can_rebuild
        self._lock = threading.Lock()  # guards _capacity, _agents and _pending; never held during a build
        self._capacity = capacity
        self._agents: OrderedDict[str, AgentLike] = OrderedDict()
        self._pending: dict[str, Future[AgentLike]] = {}
        self._turn = threading.Lock()  # held during a build: two at once would double the peak memory
        self._building_thread: int | None = None

    def agents(self) -> dict[str, AgentLike]:
        """The resident agents by name, least recently used first."""
        with self._lock:
            return dict(self._agents)

    def resident(self, name: str) -> AgentLike | None:
        """The agent of a name if it is resident; this counts as a use."""
        with self._lock:
            return self._use(name)

    def get(self, name: str, changes: Changes) -> AgentLike:
        """The agent of a name, built if it is not resident; many threads that ask share one build.

        Raises:
            RuntimeError: asked by the build of another agent, which would wait for itself.
            Exception: whatever the build raised; everyone who waited for it gets it.
        """
        while True:
            with self._lock:
                agent = self._use(name)
                if agent is not None:
                    return agent
                if self._building_thread == threading.get_ident():
                    raise RuntimeError(f"{name!r} cannot be loaded from within the build of another checkpoint")
                pending = self._pending.get(name)
                ours = pending is None
                if pending is None:
                    pending = self._pending[name] = Future()
            if ours:
                return self._build_for_all(name, pending, changes)
            try:
                return pending.result()
            except _Abandoned:
                continue

    def put(self, name: str, agent: AgentLike, changes: Changes) -> None:
        """Make an agent resident under a name, in the place of any other, and raise the capacity to hold it."""
        with self._lock:
            self._pending.pop(name, None)
            replaced = self._agents.pop(name, None)
            self._agents[name] = agent
            self._capacity = max(self._capacity, len(self._agents))
            if replaced is not None and replaced is not agent:
                changes.evicted(name)

    def drop(self, names: Collection[str], changes: Changes) -> None:
        """Let the agents of these names go.

        A build that is under way for one of them still answers those who wait for it, and is not kept.
        """
        with self._lock:
            for name in names:
                self._pending.pop(name, None)
            gone = self._release(names, changes)
        del gone  # an agent that nobody uses any more is freed here, outside the lock

    def drop_all(self, changes: Changes) -> None:
        """Let every resident agent go; builds under way are kept."""
        with self._lock:
            gone = self._release(list(self._agents), changes)
        del gone

    def make_room_for(self, count: int) -> None:
        """Raise the capacity to at least `count` agents."""
        with self._lock:
            self._capacity = max(self._capacity, count)

    def _use(self, name: str) -> AgentLike | None:
        agent = self._agents.get(name)
        if agent is not None:
            self._agents.move_to_end(name)
        return agent

    def _build_for_all(self, name: str, pending: Future[AgentLike], changes: Changes) -> AgentLike:
        try:
            with self._turn:
                self._building_thread = threading.get_ident()
                try:
                    agent = self._build(name)
                finally:
                    self._building_thread = None
            gone = self._admit(name, agent, pending, changes)
            pending.set_result(agent)
        except BaseException as error:
            with self._lock:
                if self._pending.get(name) is pending:
                    del self._pending[name]
            if not pending.done():
                pending.set_exception(error if isinstance(error, Exception) else _Abandoned())
            raise
        del gone
        return agent

    def _admit(
        self, name: str, agent: AgentLike, pending: Future[AgentLike], changes: Changes
    ) -> Collection[AgentLike]:
        """Make a built agent resident if it is still wanted; what was let go for it."""
        with self._lock:
            if self._pending.get(name) is not pending:
                changes.loaded(name, agent)
                changes.evicted(name)
                return ()
            del self._pending[name]
            self._agents[name] = agent
            over = len(self._agents) - self._capacity
            candidates = [other for other in self._agents if other != name and self._can_rebuild(other)]
            gone = self._release(candidates[: max(0, over)], changes)
            changes.loaded(name, agent)
        return gone

    def _release(self, names: Collection[str], changes: Changes) -> Collection[AgentLike]:
        """Take these agents out, under the lock; they are returned so that the last reference goes outside of it."""
        gone = [(name, self._agents.pop(name)) for name in names if name in self._agents]
        for name, _ in gone:
            changes.evicted(name)
        return [agent for _, agent in gone]
