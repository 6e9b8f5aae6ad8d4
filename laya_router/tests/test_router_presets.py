from __future__ import annotations

import pytest

from laya_router import presets


def test_there_are_five_presets() -> None:
    assert presets.names() == ["email", "guard", "moderation", "router", "triage"]


@pytest.mark.parametrize("name", presets.names())
def test_a_preset_has_well_formed_questions_and_a_sample(name: str) -> None:
    preset = presets.load(name)
    assert preset.name == name and preset.description and len(preset.sample.split()) > 15
    for question in preset.questions.values():
        assert question["instructions"].endswith("?")
        match question:
            case {"type": "choice", "criteria": dict(options)}:
                assert len(options) > 1 and all(options.values())
            case {"type": "score", "criteria": list(levels)}:
                assert len(levels) == len(set(levels)) > 2
            case {"type": "noul", "criteria": dict(options)}:
                assert set(options) == {"true", "false"}
            case _:
                assert question["type"] == "noul"


def test_the_questions_are_the_callers_to_change() -> None:
    presets.load("triage").questions.clear()
    assert presets.load("triage").questions


def test_an_unknown_preset_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"unknown preset 'nope'; there are email, guard, moderation, router, triage$"):
        presets.load("nope")
    with pytest.raises(ValueError, match=r"; did you mean 'triage'\?$"):
        presets.load("Traige")
