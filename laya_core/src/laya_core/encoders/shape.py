"""What the rest of the library knows of an encoder."""

from __future__ import annotations

from attrs import frozen


@frozen
class EncoderShape:
    """Sizes of an encoder.

    Args:
        width: size of its hidden states.
        position_limit: the longest row it has positions for; None where it has no bound.
        half_window: how far its local layers look to either side, in positions; None where it has no local layers.
    """

    width: int
    position_limit: int | None = None
    half_window: int | None = None
