"""The hand-written scenarios in `training/scenarios/*.jsonl`, and which of them are held out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from training.examples import Example

FOLDER = Path(__file__).parents[1] / "scenarios"
_BLOCK = 10
_HELD_OUT_EVERY = 9


def read(folder: Path = FOLDER) -> tuple[list[Example], list[Example]]:
    """Training examples and held-out examples.

    Neighbours in a file are often variations of one another, so whole blocks of ten scenarios are held out.
    """
    training: list[Example] = []
    held_out: list[Example] = []
    for path in sorted(folder.glob("*.jsonl")):
        lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        for number, line in enumerate(lines):
            is_held_out = (number // _BLOCK) % _HELD_OUT_EVERY == _HELD_OUT_EVERY - 2
            (held_out if is_held_out else training).extend(parse(json.loads(line)))
    return training, held_out


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
