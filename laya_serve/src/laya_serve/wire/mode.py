"""What a wire mode decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from laya_hooks.protocols import Questions, Result
from laya_serve.refused import Refused

Json = Any


class WireMode:
    """The default: Laya's own payload, and errors as one text."""

    request_id_headers: ClassVar[tuple[str, ...]] = ("X-Request-Id",)
    """The response headers that carry the request id."""

    def questions(self, questions: dict[str, Json]) -> dict[str, Json]:
        """The questions as the router is asked them.

        Raises:
            Refused: the mode takes less than the router does.
        """
        return questions

    def check_unknown_model(self, name: str) -> None:
        """Say whether a model name that chooses no checkpoint lets the router choose, as it does by default.

        Raises:
            Refused: it does not.
        """

    def result(self, result: Result, questions: Questions) -> dict[str, Json]:
        """The payload of one state; `questions` are those of the request, as they were sent."""
        raise NotImplementedError

    def usage(self, usage: Mapping[str, Json]) -> dict[str, Json]:
        """The token counts of a payload."""
        return dict(usage)

    def error(self, refused: Refused) -> tuple[int, Json]:
        """The status and the `detail` of an error response."""
        return refused.status, refused.message
