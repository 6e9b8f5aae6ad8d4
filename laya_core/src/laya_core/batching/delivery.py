"""The thread that runs end hooks and hands outputs over, so that neither holds up a pass."""

from __future__ import annotations

import logging
import threading
from queue import SimpleQueue

from laya_core.finite import InferenceFailed

from .decision_request import DecisionRequest, Event
from .outputs import OutputStore
from .request import DecisionOutput

_log = logging.getLogger(__name__)


class Delivery:
    """Turns what the engine reports into outputs, in the order in which it does.

    Args:
        outputs: where they go.
    """

    def __init__(self, outputs: OutputStore[DecisionOutput, DecisionRequest]) -> None:
        self.events: SimpleQueue[Event | None] = SimpleQueue()
        self._outputs = outputs
        self._lock = threading.Lock()  # guards both fields below: starts and stops may come from several threads
        self._thread: threading.Thread | None = None
        self._is_open = False

    def start(self) -> None:
        """Begin to deliver; what was reported before comes first. Nothing happens if it does."""
        with self._lock:
            self._open()

    def finish(self) -> None:
        """Deliver what was reported so far, and end; returns at once."""
        with self._lock:
            self._open()
            self._is_open = False
            self.events.put(None)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until everything is delivered; False after `timeout` seconds."""
        with self._lock:
            thread = self._thread
        if thread is None or thread is threading.current_thread():
            return True
        thread.join(timeout)
        return not thread.is_alive()

    def _open(self) -> None:
        if not self._is_open:
            self._is_open = True
            self._outputs.reopen()
            self._thread = threading.Thread(
                target=_deliver, args=(self.events, self._outputs), name="laya-delivery", daemon=True
            )
            self._thread.start()


def _deliver(events: SimpleQueue[Event | None], outputs: OutputStore[DecisionOutput, DecisionRequest]) -> None:
    while (event := events.get()) is not None:
        output = _output_of(*event)
        del event  # what was delivered must not live until the next event
        if output is not None:
            outputs.put(output)
        del output
    outputs.close()


def _output_of(request: DecisionRequest, index: int | None) -> DecisionOutput | None:
    try:
        return request.conclude() if index is None else request.output_of_row(index)
    except InferenceFailed:  # of a row: no answer is streamed, and the end of the request tells why
        return None
    except BaseException as error:
        _log.exception("the output of request %r could not be made", request.request_id)
        return DecisionOutput(request.request_id, "failed", error=error) if index is None else None
