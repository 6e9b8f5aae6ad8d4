"""uvicorn with a drain: on SIGTERM, what was admitted is answered, and what comes later gets 503."""

from __future__ import annotations

import asyncio
import errno
import logging
import logging.config
import os
import signal
import socket
from copy import deepcopy
from types import FrameType
from typing import Any

import uvicorn
import uvicorn.config
from starlette.applications import Starlette

from laya_serve.admission import Slots
from laya_serve.cutting_off import Unfinished
from laya_serve.settings import Settings

logger = logging.getLogger("laya.serve")

_SIGNALS = (signal.SIGTERM, signal.SIGINT)
_LAST_SECONDS = 1
# uvicorn cancels what runs even then, with a traceback each; until then what is cut off has time to be answered.
_CLOSING_SECONDS = 2
# Longer than clients and proxies keep an idle connection, so that none of them asks on one that is being closed.
_KEEP_ALIVE_SECONDS = 75


class DrainingServer(uvicorn.Server):
    """Serves an application of `create_app` until a signal, then drains.

    A second signal cuts off what still runs, a third kills the process.
    """

    def __init__(self, app: Starlette, settings: Settings) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                root_path=settings.root_path,
                log_level=settings.log_level,
                log_config=_logging(settings.log_level),
                http="h11",  # another parser answers requests with trailing bytes otherwise
                server_header=False,
                timeout_graceful_shutdown=_LAST_SECONDS + _CLOSING_SECONDS,
                timeout_keep_alive=_KEEP_ALIVE_SECONDS,
            )
        )
        self._slots: Slots = app.state.slots
        self._unfinished: Unfinished = app.state.unfinished
        self._grace = settings.shutdown_grace
        self._loop: asyncio.AbstractEventLoop | None = None
        self._drain: asyncio.Task[None] | None = None
        self._signals = 0

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and learn which loop the drain will run on."""
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; at the second signal stop waiting for what runs; at the third end on the spot."""
        if self._loop is None or not self.started:
            super().handle_exit(sig, frame)
            return
        self._signals += 1
        if self._signals == 1:
            self._slots.drain()
            self._loop.call_soon_threadsafe(self._begin_drain, sig)
        elif self._signals == 2:
            self._leave(sig)
        else:
            signal.signal(sig, signal.SIG_DFL)
            signal.raise_signal(sig)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close the connections, and cut off what still runs after a last moment."""
        cutting = asyncio.get_running_loop().call_later(_LAST_SECONDS, self._unfinished.cut_off)
        try:
            await super().shutdown(sockets)
        finally:
            cutting.cancel()

    def _leave(self, sig: int) -> None:
        if not self.should_exit:  # told twice, uvicorn leaves without shutting the application down
            super().handle_exit(sig, None)

    def _begin_drain(self, sig: int) -> None:
        self._drain = asyncio.ensure_future(self._drained(sig))

    async def _drained(self, sig: int) -> None:
        if self._slots.running:
            logger.info("draining: %d running, at most %g s", self._slots.running, self._grace)
        try:
            await asyncio.wait_for(self._slots.nothing_runs(), self._grace)
        except TimeoutError:
            logger.warning("%d requests did not finish within %g s", self._slots.running, self._grace)
        self._leave(sig)


def configure_logging(settings: Settings) -> None:
    """Log in uvicorn's manner from here on, not only once it runs."""
    logging.config.dictConfig(_logging(settings.log_level))


def _logging(level: str) -> dict[str, Any]:
    """uvicorn's logging, and the server's own beside it."""
    config = deepcopy(uvicorn.config.LOGGING_CONFIG)
    shown = "DEBUG" if level == "trace" else level.upper()
    config["loggers"]["laya.serve"] = {"handlers": ["default"], "level": shown, "propagate": False}
    return config


def check_address(settings: Settings) -> None:
    """Refuse an address nobody can listen on, before anything is loaded.

    Raises:
        ValueError: the host is unknown, or the port is taken or not allowed.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (socket.gaierror, UnicodeError) as error:
        raise ValueError(
            f"LAYA_HOST is {settings.host!r}: {error}; use an address of this machine, such as 127.0.0.1"
        ) from error
    with socket.socket(family, kind, protocol) as probe:
        if os.name == "posix":
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            taken = f"LAYA_HOST, LAYA_PORT are {settings.host}, {settings.port}"
            reason = error.strerror or str(error)
            raise ValueError(f"{taken}: {reason}; {_other_address(error, settings)}") from error


def _other_address(error: OSError, settings: Settings) -> str:
    """What to type in place of an address that cannot be had."""
    if error.errno == errno.EADDRNOTAVAIL:
        return "use an address of this machine, such as --host 127.0.0.1 or LAYA_HOST=127.0.0.1"
    why = "take a port above 1023" if error.errno == errno.EACCES else "take a free port"
    port = settings.port + 1 if 1023 < settings.port < 65535 else 8000
    return f"{why}, such as --port {port} or LAYA_PORT={port}"
