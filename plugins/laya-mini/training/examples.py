"""One labelled decision, the unit every source produces and training consumes."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")

Gold: TypeAlias = str | int | bool


@dataclass(frozen=True, slots=True)
class Example:
    """A question about a state, with its right answer.

    Args:
        group: what the example was made from; examples of one group never straddle the held-out split.
        state: text, or JSON-like data, as a caller would pass it.
        question: a plain question dict (`type`, `instructions`, `criteria`, …).
        gold: the label of a choice, the level of a score, the truth of a noul.
    """

    group: str
    domain: str
    state: Any
    question: Mapping[str, Any]
    gold: Gold

    @property
    def type(self) -> str:
        return str(self.question["type"])

    @property
    def target(self) -> int:
        """Index of the right option, in the order the options are shown."""
        if self.type == "choice":
            return list(self.question["criteria"]).index(self.gold)
        return int(self.gold)


def choice(group: str, state: Any, instructions: str, criteria: Any, gold: str) -> Example:
    question = {"type": "choice", "instructions": instructions, "criteria": criteria}
    return Example(group, group.partition(":")[0], state, question, gold)


def noul(group: str, state: Any, instructions: str, gold: bool) -> Example:
    question = {"type": "noul", "instructions": instructions}
    return Example(group, group.partition(":")[0], state, question, gold)


def score(group: str, state: Any, instructions: str, levels: list[str], gold: int) -> Example:
    question = {"type": "score", "instructions": instructions, "criteria": levels}
    return Example(group, group.partition(":")[0], state, question, gold)


def shuffled(items: Sequence[T], rng: random.Random) -> list[T]:
    """A shuffled copy."""
    return rng.sample(items, len(items))
