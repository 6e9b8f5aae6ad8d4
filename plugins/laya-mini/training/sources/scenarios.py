"""The hand-written scenarios in `training/scenarios/*.jsonl`, and which of them are held out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from training.examples import Example
from training.sources.written import read_written

FOLDER = Path(__file__).parents[1] / "scenarios"
_BLOCK = 10


def read(folder: Path = FOLDER) -> tuple[list[Example], list[Example]]:
    """Training examples and held-out examples.

    Neighbours in a file are often variations of one another, so whole blocks of ten scenarios are held out.
    """
    return read_written(folder, parse, block=_BLOCK)


def parse(scenario: dict[str, Any]) -> list[Example]:
    """One example per question of a scenario."""
    return [
        Example(
            group=str(scenario["id"]),
            domain=str(scenario["domain"]),
            state=scenario["state"],
            question={key: value for key, value in question.items() if key != "gold"},
            gold=question["gold"],
        )
        for question in scenario["questions"].values()
    ]
