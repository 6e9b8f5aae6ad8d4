"""Errors of the batching engine that callers meet."""

from __future__ import annotations

from laya_hooks.errors import Draining


class EngineStopped(Draining, RuntimeError):
    """The engine was stopped: it takes no requests, or did so before this one was answered."""


class EngineCrashed(RuntimeError):
    """The engine's thread failed; the cause is the error it failed with."""
