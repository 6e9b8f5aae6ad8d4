"""Between callers and transformers' engine: which requests are in flight, and the thread that brings outputs back."""

from __future__ import annotations

import queue
import threading
from typing import Any, Final

from laya_hooks import QueueFull

from .output import from_transformers
from .requests import TextRequest

_LIVENESS_SECONDS: Final = 0.1


class EngineLoop:
    """Runs an engine: every request submitted to it is finished or failed once, whatever becomes of the engine.

    `_changed` guards the requests in flight and the state of the thread.
    """

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._changed = threading.Condition()
        self._in_flight: dict[str, TextRequest] = {}
        self._thread: threading.Thread | None = None
        self._closing = self._hard = False
        self._last_error: str | None = None

    def start(self) -> None:
        """Start engine and thread; of no effect while they run."""
        with self._changed:
            if self._thread is not None and self._thread.is_alive():
                return
            self._closing = self._hard = False
            self._engine.start()
            self._thread = threading.Thread(target=self._deliver, name="laya-text-delivery", daemon=True)
            self._thread.start()

    def close(self, hard: bool) -> None:
        """Take no more requests; end once those in flight are finished, or at once when `hard`."""
        with self._changed:
            self._closing = True
            self._hard = self._hard or hard
            self._changed.notify_all()
            never_started = self._thread is None
        if never_started:
            self._fail_all("the manager was stopped before it was started")

    def join(self, timeout: float | None = None) -> None:
        """Wait for the thread to end, unless this is the thread itself."""
        with self._changed:  # not while another thread is between making and starting it
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout)

    def is_open(self) -> bool:
        """Whether it takes requests."""
        return not self._closing and (self._thread is None or bool(self._engine.is_running()))

    def require_open(self) -> None:
        """Refuse new requests after `close`, and after the engine has ended by itself.

        Raises:
            RuntimeError: it is closed.
        """
        if not self.is_open():
            cause = f" ({self._last_error})" if self._last_error else ""
            raise RuntimeError(f"this manager was stopped{cause}; start() it again, or make another")

    def submit(self, request: TextRequest, new_tokens: int, options: dict[str, Any]) -> None:
        """Give a request to the engine.

        Raises:
            QueueFull: the engine's queue stayed full for the time the engine waits.
            RuntimeError: the loop is closed.
        """
        with self._changed:
            self.require_open()
            self._in_flight[request.engine_id] = request
            self._changed.notify_all()
        try:
            self._engine.add_request(request.prompt_ids, request.engine_id, max_new_tokens=new_tokens, **options)
        except BaseException as error:
            if self._take(request.engine_id) is None:
                return  # it was failed meanwhile, because the loop was closed
            if isinstance(error, queue.Full):
                raise QueueFull(
                    "the queue of the text engine is full; try again later, or raise max_queue_size"
                ) from None
            raise

    def cancel(self, request: TextRequest) -> None:
        """End a request without waiting for the engine; of no effect once it is done."""
        if self._take(request.engine_id) is not None:
            self._engine.cancel_request(request.engine_id)
            request.fail(f"request {request.request_id!r} was cancelled", cancelled=True)

    def _deliver(self) -> None:
        try:
            while self._wait_for_work():
                output = self._engine.get_result(timeout=_LIVENESS_SECONDS)
                if output is not None:
                    self._receive(output)
                elif not self._engine.is_running():
                    self._give_up("the generation engine ended")
        except Exception as error:
            self._give_up(f"the generation engine failed: {type(error).__name__}: {error}")
        finally:
            if self._hard:  # before the engine stops, which takes as long as somebody holds a pause
                self._fail_all("the manager was stopped")
            self._engine.stop(block=True, hard_stop=self._hard)
            self._fail_all("the manager was stopped")

    def _wait_for_work(self) -> bool:
        with self._changed:
            while not self._in_flight and not self._closing:
                self._changed.wait()
            return bool(self._in_flight) and not self._hard

    def _receive(self, output: Any) -> None:
        finished = output.is_finished()
        request = self._take(output.request_id) if finished else self._in_flight.get(output.request_id)
        if request is None:
            return
        ours = from_transformers(output, request.request_id, request.prompts)
        if finished:
            self._last_error = output.error or self._last_error
            request.finish(ours)
        else:
            request.progress(ours)

    def _give_up(self, reason: str) -> None:
        with self._changed:
            self._closing = True
        self._fail_all(f"{reason}: {self._last_error}" if self._last_error else reason)

    def _fail_all(self, error: str) -> None:
        for engine_id in list(self._in_flight):
            request = self._take(engine_id)
            if request is not None:
                request.fail(error)

    def _take(self, engine_id: str) -> TextRequest | None:
        """Take a request out of those in flight; None if another thread did."""
        with self._changed:
            return self._in_flight.pop(engine_id, None)
