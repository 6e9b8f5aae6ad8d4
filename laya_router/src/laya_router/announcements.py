"""Tells the hooks which agents came into memory and which left it, in the order in which that happened.

Changes are noted where they are made, under the residency's lock, and told outside of it. One thread tells at a time,
and what comes meanwhile, from other threads or from the hooks themselves, is left to it. So nobody ever waits for
somebody else's hooks, and no hook hears that an agent left before it has heard that it came.
"""

from __future__ import annotations

import threading
import warnings
from collections import deque
from typing import Literal, TypeAlias

import attrs

from laya_hooks.chain import HookChain
from laya_hooks.context import PredictContext
from laya_hooks.failures import Failures
from laya_hooks.protocols import AgentLike, RouterLike
from laya_router.residency import Changes

_LifecycleEvent: TypeAlias = Literal["on_load", "on_evict"]


@attrs.frozen(eq=False)
class _Announcement:
    """One event that is still to be told, to the hooks of the call that caused it, and the thread of that call."""

    event: _LifecycleEvent
    chain: HookChain
    ctx: PredictContext
    thread: int


@attrs.frozen(eq=False)
class _CallChanges:
    """Notes the changes that one call makes."""

    announcements: Announcements
    chain: HookChain
    run_id: str

    def loaded(self, name: str, agent: AgentLike) -> None:
        """Note that an agent has been built."""
        self._note("on_load", name, agent)

    def evicted(self, name: str) -> None:
        """Note that an agent has been let go."""
        self._note("on_evict", name, None)

    def _note(self, event: _LifecycleEvent, name: str, agent: AgentLike | None) -> None:
        if not self.chain.is_empty:
            self.announcements.note(event, self.chain, self.run_id, name, agent)


class Announcements:
    """The changes of one router's memory that its hooks have not heard of yet."""

    def __init__(self, router: RouterLike) -> None:
        self._router = router
        self._lock = threading.Lock()  # guards _waiting and _teller
        self._waiting: deque[_Announcement] = deque()
        self._teller: int | None = None

    def of_call(self, chain: HookChain, run_id: str) -> Changes:
        """Where a call with these hooks notes its changes."""
        return _CallChanges(self, chain, run_id)

    def note(self, event: _LifecycleEvent, chain: HookChain, run_id: str, name: str, agent: AgentLike | None) -> None:
        """Put an event behind those that are still to be told."""
        ctx = PredictContext([], {}, run_id=run_id, model=name, agent=agent, router=self._router)
        announcement = _Announcement(event, chain, ctx, threading.get_ident())
        with self._lock:
            self._waiting.append(announcement)

    def tell(self) -> None:
        """Dispatch what is noted, unless a thread is at it already.

        Raises:
            BaseException: the first error of a hook in an event of this thread; all events are told before.
        """
        me = threading.get_ident()
        with self._lock:
            if self._teller is not None:
                return
            self._teller = me
        failures = Failures()
        while (announcement := self._next()) is not None:
            failures.attempt(_dispatch if announcement.thread == me else _dispatch_for_other, announcement)
        failures.raise_if_any()

    def _next(self) -> _Announcement | None:
        """The next event to tell; with none left this thread has finished telling, under the same lock."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._teller = None
            return None


def _dispatch(announcement: _Announcement) -> None:
    announcement.chain.dispatch(announcement.event, announcement.ctx)


def _dispatch_for_other(announcement: _Announcement) -> None:
    """Tell an event of another thread's call, which has gone on and cannot be given an error."""
    try:
        _dispatch(announcement)
    except Exception as error:
        warnings.warn(
            f"a hook failed in {announcement.event} of {announcement.ctx.model!r}, told for a call of another thread: "
            f"{type(error).__name__}: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
