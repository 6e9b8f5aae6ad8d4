"""What a request carries across the package walls without being an argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

import attrs


@attrs.define(eq=False)
class CallScope:
    """One request: opened by the server, read by agents and by the batching engine.

    Args:
        request_id: the id the client knows the request by, or None.
        timings: milliseconds by stage, filled by whoever knows them.
    """

    request_id: str | None = None
    timings: dict[str, float] = attrs.field(factory=dict)
    _cancelled: bool = attrs.field(default=False, init=False)
    _callbacks: list[Callable[[], object]] = attrs.field(factory=list, init=False, repr=False)

    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the answer any more."""
        return self._cancelled

    def cancel(self) -> None:
        """Mark the request as abandoned and run the callbacks, once; callable from any thread."""
        self._cancelled = True
        self._run_callbacks()

    def on_cancel(self, callback: Callable[[], object]) -> None:
        """Run `callback` once when the request is cancelled, at once if it already is."""
        self._callbacks.append(callback)
        if self._cancelled:
            self._run_callbacks()

    def _run_callbacks(self) -> None:
        # list.pop is atomic, so cancel() and on_cancel() may race without a lock and without a double run.
        while self._callbacks:
            try:
                callback = self._callbacks.pop()
            except IndexError:
                return
            callback()


_current: Final[ContextVar[CallScope | None]] = ContextVar("laya_call_scope", default=None)


def current_scope() -> CallScope | None:
    """Return the scope of the request this code runs for, or None outside of one."""
    return _current.get()


@contextmanager
def call_scope(request_id: str | None = None) -> Iterator[CallScope]:
    """Open a scope for the block; threads and tasks that copy the context see it too."""
    scope = CallScope(request_id)
    token = _current.set(scope)
    try:
        yield scope
    finally:
        _current.reset(token)
