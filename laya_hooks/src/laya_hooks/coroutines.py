"""Running awaitables to completion from synchronous code, without blocking the loop they need."""

from __future__ import annotations

import sys
import threading
from collections.abc import Awaitable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, TypeVar

import attrs

from .locks import ForkSafeLock, after_fork_in_child

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from concurrent.futures import Future

T = TypeVar("T")

_LIVENESS_SECONDS: Final = 0.5


def run_coroutine_sync(coro: Awaitable[T], loop: AbstractEventLoop | None = None) -> T:
    """Run `coro` until it is done and return its result; it sees a copy of the caller's contextvars.

    Without a loop in this thread it runs under `asyncio.run`; inside of one, on a background loop of the
    library's own, because this thread is about to block.

    Args:
        coro: a coroutine or any other awaitable.
        loop: a running loop of another thread to run it on instead.

    Raises:
        ValueError: `loop` is not running, or is blocked by this very call; the coroutine is closed.
        RuntimeError: `loop` stopped before the coroutine was done.
    """
    import asyncio

    own = running_loop()
    if loop is not None:
        _refuse_unusable(loop, own, coro)
        with _blocking(own):
            return _run_on(loop, coro)
    if own is None:
        return asyncio.run(_as_coroutine(coro))
    with _blocking(own), _background_loop() as background:
        return _run_on(background, coro)


def running_loop() -> AbstractEventLoop | None:
    """Return the event loop that runs in this thread, or None."""
    # Importing asyncio is slow, and where nobody has imported it no loop can be running.
    asyncio = sys.modules.get("asyncio")
    return asyncio._get_running_loop() if asyncio is not None else None


@attrs.define(eq=False)
class _BlockedLoop:
    """A loop whose thread waits for what runs downstream; `waiting` ends with the wait."""

    loop: AbstractEventLoop
    waiting: bool = True


_blocked_upstream: Final[ContextVar[tuple[_BlockedLoop, ...]]] = ContextVar("laya_blocked_loops", default=())


def _is_blocked_upstream(loop: AbstractEventLoop) -> bool:
    return any(blocked.loop is loop and blocked.waiting for blocked in _blocked_upstream.get())


@contextmanager
def _blocking(loop: AbstractEventLoop | None) -> Iterator[None]:
    """Let everything downstream know that `loop` cannot make progress during the block."""
    if loop is None:
        yield
        return
    blocked = _BlockedLoop(loop)
    token = _blocked_upstream.set((*_blocked_upstream.get(), blocked))
    try:
        yield
    finally:
        blocked.waiting = False
        _blocked_upstream.reset(token)


def blocking_own_loop() -> Any:
    """Return a context manager: this thread is about to wait for another, and so is the loop it runs."""
    return _blocking(running_loop())


def _refuse_unusable(loop: AbstractEventLoop, own: AbstractEventLoop | None, coro: Awaitable[Any]) -> None:
    if not loop.is_running():
        problem = "is not running"
    elif loop is own or _is_blocked_upstream(loop):
        problem = "is the caller's own, which waits for this call and would wait for ever"
    else:
        return
    close = getattr(coro, "close", None)
    if close is not None:
        close()
    raise ValueError(f"the loop given for an async hook {problem}: {loop!r}")


async def _as_coroutine(awaitable: Awaitable[T]) -> T:
    return await awaitable


@attrs.define
class _Outcome:
    value: Any = None
    error: BaseException | None = None


async def _captured(awaitable: Awaitable[Any]) -> _Outcome:
    # Nothing may escape into the loop: a task that raises SystemExit or KeyboardInterrupt takes its loop
    # down, and a cancellation would change its class on the way through a concurrent future.
    try:
        return _Outcome(value=await awaitable)
    except BaseException as error:
        return _Outcome(error=error)


def _run_on(loop: AbstractEventLoop, coro: Awaitable[T]) -> T:
    """Run `coro` on the running `loop` of another thread and wait for it."""
    import asyncio

    captured = _captured(coro)
    try:
        future = asyncio.run_coroutine_threadsafe(captured, loop)
    except RuntimeError:  # the loop closed a moment ago
        captured.close()
        _refuse_unusable(loop, None, coro)
        raise
    try:
        outcome = _wait_while_running(future, loop)
    except BaseException:
        future.cancel()
        raise
    if outcome.error is not None:
        raise outcome.error
    value: T = outcome.value
    return value


def _wait_while_running(future: Future[_Outcome], loop: AbstractEventLoop) -> _Outcome:
    from asyncio import CancelledError
    from concurrent.futures import CancelledError as FutureCancelledError

    while True:
        try:
            return future.result(_LIVENESS_SECONDS)
        except TimeoutError:
            if not loop.is_running() and not future.done():
                raise RuntimeError("the loop given for an async hook stopped before the hook was done") from None
        except FutureCancelledError:
            raise CancelledError("the loop cancelled the async hook before it began") from None


_background_lock: Final = ForkSafeLock()
_background_loops: Final[list[AbstractEventLoop]] = []
_leased: Final[list[AbstractEventLoop]] = []


def _forget_background_loops() -> None:
    """In a forked child: the threads that ran them do not exist there."""
    _background_loops.clear()
    _leased.clear()


after_fork_in_child(_forget_background_loops)


@contextmanager
def _background_loop() -> Iterator[AbstractEventLoop]:
    """Lend the first background loop that nobody waits for; the same one every time unless calls overlap."""
    own = running_loop()
    with _background_lock:
        loop = next(
            (
                candidate
                for candidate in _background_loops
                if candidate not in _leased and candidate is not own and not _is_blocked_upstream(candidate)
            ),
            None,
        )
        if loop is None:
            loop = _start_background_loop()
            _background_loops.append(loop)
        _leased.append(loop)
    try:
        yield loop
    finally:
        with _background_lock:
            if loop in _leased:
                _leased.remove(loop)


def _start_background_loop() -> AbstractEventLoop:
    import asyncio

    loop = asyncio.new_event_loop()
    started = threading.Event()
    loop.call_soon(started.set)
    threading.Thread(target=loop.run_forever, name="laya-async-hooks", daemon=True).start()
    started.wait()
    return loop
