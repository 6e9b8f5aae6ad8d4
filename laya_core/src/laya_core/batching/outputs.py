"""Outputs between the engine and whoever takes them: by id, in order of arrival, or through a callback."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from time import monotonic
from typing import Generic, Protocol, TypeAlias, TypeVar

_log = logging.getLogger(__name__)

OutputCallback: TypeAlias = Callable[..., object]


class Output(Protocol):
    """What travels here."""

    @property
    def request_id(self) -> str:
        """The request it is about."""

    def is_finished(self) -> bool:
        """Whether it is the last of its request."""


O = TypeVar("O", bound=Output)  # noqa: E741
T = TypeVar("T")


class _Channel(Generic[O]):
    """The outputs of one request that nobody has taken, as numbers of the store, and who waits for them."""

    __slots__ = ("arrival", "handlers", "outputs", "request", "waiting")

    def __init__(self, request: object) -> None:
        self.request = request
        self.outputs: deque[int] | None = None
        self.arrival: threading.Condition | None = None
        self.waiting = 0
        self.handlers: list[tuple[asyncio.AbstractEventLoop, OutputCallback]] | None = None


class OutputStore(Generic[O, T]):
    """Every operation is O(1) in the number of requests. Thread-safe.

    An id is live from `open` until its last output is taken, by a waiter or by a handler.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()  # guards every field below
        self._any = threading.Condition(self._lock)
        self._channels: dict[str, _Channel[O]] = {}
        self._outputs: OrderedDict[int, O] = OrderedDict()
        self._count = 0
        self._closed = False

    def open(self, request_id: str, request: T) -> None:
        """Make an id live.

        Raises:
            ValueError: it is.
        """
        with self._lock:
            if request_id in self._channels:
                raise ValueError(
                    f"request id {request_id!r} is in use: its request has not ended, or its output was not taken; "
                    "choose another one"
                )
            self._channels[request_id] = _Channel(request)

    def bind(self, request_id: str, request: T) -> None:
        """Replace what `request` gives for a live id."""
        with self._lock:
            self._channels[request_id].request = request

    def request(self, request_id: str) -> T | None:
        """What was given for a live id, or None."""
        with self._lock:
            channel = self._channels.get(request_id)
            return None if channel is None else channel.request  # type: ignore[return-value]

    def discard(self, request_id: str) -> None:
        """Forget an id that will have no output."""
        with self._lock:
            channel = self._channels.pop(request_id, None)
            if channel is not None and channel.arrival is not None:
                channel.arrival.notify_all()

    def put(self, output: O) -> None:
        """Hand an output to the handlers of its request, or else keep it for whoever asks."""
        with self._lock:
            channel = self._channels.get(output.request_id)
            if channel is None:
                return
            if channel.handlers and self._hand_over(channel, output):
                self._forget_finished(channel, output)
                return
            self._keep(channel, output)
            if channel.arrival is not None and channel.waiting:
                channel.arrival.notify_all()
            else:
                self._any.notify()

    def get(self, timeout: float | None = None) -> O | None:
        """The oldest output nobody has taken; None after `timeout` seconds, or when no more will come."""
        deadline = None if timeout is None else monotonic() + timeout
        with self._lock:
            while not self._outputs:
                if self._closed or not _wait(self._any, deadline):
                    return None
            return self._take(next(iter(self._outputs)))

    def get_of(self, request_id: str, timeout: float | None = None) -> O | None:
        """The next output of one request; None after `timeout` seconds, or when it will have no more."""
        deadline = None if timeout is None else monotonic() + timeout
        with self._lock:
            while True:
                channel = self._channels.get(request_id)
                if channel is None:
                    return None
                if channel.outputs:
                    return self._take(channel.outputs[0])
                if self._closed:
                    return None
                if channel.arrival is None:
                    channel.arrival = threading.Condition(self._lock)
                channel.waiting += 1
                in_time = _wait(channel.arrival, deadline)
                channel.waiting -= 1
                if not in_time and not channel.outputs:
                    return None

    def add_handler(self, request_id: str, loop: asyncio.AbstractEventLoop, callback: OutputCallback) -> None:
        """Call `callback` on `loop` with every output of a request, those that are here at once.

        Raises:
            ValueError: the id is not live.
        """
        with self._lock:
            channel = self._channels.get(request_id)
            if channel is None:
                raise ValueError(f"request id {request_id!r} is not known, or its last output was taken already")
            waiting = list(channel.outputs or ())
            kept = [self._outputs[number] for number in waiting]
            channel.handlers = [*(channel.handlers or ()), (loop, callback)]
            for output in kept:
                loop.call_soon_threadsafe(callback, output)
            for number in waiting:
                self._take(number)

    def close(self) -> None:
        """No more outputs come: wake every waiter."""
        with self._lock:
            self._closed = True
            self._any.notify_all()
            for channel in self._channels.values():
                if channel.arrival is not None:
                    channel.arrival.notify_all()

    def reopen(self) -> None:
        """Outputs come again."""
        with self._lock:
            self._closed = False

    @property
    def is_exhausted(self) -> bool:
        """Whether nothing is here and nothing will come."""
        with self._lock:
            return self._closed and not self._outputs

    def _keep(self, channel: _Channel[O], output: O) -> None:
        if channel.outputs is None:
            channel.outputs = deque()
        self._count += 1
        channel.outputs.append(self._count)
        self._outputs[self._count] = output

    def _take(self, number: int) -> O:
        output = self._outputs.pop(number)
        channel = self._channels[output.request_id]
        assert channel.outputs is not None
        channel.outputs.popleft()
        self._forget_finished(channel, output)
        return output

    def _forget_finished(self, channel: _Channel[O], output: O) -> None:
        if output.is_finished():
            del self._channels[output.request_id]
            if channel.arrival is not None:
                channel.arrival.notify_all()

    def _hand_over(self, channel: _Channel[O], output: O) -> bool:
        """Give an output to the handlers whose loops still run; False if none does."""
        for loop, callback in list(channel.handlers or ()):
            try:
                loop.call_soon_threadsafe(callback, output)
            except RuntimeError:
                assert channel.handlers is not None
                channel.handlers.remove((loop, callback))
                _log.warning(
                    "the event loop of a result handler of request %r is closed; its outputs are kept for get_result()",
                    output.request_id,
                )
        return bool(channel.handlers)


def _wait(condition: threading.Condition, deadline: float | None) -> bool:
    """Wait for a notification; False once `deadline` has passed."""
    if deadline is None:
        return condition.wait()
    remaining = deadline - monotonic()
    return remaining > 0 and condition.wait(remaining)
