"""The managers of one agent: which run, who shares them, which are kept for later."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import attrs

from .manager import TextBatchingManager
from .settings import Settings


@attrs.define(eq=False)
class _Entry:
    manager: TextBatchingManager
    users: int = 0
    own: bool = False  # started for `generate_batch`, and to be stopped after it
    kept: bool = False  # stopped, and waiting for the next session


class ManagerPool:
    """Lets calls that ask for the same settings share a running manager.

    Args:
        build: makes a manager, not yet started.
    """

    def __init__(self, build: Callable[[Settings], TextBatchingManager]) -> None:
        self._build: Final = build
        self._lock: Final = threading.RLock()  # guards the entries; held while a manager is built and started
        self._entries: list[_Entry] = []

    def make(self, settings: Settings) -> TextBatchingManager:
        """A manager for its caller to start and stop: a kept one with these settings, or a new one."""
        with self._lock:
            for entry in self._entries:
                if entry.kept and entry.manager.settings.matches(settings):
                    entry.kept = False
                    return entry.manager
            manager = self._build(settings)
            self._entries.append(_Entry(manager))
            return manager

    @contextmanager
    def using(
        self, settings: Settings, any_running: bool, persistent: bool, warmup: bool
    ) -> Iterator[TextBatchingManager]:
        """A running manager for one batch: one that runs, or a new one that is stopped when its last user leaves.

        Args:
            any_running: take a running one whatever its settings.
            persistent: leave it running afterwards.
            warmup: warm a new one up.
        """
        with self._lock:
            entry = self._running(settings, any_running) or self._started(settings, warmup)
            entry.users += 1
            if persistent:
                entry.own = False
        try:
            yield entry.manager
        finally:
            with self._lock:
                entry.users -= 1
                idle = entry.own and entry.users == 0
                if idle:
                    self._entries.remove(entry)
            if idle:
                entry.manager.destroy()

    def stopped(self, manager: TextBatchingManager, keep: bool) -> None:
        """Take a manager that was stopped out of use."""
        with self._lock:
            for entry in self._entries:
                if entry.manager is manager:
                    entry.kept = keep
                    if not keep:
                        self._entries.remove(entry)
                    return

    def destroy_all(self) -> None:
        """Stop every manager at once."""
        with self._lock:
            entries, self._entries = self._entries, []
        for entry in entries:
            entry.manager.destroy()

    def _running(self, settings: Settings, any_running: bool) -> _Entry | None:
        for entry in reversed(self._entries):
            fits = any_running or entry.manager.settings.matches(settings)
            if fits and not entry.kept and entry.manager.is_open():
                return entry
        return None

    def _started(self, settings: Settings, warmup: bool) -> _Entry:
        manager = self.make(settings)
        entry = next(entry for entry in self._entries if entry.manager is manager)
        entry.own = True
        try:
            if warmup:
                manager.warmup()
            manager.start()
        except BaseException:
            self._entries.remove(entry)
            manager.destroy()
            raise
        return entry
