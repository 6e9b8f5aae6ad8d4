"""Which agents stay in memory: each built once, the least recently used let go.

A build takes seconds, so it runs outside the lock that predictions take to find their agent. The residency never
closes an agent: it drops its reference, and the memory is freed when the last call that uses the agent ends.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection
from concurrent.futures import Future

import attrs

from laya_hooks.protocols import AgentLike


@attrs.frozen(eq=False)
class Loaded:
    """An agent at hand, and what getting it changed: whether it was built, and the names let go for it."""

    agent: AgentLike
    built: bool = False
    evicted: tuple[str, ...] = ()


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

    def get(self, name: str) -> Loaded:
        """The agent of a name, built if it is not resident; many threads that ask share one build.

        Raises:
            RuntimeError: asked by the build of another agent, which would wait for itself.
            Exception: whatever the build raised; everyone who waited for it gets it.
        """
        while True:
            with self._lock:
                agent = self._agents.get(name)
                if agent is not None:
                    self._agents.move_to_end(name)
                    return Loaded(agent)
                if self._building_thread == threading.get_ident():
                    raise RuntimeError(f"{name!r} cannot be loaded from within the build of another checkpoint")
                pending = self._pending.get(name)
                ours = pending is None
                if pending is None:
                    pending = self._pending[name] = Future()
            if ours:
                return self._build_for_all(name, pending)
            try:
                return Loaded(pending.result())
            except _Abandoned:
                continue

    def put(self, name: str, agent: AgentLike) -> bool:
        """Make an agent resident under a name, raising the capacity to hold it; True if it replaced another."""
        with self._lock:
            self._pending.pop(name, None)
            replaced = self._agents.pop(name, None)
            self._agents[name] = agent
            self._capacity = max(self._capacity, len(self._agents))
        return replaced is not None and replaced is not agent

    def drop(self, names: Collection[str]) -> list[str]:
        """Let the agents of these names go; the names that were resident.

        A build that is under way for one of them still answers those who wait for it, and is not kept.
        """
        with self._lock:
            for name in names:
                self._pending.pop(name, None)
            dropped = [(name, self._agents.pop(name)) for name in names if name in self._agents]
        return [name for name, _ in dropped]

    def make_room_for(self, count: int) -> None:
        """Raise the capacity to at least `count` agents."""
        with self._lock:
            self._capacity = max(self._capacity, count)

    def _build_for_all(self, name: str, pending: Future[AgentLike]) -> Loaded:
        try:
            with self._turn:
                self._building_thread = threading.get_ident()
                try:
                    agent = self._build(name)
                finally:
                    self._building_thread = None
            loaded = self._admit(name, agent, pending)
        except BaseException as error:
            with self._lock:
                if self._pending.get(name) is pending:
                    del self._pending[name]
            pending.set_exception(error if isinstance(error, Exception) else _Abandoned())
            raise
        pending.set_result(agent)
        return loaded

    def _admit(self, name: str, agent: AgentLike, pending: Future[AgentLike]) -> Loaded:
        with self._lock:
            if self._pending.get(name) is not pending:
                return Loaded(agent)
            del self._pending[name]
            self._agents[name] = agent
            over = len(self._agents) - self._capacity
            candidates = [other for other in self._agents if other != name and self._can_rebuild(other)]
            evicted = [(other, self._agents.pop(other)) for other in candidates[: max(0, over)]]
        return Loaded(agent, built=True, evicted=tuple(other for other, _ in evicted))
