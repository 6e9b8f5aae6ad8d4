"""The hand-written contrast sets in `training/contrasts/*.jsonl`: one situation in four versions, asked the same.

The versions share their words and differ in details that decide, so that every answer is right for two of them at most
(Gardner et al., 2020, arXiv:2004.02709, who made such sets to measure models by).
"""

from __future__ import annotations

from pathlib import Path

from training.examples import Example
from training.sources.grids import parse
from training.sources.written import read_written

FOLDER = Path(__file__).parents[1] / "contrasts"


def read(folder: Path = FOLDER) -> tuple[list[Example], list[Example]]:
    """Training examples and held-out examples; a set is held out whole."""
    return read_written(folder, parse)
