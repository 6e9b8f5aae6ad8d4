"""What a decision sends back besides its body: how long it took, and which checkpoint answered why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import attrs

_LONGEST_REASON: Final = 200


@attrs.frozen
class Reply:
    """A response, ready to be sent."""

    body: bytes
    headers: dict[str, str]


def timing_headers(timings: Mapping[str, float], wall: float) -> dict[str, str]:
    """`Server-Timing` and `X-Inference-Time-Ms`.

    Args:
        timings: milliseconds by stage, as the engine noted them.
        wall: milliseconds of the router's calls, which stand in where no engine has said more.
    """
    queue, inference = timings.get("queue", 0.0), timings.get("inference", wall)
    return {
        "Server-Timing": f"queue;dur={queue:.1f}, inference;dur={inference:.1f}",
        "X-Inference-Time-Ms": f"{inference:.1f}",
    }


def routing_headers(routing: Mapping[str, Any] | None) -> dict[str, str]:
    """`X-Laya-Model` and `X-Laya-Route-Reason`, which say what a wire mode may leave out of the body."""
    if not routing:
        return {}
    model, reason = routing.get("model"), routing.get("reason")
    headers = {"X-Laya-Model": model, "X-Laya-Route-Reason": reason}
    return {name: _header_text(value) for name, value in headers.items() if isinstance(value, str)}


def _header_text(text: str) -> str:
    """Printable ASCII; anything else, line breaks above all, as an escape."""
    return text.encode("unicode_escape").decode("ascii")[:_LONGEST_REASON]
