"""A request that is answered with an error, whatever the shape of error bodies is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from laya_hooks.errors import HubUnreachable

RETRY: Final = {"Retry-After": "1"}
"""Headers of a 503: come back in a second."""

RETRY_DOWNLOAD: Final = {"Retry-After": "60"}
"""Headers of a 503 that lasts until the Hub can be reached."""

CLOSE: Final = {"Connection": "close"}
"""Headers of a refusal that leaves a part of the body unread."""

_LONGEST_MESSAGE: Final = 1000


class Refused(Exception):
    """Ends a request with an error response.

    Args:
        status: the HTTP status.
        message: what was wrong, where, and what to do; cut when it is very long.
        where: the place in the body, as keys and indexes.
        headers: further headers of the response.
    """

    def __init__(
        self,
        status: int,
        message: str,
        where: Sequence[str | int] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        shown = message if len(message) <= _LONGEST_MESSAGE else f"{message[:_LONGEST_MESSAGE]} …"
        super().__init__(status, shown)
        self.status = status
        self.message = shown
        self.where = tuple(where)
        self.headers = dict(headers or {})


class UnknownModel(Refused):
    """A model name that chooses no checkpoint, in a mode that takes no such names."""


def busy(message: str) -> Refused:
    """The 503 of a server that has no room right now."""
    return Refused(503, message, headers=RETRY)


def shutting_down() -> Refused:
    """The 503 of a server that is about to end."""
    return busy("the server is shutting down; ask another one, or again in a moment")


def out_of_reach(error: HubUnreachable) -> Refused:
    """The 503 of a request whose checkpoint is not on this machine and cannot be downloaded.

    The error itself names folders and hosts of the server; it is for the log.
    """
    what = f"the checkpoint {error.checkpoint!r}" if error.checkpoint else "the checkpoint"
    message = f"{what} that this request needs is not on the server, which cannot reach the Hub to download it"
    advice = f'send "model": "{error.installed}", which is installed, or try again later' if error.installed else ""
    return Refused(503, f"{message}; {advice or 'try again later'}", headers=RETRY_DOWNLOAD)


class ClientGone(Exception):
    """The client has left; nobody reads an answer."""
