"""Where outputs wait for whoever asked: by request, by arrival, or for a callback on an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeAlias

import attrs

if TYPE_CHECKING:
    from .output import TextOutput

Handler: TypeAlias = Callable[["TextOutput"], object]


@attrs.define(eq=False)
class _Box:
    arrived: threading.Condition
    outputs: deque[TextOutput] = attrs.field(factory=deque)
    live: bool = True


class Mailbox:
    """Outputs by request id; each one is handed out once. Safe to use from many threads.

    `_lock` guards the boxes, their order of arrival and the handlers.
    """

    def __init__(self) -> None:
        self._lock: Final = threading.Lock()
        self._any_arrived: Final = threading.Condition(self._lock)
        self._boxes: Final[dict[str, _Box]] = {}
        self._with_mail: Final[OrderedDict[str, _Box]] = OrderedDict()
        self._handlers: Final[dict[str, tuple[asyncio.AbstractEventLoop, Handler]]] = {}

    def expect(self, request_id: str) -> None:
        """Open a box for the outputs of a request.

        Raises:
            ValueError: a request of that id is live.
        """
        with self._lock:
            box = self._boxes.get(request_id)
            if box is not None and box.live:
                raise ValueError(f"a request {request_id!r} is live; give every live request an id of its own")
            if box is None:
                self._boxes[request_id] = _Box(threading.Condition(self._lock))
            else:
                box.live = True

    def forget(self, request_id: str) -> None:
        """Close the box of a request that was never accepted."""
        with self._lock:
            self._close(request_id, self._boxes[request_id])

    def put(self, output: TextOutput) -> None:
        """Deliver an output: to the handler of its request, or to whoever takes it. The final one closes the box."""
        with self._lock:
            request_id = output.request_id
            box = self._boxes[request_id]
            handler = self._handlers.get(request_id)
            if handler is None:
                box.outputs.append(output)
                self._with_mail[request_id] = box
            else:
                _call_soon(handler, output)
            if output.is_finished():
                self._close(request_id, box)
            box.arrived.notify_all()
            self._any_arrived.notify_all()

    def take(self, request_id: str, timeout: float | None = None) -> TextOutput | None:
        """The next output of a request; None after `timeout` seconds, or if there will be none."""
        deadline = None if timeout is None else monotonic() + timeout
        with self._lock:
            while True:
                box = self._boxes.get(request_id)
                if box is None:
                    return None
                if box.outputs:
                    return self._pop(request_id, box)
                remaining = _remaining(deadline)
                if remaining == 0:
                    return None
                box.arrived.wait(remaining)

    def take_any(self, timeout: float | None = None) -> TextOutput | None:
        """The output that has waited longest; None after `timeout` seconds, or if nothing is live."""
        deadline = None if timeout is None else monotonic() + timeout
        with self._lock:
            while not self._with_mail:
                if not self._boxes:
                    return None
                remaining = _remaining(deadline)
                if remaining == 0:
                    return None
                self._any_arrived.wait(remaining)
            request_id, box = next(iter(self._with_mail.items()))
            return self._pop(request_id, box)

    def register(self, request_id: str, callback: Handler) -> None:
        """Deliver the outputs of a request by calling `callback` on the running event loop; those there are at once.

        Raises:
            RuntimeError: there is no running event loop in this thread.
        """
        handler = (asyncio.get_running_loop(), callback)
        with self._lock:
            box = self._boxes.get(request_id)
            while box is not None and box.outputs:
                _call_soon(handler, self._pop(request_id, box))
            if box is None or box.live:
                self._handlers[request_id] = handler

    def _pop(self, request_id: str, box: _Box) -> TextOutput:
        output = box.outputs.popleft()
        if not box.outputs:
            del self._with_mail[request_id]
            if not box.live:
                self._boxes.pop(request_id, None)
                self._wake_if_idle()
        return output

    def _close(self, request_id: str, box: _Box) -> None:
        box.live = False
        self._handlers.pop(request_id, None)
        if not box.outputs:
            self._boxes.pop(request_id, None)
        box.arrived.notify_all()
        self._wake_if_idle()

    def _wake_if_idle(self) -> None:
        if not self._boxes:
            self._any_arrived.notify_all()


def _remaining(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - monotonic())


def _call_soon(handler: tuple[asyncio.AbstractEventLoop, Handler], output: TextOutput) -> None:
    loop, callback = handler
    with suppress(RuntimeError):  # the loop was closed, so nobody waits there any more
        loop.call_soon_threadsafe(callback, output)
