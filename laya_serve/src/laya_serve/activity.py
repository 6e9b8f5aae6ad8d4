"""When the router was last at work, and freeing its checkpoints after a while without any."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from laya_hooks.protocols import RouterLike
from laya_serve.failure_log import log_failure

logger = logging.getLogger("laya.serve")


class Activity:
    """Counts the inference calls that run, and the time since one began or ended.

    Args:
        clock: seconds that only grow.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()  # guards _running and _last
        self._running = 0
        self._last = clock()

    @contextmanager
    def inference(self) -> Iterator[None]:
        """Count the block as inference, whether it succeeds or fails."""
        self._note(1)
        try:
            yield
        finally:
            self._note(-1)

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last inference began or ended; 0 while one runs."""
        with self._lock:
            return 0.0 if self._running else self._clock() - self._last

    def _note(self, change: int) -> None:
        with self._lock:
            self._running += change
            self._last = self._clock()


async def unload_when_idle(
    router: RouterLike, activity: Activity, seconds: float, start: Callable[[Callable[[], None]], asyncio.Future[None]]
) -> None:
    """Free the router's checkpoints whenever nothing was asked for so long; runs until it is cancelled.

    Args:
        start: runs the unloading where the router's calls run.
    """
    while True:
        remaining = seconds - activity.idle_seconds
        if remaining > 0 or not router.loaded:
            await asyncio.sleep(max(remaining, min(seconds, 1.0)))
            continue
        names = list(router.loaded)
        try:
            await start(router.unload)
        except Exception as error:
            log_failure(error)
            await asyncio.sleep(seconds)
        else:
            logger.info("idle for %g s: freed %s", seconds, ", ".join(names))
