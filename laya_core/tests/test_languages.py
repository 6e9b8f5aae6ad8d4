"""Temperatures by language."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from laya_core import Agent
from laya_core.config import Temperatures
from laya_core.languages import parse_lang_temperatures, primary_subtag

INHERITED = Temperatures((1.3, 0.9, 1.1), {"choice:3-5": 1.4})
QUESTION = {"c": {"type": "choice", "instructions": "Which?", "criteria": ["a", "b", "c"]}}


@pytest.mark.parametrize(
    ("tag", "subtag"),
    [("de", "de"), ("DE", "de"), ("de-AT", "de"), ("zh_Hant_TW", "zh"), ("de_AT.UTF-8", "de"), (" pt-BR ", "pt")],
)
def test_the_primary_subtag_decides(tag: str, subtag: str) -> None:
    assert primary_subtag(tag) == subtag
    assert list(parse_lang_temperatures({tag: {}}, INHERITED)) == [subtag]


def test_an_omitted_temperature_inherits_and_omitted_bands_are_empty() -> None:
    parsed = parse_lang_temperatures(
        {"de": {}, "fr": {"temperature_by_options": {"noul:2": 2.0}}, "ko": {"temperature": [2, 2, 2]}}, INHERITED
    )
    assert parsed == {
        "de": Temperatures((1.3, 0.9, 1.1), {}),
        "fr": Temperatures((1.3, 0.9, 1.1), {"noul:2": 2.0}),
        "ko": Temperatures((2.0, 2.0, 2.0), {}),
    }


@pytest.mark.parametrize(
    "refused",
    [
        "de",
        ["de"],
        {"de": None},
        {"de": [1, 1, 1]},
        {"de": 1.5},
        {"de": {"temperatures": [1, 1, 1]}},
        {"de": {"temperature": [1, 1]}},
        {"de": {"temperature": None}},
        {"de": {"temperature_by_options": None}},
        {"de": {"temperature_by_options": [1]}},
    ],
)
def test_anything_else_is_refused(refused: Any) -> None:
    with pytest.raises(ValueError, match="lang_temperatures"):
        parse_lang_temperatures(refused, INHERITED)


def test_values_are_clamped_with_a_warning_that_names_the_language() -> None:
    with pytest.warns(RuntimeWarning, match=r"lang_temperatures\['de'\]: temperature\[0\] is 9"):
        parsed = parse_lang_temperatures({"de": {"temperature": [9, 1, 1]}}, INHERITED)
    assert parsed["de"].by_type == (5.0, 1.0, 1.0)


def test_inherited_temperatures_do_not_warn_again() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parse_lang_temperatures({"de": {}}, INHERITED)


def test_an_agent_answers_a_language_with_its_temperatures(checkpoint: Path, load_agent: Callable[..., Agent]) -> None:
    with load_agent(checkpoint, lang_temperatures={"de": {"temperature": [5.0, 1.0, 1.0]}}) as agent:
        plain = agent.predict("text", QUESTION)
        german = agent.predict("text", QUESTION, lang="de-AT")
        assert agent.predict("text", QUESTION, lang="fr") == plain
        assert agent.predict_batch(["text"], QUESTION, lang="DE") == [german]
        assert agent.predict_long("text", QUESTION, lang="de")["answers"] == german["answers"]
        # A hotter distribution is flatter, and the temperature of a language replaces the checkpoint's bands.
        assert german["answers"]["c"]["answer_confidence"] < plain["answers"]["c"]["answer_confidence"]
        assert german["usage"] == plain["usage"]


def test_without_lang_temperatures_the_language_changes_nothing(agent: Agent) -> None:
    assert agent.predict("text", QUESTION, lang="de") == agent.predict("text", QUESTION)


def test_two_entries_for_one_language_are_refused() -> None:
    with pytest.raises(ValueError, match=r"lang_temperatures\['de_CH'\].*'de' already"):
        parse_lang_temperatures({"de-AT": {}, "de_CH": {}}, INHERITED)
