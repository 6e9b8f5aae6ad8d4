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

    The message is the problem and what to do about it in Python; `advising` is for those who have other advice.

    Args:
        problem: what was to be downloaded, and why it is not here.
        installed: the name of a checkpoint that is installed and needs no download, if there is one.
        checkpoint: what was asked for: its name in a router, or its Hub id.
        download: the command that fetches it where the Hub can be reached.
        otherwise: what to do without it, in Python.
    """

    def __init__(
        self,
        problem: str,
        installed: str | None = None,
        checkpoint: str | None = None,
        download: str | None = None,
        otherwise: str | None = None,
    ) -> None:
        self.problem = problem
        self.installed = installed
        self.checkpoint = checkpoint
        self.download = download
        super().__init__(self.advising(otherwise))

    def advising(self, otherwise: str | None = None) -> str:
        """The message with other advice for who has to do without the checkpoint, or with none."""
        fetch = f"connect once to download it ({self.download})" if self.download else None
        advice = ", or ".join(filter(None, (fetch, otherwise)))
        return f"{self.problem}; {advice}" if advice else self.problem


class PluginError(LayaError):
    """A plugin cannot be used; raised instead of a warning when LAYA_PLUGINS_STRICT is set."""
