"""The one thread of a process that runs forward passes, whichever engines they are for."""

from __future__ import annotations

import atexit
import threading
from queue import SimpleQueue
from typing import Final, Protocol

from laya_hooks.locks import after_fork_in_child

_JOIN_AT_EXIT_SECONDS: Final = 10.0


class PassClient(Protocol):
    """An engine that has passes to run."""

    def step(self) -> None:
        """Run one pass, if there is one to run; never raises."""


class PassWorker:
    """A thread that gives each engine with work one pass in turn, and ends when the last engine has left it."""

    def __init__(self) -> None:
        # A SimpleQueue, because it may be put to from a finaliser, at any moment and in any thread.
        self._turns: SimpleQueue[PassClient | bool] = SimpleQueue()
        self._clients = 0
        self.ends = False
        """Whether the last engine has left, so that the thread comes to its end."""
        self.thread = threading.Thread(target=self._run, name="laya-passes", daemon=True)

    @property
    def is_alive(self) -> bool:
        """Whether passes can run; not in a forked child."""
        return self.thread.is_alive()

    def ready(self, client: PassClient) -> None:
        """Give `client` a turn behind those that wait; it is kept alive until then."""
        self._turns.put(client)

    def leave(self) -> None:
        """One engine less."""
        global _current
        with _lock:
            self._clients -= 1
            if self._clients <= 0 and not self.ends:
                self.ends = True
                if _current is self:
                    _current = None
                self._turns.put(_END)

    def leave_later(self) -> None:
        """One engine less, for a finaliser: it may run in any thread at any moment, so it takes no lock."""
        self._turns.put(_LEAVE)

    def _run(self) -> None:
        while True:
            turn = self._turns.get()
            if turn is _END:
                return
            if turn is _LEAVE:
                self.leave()
            elif not isinstance(turn, bool):
                turn.step()
            turn = _LEAVE  # an engine that nobody uses any more must not live until the next turn


_END: Final = True
_LEAVE: Final = False

_lock = threading.Lock()
"""Guards `_current` and the client counts."""
_current: PassWorker | None = None


def join_worker() -> PassWorker:
    """The worker of this process, with one engine more; the engine says `leave` in the end."""
    global _current
    with _lock:
        if _current is None or not _current.is_alive:
            _current = PassWorker()
            _current.thread.start()
        _current._clients += 1
        return _current


def _forget_in_child() -> None:
    global _current, _lock
    _lock = threading.Lock()
    _current = None


def _end_before_the_interpreter_does() -> None:
    # A thread that comes back from a pass after the interpreter is gone may take the process down with it.
    worker = _current
    if worker is not None:
        with _lock:
            worker._clients = 1
        worker.leave()
        worker.thread.join(_JOIN_AT_EXIT_SECONDS)


after_fork_in_child(_forget_in_child)
atexit.register(_end_before_the_interpreter_does)
