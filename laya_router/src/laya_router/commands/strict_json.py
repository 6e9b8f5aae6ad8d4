"""JSON as its standard has it: no NaN, no number beyond what a double can hold."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def loads(text: str) -> Any:
    """The value of a JSON text.

    Raises:
        json.JSONDecodeError: it is not JSON.
        ValueError: a number in it is none of JSON's, or too large to compute with.
        RecursionError: it is nested too deeply.
    """
    return json.loads(text, parse_constant=_no_constant, parse_float=_finite)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise ValueError(f"the number {digits} is too large")
    return number
