"""Ctrl+C while a command is still importing."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import Final

INTERRUPTED: Final = 130
"""The exit code of a command that Ctrl+C ended."""


def leave_on_interrupt() -> None:
    """From here on an interrupt is a `KeyboardInterrupt`, or the end of the process while torch is being imported.

    An exception raised there passes through C++ code, which may lose it or abort.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)


def _interrupted(number: int, frame: FrameType | None) -> None:
    spec = getattr(sys.modules.get("torch"), "__spec__", None)
    if getattr(spec, "_initializing", False):
        os._exit(INTERRUPTED)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    raise KeyboardInterrupt
