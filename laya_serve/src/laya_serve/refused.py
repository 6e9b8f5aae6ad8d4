"""A request that is answered with an error, whatever the shape of error bodies is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

RETRY: Final = {"Retry-After": "1"}
"""Headers of a 503: come back in a second."""

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


class ClientGone(Exception):
    """The client has left; nobody reads an answer."""
