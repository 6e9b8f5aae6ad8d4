"""The hand-written grids in `training/grids/*.jsonl`: several questions, each answered for every one of several states.

Those in `plain_*.jsonl` read like real mails, tickets and records; the others say what they mean in a roundabout way.
A state has an answer to every question and a question every answer, so that neither tells anything without the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training.examples import Example
from training.sources.written import read_written

FOLDER = Path(__file__).parents[1] / "grids"


def read(folder: Path = FOLDER, files: str = "*.jsonl") -> tuple[list[Example], list[Example]]:
    """Training examples and held-out examples; a grid is held out whole."""
    return read_written(folder, parse, files=files)


def parse(grid: dict[str, Any]) -> Iterator[Example]:
    """One example per state and question; states take turns with the wordings of a question."""
    for number, entry in enumerate(grid["states"]):
        for name, question in grid["questions"].items():
            wordings = question["instructions"]
            asked = {**question, "instructions": wordings[number % len(wordings)]}
            yield Example(str(grid["id"]), str(grid["domain"]), entry["state"], asked, entry["answers"][name])
