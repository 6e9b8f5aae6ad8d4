"""Questions that the budgets leave partly unread: what is told, where, and how often."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laya_core import Agent, Choice, Noul, Score

LONG = Noul("Does the customer want money back for the parcel? " * 60)
WORDY = Choice("Which team?", {"billing": "invoices and refunds " * 30, "technical": None})
MANY = Choice("Which?", [f"a label with number {number}" for number in range(60)])


@pytest.fixture
def fresh(load_agent: Callable[..., Agent], checkpoint: Path) -> Agent:
    """An agent that has told nothing yet."""
    return load_agent(checkpoint)


def told(call: Callable[[], Any]) -> list[str]:
    """The warnings of a call out of somebody's `script.py`, whose line they have to name."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        exec(compile("\n\ncall()", "script.py", "exec"), {"__name__": "__main__", "call": call})
    assert all(warning.category is RuntimeWarning for warning in caught)
    assert {(warning.filename, warning.lineno) for warning in caught} <= {("script.py", 3)}
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("question", "budgets", "message"),
    [
        (
            LONG,
            {},
            r"\d+ of \d{3,} tokens of its type and instructions are read \(B\); shorten it, or give larger budgets",
        ),
        (WORDY, {}, r"1 of 2 options are cut to 48 tokens \(B\); shorten it"),
        (MANY, {}, r"60 of 60 options are cut to 3 tokens \(B\); shorten it, or give larger budgets"),
        (
            Score(LONG.instructions, ["low " * 90, "high"]),
            {},
            r"\d+ of \d{3,} tokens of its .* are read and 1 of 2 options are cut to 48 tokens \(B\); .* larger budgets",
        ),
        (
            Score("How?", ["low", "high " * 20]),
            {"max_len": 24},
            r"1 of 2 options are cut to \d+ tokens \(head_max_len=192, max_len=24\); .* larger budgets",
        ),
    ],
)
def test_the_warning_names_question_amounts_budgets_and_remedy(
    fresh: Agent, question: Any, budgets: dict[str, int], message: str
) -> None:
    [text] = told(lambda: fresh.predict("x", {"q": question}, **budgets))
    pattern = rf"question 'q' is not read whole: {message}".replace("(B", "(head_max_len=192, max_len=512")
    assert re.fullmatch(pattern, text)


def test_each_question_of_an_agent_is_told_once_through_every_call(fresh: Agent, checkpoint: Path) -> None:
    questions = {"long": LONG, "fits": Noul("Is it?"), 7: WORDY}
    assert len(told(lambda: fresh.predict("x", questions))) == 2
    for again in (
        lambda: fresh.predict("y", questions),
        lambda: fresh.predict_batch(["a", "b"], questions),
        lambda: fresh.predict_long("word " * 900, questions),
    ):
        assert told(again) == []
    assert len(told(lambda: fresh.predict("x", {"other": LONG}))) == 1
    assert len(told(lambda: fresh.predict("x", {"long": LONG}, head_max_len=96))) == 1
    assert len(told(lambda: fresh.predict_long("word " * 900, {"another": LONG}))) == 1


def test_another_agent_tells_again(load_agent: Callable[..., Agent], checkpoint: Path) -> None:
    for _ in range(2):
        agent = load_agent(checkpoint)
        assert len(told(lambda agent=agent: agent.predict("x", {"q": LONG}))) == 1


def test_where_warnings_are_errors_each_call_is_refused(fresh: Agent) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            with pytest.raises(RuntimeWarning, match="question 'q' is not read whole"):
                fresh.predict("x", {"q": LONG})


def test_the_usage_stays_as_it_was_published(fresh: Agent) -> None:
    with pytest.warns(RuntimeWarning, match="not read whole"):
        usage = fresh.predict("x", {"q": LONG, "w": WORDY})["usage"]
    assert (usage["truncated"], usage["truncated_questions"], "options" in usage) == (False, [], False)
