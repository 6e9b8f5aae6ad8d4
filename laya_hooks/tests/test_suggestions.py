"""What a message about something unusable suggests."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from laya_hooks.suggestions import closest, did_you_mean, not_questions

TYPES = ("choice", "score", "noul")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("nuol", "noul"), ("Noul", "noul"), (" CHOISE ", "choice"), ("weather", None), ("", None), (3, None)],
)
def test_the_closest_known_name_is_found_or_none(name, meant):
    assert closest(name, TYPES) == meant
    assert did_you_mean(name, TYPES) == ("" if meant is None else f"; did you mean {meant!r}?")


def test_what_is_no_mapping_of_questions_is_told_by_its_type_alone():
    message = "questions must be a mapping of question id to question, not "
    assert not_questions("secret") == f"{message}str"
    assert not_questions(None) == f"{message}NoneType"
    assert not_questions(["secret"]) == f"{message}list; give each of them an id: {{id: question}}"
    assert not_questions(SimpleNamespace(questions={})) == f"{message}SimpleNamespace; pass its .questions"
