"""One event, every hook of a list: the loop, and the small policies around one call."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from inspect import isawaitable
from time import monotonic
from typing import Any, TypeAlias

from .context import PredictContext
from .coroutines import blocking_own_loop, run_coroutine_sync
from .events import HOOK_EVENTS, Event, PredictHook
from .locks import Holding, HookLock, Lockable
from .normalise import validate_timeout

CallPolicy: TypeAlias = Callable[[PredictHook, PredictContext], object]


def dispatch(
    hooks: Iterable[object],
    event: Event,
    ctx: PredictContext,
    *,
    raise_errors: bool = True,
    lock: Lockable | HookLock | None = None,
    timeout: float | None = None,
) -> None:
    """Call `event` on every hook that implements it, in order, and run what they return if it is awaitable.

    Args:
        hooks: the hooks, as `normalise_hooks` returns them.
        event: one of `HOOK_EVENTS`.
        ctx: what each of them receives.
        raise_errors: False turns an `Exception` of a hook into a `RuntimeWarning` and goes on.
        lock: held around each single call; re-entrant along the lineage of a call, whatever its kind.
        timeout: seconds each call may take, waiting for `lock` included.

    Raises:
        ValueError: `event` is none of the six, or `timeout` is not a positive number.
        TimeoutError: a hook took longer; its thread is left behind and its result dropped.
        Exception: what a hook raised, with a note that names the hook and the event.
    """
    if event not in HOOK_EVENTS:
        raise ValueError(f"unknown event {event!r}; the events are {', '.join(HOOK_EVENTS)}")
    run_event(hooks, event, ctx, raise_errors, call_policy(lock, validate_timeout(timeout, "timeout")))


def run_event(hooks: Iterable[object], event: Event, ctx: PredictContext, raise_errors: bool, call: CallPolicy) -> None:
    """The loop itself: `call` decides how one hook is called, this decides what its error means."""
    for hook in hooks:
        handler = getattr(hook, event, None)
        if handler is None:
            continue
        try:
            call(handler, ctx)
        except Exception as error:
            if raise_errors:
                _note(handler, event, error)
                raise
            _warn(handler, event, error)


def call_policy(lock: Lockable | HookLock | None, timeout: float | None) -> CallPolicy:
    """Return how one hook is called: inline, under a lock, within a time, or both."""
    if timeout is not None:
        return partial(_call_bounded, timeout, lock)
    if lock is not None:
        return partial(_call_locked, lock)
    return call_inline


def call_inline(handler: PredictHook, ctx: PredictContext) -> None:
    """Call `handler` in this thread and context, and run what it returns if that is awaitable."""
    returned = handler(ctx)
    if returned is not None:
        _complete(returned)


def _complete(returned: object) -> None:
    if isawaitable(returned):
        run_coroutine_sync(returned)


def _call_locked(lock: Lockable | HookLock, handler: PredictHook, ctx: PredictContext) -> None:
    with Holding(lock):
        call_inline(handler, ctx)


def _call_bounded(timeout: float, lock: Lockable | HookLock | None, handler: PredictHook, ctx: PredictContext) -> None:
    """Call `handler` in a daemon thread and wait at most `timeout` seconds for it."""
    call = _BoundedCall(timeout, lock, handler, ctx)
    with blocking_own_loop():
        context = copy_context()
        threading.Thread(target=context.run, args=(call.run,), name="laya-hook", daemon=True).start()
        call.wait()


class _BoundedCall:
    """One hook call in a thread of its own; the caller may give up on it before or after it began."""

    def __init__(
        self, timeout: float, lock: Lockable | HookLock | None, handler: PredictHook, ctx: PredictContext
    ) -> None:
        self._timeout = timeout
        self._deadline = monotonic() + timeout
        self._lock = lock
        self._handler = handler
        self._ctx = ctx
        self._begun_or_dropped = threading.Lock()
        self._done = threading.Event()
        self._error: BaseException | None = None

    def run(self) -> None:
        """The worker's side."""
        try:
            if self._lock is None:
                self._call_unless_dropped()
            else:
                self._call_holding(Holding(self._lock))
        except BaseException as error:
            self._error = error
        finally:
            self._done.set()

    def wait(self) -> None:
        """The caller's side."""
        try:
            finished = self._done.wait(self._deadline - monotonic())
        finally:
            never_begun = self._begun_or_dropped.acquire(blocking=False)
        if not finished:
            raise self._out_of_turn() if never_begun else self._overrun()
        error, self._error = self._error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # it refers to this frame through its traceback

    def _call_holding(self, holding: Holding) -> None:
        if not holding.acquire(max(self._deadline - monotonic(), 0.0)):
            raise self._out_of_turn()
        try:
            self._call_unless_dropped()
        finally:
            holding.release()

    def _call_unless_dropped(self) -> None:
        # Whoever takes this first decides: the worker begins the hook, or the caller drops it for good.
        if self._begun_or_dropped.acquire(blocking=False):
            call_inline(self._handler, self._ctx)

    def _out_of_turn(self) -> TimeoutError:
        cause = (
            "its thread did not start" if self._lock is None else "another hook held the lock of hooks_concurrent=False"
        )
        return TimeoutError(
            f"hook {handler_name(self._handler)} did not get its turn within hooks_timeout={self._timeout:g} s, "
            f"as {cause}; it was not run"
        )

    def _overrun(self) -> TimeoutError:
        return TimeoutError(
            f"hook {handler_name(self._handler)} took longer than hooks_timeout={self._timeout:g} s (waiting for "
            "its turn included); it is left to itself and what it returns is dropped"
        )


def _note(handler: PredictHook, event: Event, error: Exception) -> None:
    """Let the traceback of `error` say which hook raised it; its type and message stay as they are."""
    note = f"raised by hook {handler_name(handler)} in {event}"
    with suppress(Exception):  # an error that takes no notes is raised without
        if note not in getattr(error, "__notes__", ()):  # a hook may raise one object again and again
            error.add_note(note)


def _warn(handler: PredictHook, event: Event, error: Exception) -> None:
    warning = RuntimeWarning(
        f"hook {handler_name(handler)} failed in {event} and is ignored (hooks_raise=False): "
        f"{type(error).__name__}: {error}"
    )
    warning.__cause__ = error
    warnings.warn(warning, stacklevel=4)


def handler_name(handler: Any) -> str:
    """Name a handler for a message, without an address that would differ from run to run."""
    function = getattr(handler, "func", handler)  # functools.partial
    return getattr(function, "__qualname__", None) or type(function).__qualname__
