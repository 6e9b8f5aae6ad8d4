"""Reads hand-written data, one JSON object to a line, and holds a part of it out of training."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from training.examples import Example

_HELD_OUT_EVERY = 9


def read_written(
    folder: Path, parse: Callable[[dict[str, Any]], Iterable[Example]], block: int = 1, files: str = "*.jsonl"
) -> tuple[list[Example], list[Example]]:
    """Training examples and held-out examples of `files` in `folder`; what is held out never depends on later lines.

    Args:
        block: neighbouring lines that are trained on, or held out, together.
    """
    training: list[Example] = []
    held_out: list[Example] = []
    for path in sorted(folder.glob(files)):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        for number, line in enumerate(lines):
            is_held_out = (number // block) % _HELD_OUT_EVERY == _HELD_OUT_EVERY - 2
            (held_out if is_held_out else training).extend(parse(json.loads(line)))
    return training, held_out
