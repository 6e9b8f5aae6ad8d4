"""Reading the settings of an encoder: values that are there must be of the right kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

ACTIVATIONS: Final = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu")
"""Names of transformers' activations that `parts.activation` knows."""


class OutOfTheOrdinary(Exception):
    """A setting that the encoders here do not know; transformers may."""


@frozen
class Settings:
    """Values of an `encoder/config.json`. An absent one counts as `default`.

    Every method raises `OutOfTheOrdinary` for a value that it does not take.
    """

    values: Mapping[str, Any]

    def count(self, name: str, default: int) -> int:
        """A whole number above 0."""
        value = self.values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise OutOfTheOrdinary(name)
        return value

    def number(self, name: str, default: float) -> float:
        """A number above 0."""
        value = self.values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
            raise OutOfTheOrdinary(name)
        return float(value)

    def flag(self, name: str) -> bool:
        """True or false; false by default."""
        value = self.values.get(name, False)
        if not isinstance(value, bool):
            raise OutOfTheOrdinary(name)
        return value

    def activation(self, name: str) -> str:
        """One of `ACTIVATIONS`; "gelu" by default."""
        value = self.values.get(name, "gelu")
        if value not in ACTIVATIONS:
            raise OutOfTheOrdinary(name)
        return str(value)

    def require(self, name: str, *ordinary: object) -> None:
        """Absent, null, or one of `ordinary`."""
        if self.values.get(name) not in (None, *ordinary):
            raise OutOfTheOrdinary(name)
