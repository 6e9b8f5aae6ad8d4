"""Wire modes: what a response and an error look like, and what a request may leave out."""

from __future__ import annotations

from laya_serve.settings import Settings
from laya_serve.wire.contract import Contract
from laya_serve.wire.mode import WireMode
from laya_serve.wire.payload import FullPayload
from laya_serve.wire.projection import Projection

__all__ = ["Contract", "FullPayload", "Projection", "WireMode", "wire_mode"]


def wire_mode(settings: Settings) -> WireMode:
    """The mode that the settings ask for."""
    match settings.jev_strict:
        case "contract":
            return Contract()
        case "1":
            return Projection()
        case _:
            return FullPayload(settings.jev_confidence)
