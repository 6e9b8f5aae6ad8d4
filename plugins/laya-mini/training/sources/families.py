"""The hand-written families in `training/families/*.jsonl`: each option of a question is right for as many states.

Whoever guesses from question and options alone gets no better than chance, which the scenarios cannot promise.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from training.examples import Example
from training.sources.written import read_written

FOLDER = Path(__file__).parents[1] / "families"


def read(folder: Path = FOLDER) -> tuple[list[Example], list[Example]]:
    """Training examples and held-out examples; a family is held out whole."""
    return read_written(folder, parse)


def parse(family: dict[str, Any]) -> Iterator[Example]:
    """One example per state; they take turns with the wordings of the question."""
    wordings = family["instructions"]
    for number, (gold, state) in enumerate(_labelled_states(family)):
        question = {"type": family["type"], "instructions": wordings[number % len(wordings)]}
        if family["type"] != "noul":
            question["criteria"] = family["criteria"]
        yield Example(str(family["id"]), str(family["domain"]), state, question, gold)


def _labelled_states(family: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
    states = family["states"]
    match family["type"]:
        case "choice":
            sides = states.items()
        case "score":
            sides = enumerate(states)
        case _:
            sides = ((side == "true", texts) for side, texts in states.items())
    for gold, texts in sides:
        yield from ((gold, text) for text in texts)
