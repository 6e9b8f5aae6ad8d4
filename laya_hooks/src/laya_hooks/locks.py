"""Locks: one that serialises hook calls along the lineage of a call, and one that survives a fork."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from contextvars import ContextVar
from types import TracebackType
from typing import Final, Protocol, Self


class Lockable(Protocol):
    """What `threading.Lock` and `threading.RLock` have in common."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool: ...
    def release(self) -> None: ...


def after_fork_in_child(action: Callable[[], object]) -> None:
    """Run `action` in every forked child, where the platform forks at all."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=action)


class ForkSafeLock:
    """A re-entrant lock a forked child gets anew, as its holder does not exist there. For module level."""

    def __init__(self) -> None:
        self._renew()
        after_fork_in_child(self._renew)

    def _renew(self) -> None:
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()


class HookLock:
    """The lock of `hooks_concurrent=False`: one hook call at a time, anew in a forked child.

    Take it with `Holding`, which makes it re-entrant.
    """

    def __init__(self) -> None:
        self.renew()
        _hook_locks.add(self)

    def renew(self) -> None:
        """Forget the holder; what already holds the old lock gives the old lock back."""
        self.current = threading.Lock()
        self.innermost: _Hold | None = None


_hook_locks: Final[weakref.WeakSet[HookLock]] = weakref.WeakSet()


def _renew_hook_locks() -> None:
    for lock in list(_hook_locks):
        lock.renew()


after_fork_in_child(_renew_hook_locks)


class _Hold:
    """One acquisition of a lock, visible to everything that runs downstream of it.

    What re-enters the lock from downstream takes `inner` instead, so that two threads started by one
    hook still exclude each other. Once released, the hold means nothing to contexts that were copied.
    """

    __slots__ = ("active", "inner", "owner", "taken", "thread", "upstream")

    def __init__(self, owner: HookLock | Lockable, taken: Lockable, upstream: _Hold | None) -> None:
        self.owner = owner
        self.taken = taken
        self.upstream = upstream
        self.inner = threading.Lock()
        self.thread = threading.get_ident()
        self.active = True


_lineage: Final[ContextVar[tuple[_Hold, ...]]] = ContextVar("laya_locks_held_upstream", default=())


class Holding:
    """Hold a hook lock for a block; a call made from inside the block, in any thread, re-enters it.

    `threading`'s re-entrancy follows the thread, but a hook under a timeout runs in a thread of its own:
    the lineage of the call, which lives in its contextvars, is what decides here.
    """

    __slots__ = ("_hold", "_lock", "_token")

    def __init__(self, lock: HookLock | Lockable) -> None:
        self._lock = lock

    def acquire(self, timeout: float = -1) -> bool:
        """Take the lock within `timeout` seconds (-1: however long it takes); False if that failed."""
        upstream = self._upstream()
        if upstream is not None:
            taken: Lockable = upstream.inner
        else:
            taken = self._lock.current if isinstance(self._lock, HookLock) else self._lock
        if not taken.acquire(timeout=timeout):
            return False
        if upstream is not None and not upstream.active:
            # What held the lock upstream ended while this call waited for its turn.
            taken.release()
            return self.acquire(timeout)
        self._hold = _Hold(self._lock, taken, upstream)
        if isinstance(self._lock, HookLock):
            self._lock.innermost = self._hold
        self._token = _lineage.set((*_lineage.get(), self._hold))
        return True

    def release(self) -> None:
        """Give the lock back, in the thread and context that took it."""
        _lineage.reset(self._token)
        hold = self._hold
        hold.active = False
        if isinstance(self._lock, HookLock):
            if hold.inner.locked():
                # A hook downstream overran its timeout and still runs: the lock is given back when it ends.
                threading.Thread(target=_release_after, args=(hold,), daemon=True).start()
                return
            self._lock.innermost = hold.upstream
        hold.taken.release()

    def _upstream(self) -> _Hold | None:
        for hold in reversed(_lineage.get()):
            if hold.owner is self._lock and hold.active:
                return hold
        if isinstance(self._lock, HookLock):
            innermost = self._lock.innermost
            if innermost is not None and innermost.active and innermost.thread == threading.get_ident():
                return innermost  # the same thread in another context
        return None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _release_after(hold: _Hold) -> None:
    with hold.inner:
        hold.taken.release()
