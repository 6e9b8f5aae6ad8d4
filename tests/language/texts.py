"""The labelled texts: {"text", "lang", "english", "tag"}; `english` is whether an English-only checkpoint can answer.

`lang_dev` and `lang_fit` are what the weights of the detector are fitted on; `lang_heldout` is for reports alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from laya_router import Router


class Rates(NamedTuple):
    """What routing made of labelled texts: errors and texts of each kind."""

    missed: int
    english: int
    leaked: int
    foreign: int

    @property
    def accuracy(self) -> float:
        """The share of texts that went the right way."""
        return 1 - (self.missed + self.leaked) / (self.english + self.foreign)

    @property
    def leak_rate(self) -> float:
        """The share of foreign texts that went to the English checkpoint."""
        return self.leaked / self.foreign

    def __str__(self) -> str:
        missed = f"{self.missed} of {self.english} English texts sent away ({self.missed / self.english:.1%})"
        leaked = f"{self.leaked} of {self.foreign} foreign ones kept ({self.leak_rate:.1%})"
        return f"accuracy {self.accuracy:.3f}; {missed}, {leaked}"


def labelled(name: str) -> list[dict[str, Any]]:
    """The rows of `dev`, `fit` or `heldout`."""
    path = Path(__file__).parent / f"lang_{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def measure(rows: list[dict[str, Any]], router: Router) -> Rates:
    """Route every text and count what went wrong."""
    sent = [(row["english"], router.route(row["text"]).model == "english") for row in rows]
    return Rates(
        missed=sent.count((True, False)),
        english=sum(english for english, _ in sent),
        leaked=sent.count((False, True)),
        foreign=sum(not english for english, _ in sent),
    )
