"""Errors that cross the package walls."""

from __future__ import annotations


class LayaError(Exception):
    """Base of the errors that are laya's own rather than a caller's mistake."""


class QueueFull(LayaError):
    """The batching engine's queue stayed full for the whole time the caller was willing to wait."""


class Draining(LayaError):
    """The engine or the server is shutting down and takes no new work."""


class RequestCancelled(LayaError):
    """The request was cancelled before its rows were answered."""


class ProviderMissing(LayaError, RuntimeError):
    """No installed distribution provides what was asked for; the message says which one would."""


class HubUnreachable(LayaError, ConnectionError):
    """The Hub cannot be reached and the checkpoint asked for is not in the local cache.

    Args:
        message: what was to be downloaded and what to do about it.
        installed: the name of a checkpoint that is installed and needs no download, if there is one.
        checkpoint: what was asked for: its name in a router, or its Hub id.
    """

    def __init__(self, message: str, installed: str | None = None, checkpoint: str | None = None) -> None:
        super().__init__(message)
        self.installed = installed
        self.checkpoint = checkpoint


class PluginError(LayaError):
    """A plugin cannot be used; raised instead of a warning when LAYA_PLUGINS_STRICT is set."""
