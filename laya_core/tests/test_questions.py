"""Questions: what is refused and how, what is accepted, and both ways between dicts and classes."""

from __future__ import annotations

import datetime
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from laya_core.questions import Choice, Noul, Question, Score, parse_questions, text_of

ASK = {"instructions": "Which one?"}


def parse(question: Any) -> Question:
    return parse_questions({"q1": question})["q1"]


REFUSED: list[tuple[Any, str]] = [
    ("text", "mapping with 'type' and 'instructions'"),
    (None, "mapping with 'type' and 'instructions'"),
    ({"type": "bool", **ASK}, "choice, score, noul"),
    ({"type": ["choice"], **ASK}, "choice, score, noul"),
    ({**ASK}, "choice, score, noul"),
    ({"type": "noul"}, "say in words what is asked"),
    ({"type": "noul", "instructions": None}, "say in words what is asked"),
    ({"type": "noul", "instructions": ""}, "say in words what is asked"),
    ({"type": "noul", "instructions": " \t\n"}, "say in words what is asked"),
    ({"type": "noul", "instructions": []}, "say in words what is asked"),
    ({"type": "noul", "instructions": {}}, "say in words what is asked"),
    ({"type": "choice", **ASK}, "a list of labels"),
    ({"type": "choice", **ASK, "criteria": "abc"}, "a list of labels"),
    ({"type": "choice", **ASK, "criteria": 3}, "a list of labels"),
    ({"type": "choice", **ASK, "criteria": {"a", "b"}}, "a list of labels"),
    ({"type": "choice", **ASK, "criteria": {}}, "at least one label"),
    ({"type": "choice", **ASK, "criteria": []}, "at least one label"),
    ({"type": "choice", **ASK, "criteria": ["a", "a"]}, "must be distinct"),
    ({"type": "choice", **ASK, "criteria": [1, True]}, "must be distinct"),
    ({"type": "choice", **ASK, "criteria": [1, 1.0]}, "must be distinct"),
    ({"type": "choice", **ASK, "criteria": [0, False]}, "must be distinct"),
    ({"type": "choice", **ASK, "criteria": ["a", None]}, "a text or a number"),
    ({"type": "choice", **ASK, "criteria": [["a"], "b"]}, "a text or a number"),
    ({"type": "choice", **ASK, "criteria": [{"a": 1}]}, "a text or a number"),
    ({"type": "choice", **ASK, "criteria": {None: "a"}}, "a text or a number"),
    ({"type": "choice", **ASK, "criteria": {("a",): "a"}}, "a text or a number"),
    ({"type": "choice", **ASK, "criteria": ["a", float("nan")]}, "the label nan is no number that JSON can hold"),
    ({"type": "choice", **ASK, "criteria": {float("-inf"): "a"}}, "write it as a text"),
    ({"type": "choice", **ASK, "criteria": ["a"], "labels": {"true": "A", "false": "B"}}, "labels are for noul"),
    ({"type": "score", **ASK}, "list of levels"),
    ({"type": "score", **ASK, "criteria": {"a": "b"}}, "list of levels"),
    ({"type": "score", **ASK, "criteria": "low"}, "list of levels"),
    ({"type": "score", **ASK, "criteria": []}, "at least one level"),
    ({"type": "score", **ASK, "criteria": ["a", None]}, "describe every level"),
    ({"type": "score", **ASK, "criteria": ["a"], "labels": {"true": "A", "false": "B"}}, "labels are for noul"),
    ({"type": "noul", **ASK, "criteria": ["a"]}, "'true'"),
    ({"type": "noul", **ASK, "criteria": "a"}, "'true'"),
    ({"type": "noul", **ASK, "criteria": {"yes": "a", "no": "b"}}, "'true' and 'false'"),
    ({"type": "noul", **ASK, "criteria": {"true": "a", True: "b"}}, "twice"),
    ({"type": "noul", **ASK, "labels": {"true": "A"}}, "both 'true' and 'false'"),
    ({"type": "noul", **ASK, "labels": {}}, "both 'true' and 'false'"),
    ({"type": "noul", **ASK, "labels": ["A", "B"]}, "both 'true' and 'false'"),
    ({"type": "noul", **ASK, "labels": {"true": "A", "false": "A"}}, "must differ"),
    ({"type": "noul", **ASK, "labels": {"true": "A ", "false": " A"}}, "must differ"),
    ({"type": "noul", **ASK, "labels": {"true": "A", "false": "  "}}, "must be words"),
    ({"type": "noul", **ASK, "labels": {"true": "A", "false": 0}}, "must be words"),
    ({"type": "noul", **ASK, "labels": {"yes": "A", "no": "B"}}, "'true' and 'false'"),
    ({"type": "choice", **ASK, "criteria": ["a", "b"], "option_order": [0, 0]}, "each of 0 … 1 once"),
    ({"type": "choice", **ASK, "criteria": ["a", "b"], "option_order": [0]}, "each of 0 … 1 once"),
    ({"type": "choice", **ASK, "criteria": ["a", "b"], "option_order": [1, 2]}, "each of 0 … 1 once"),
    ({"type": "choice", **ASK, "criteria": ["a", "b"], "option_order": [-1, 0]}, "each of 0 … 1 once"),
    ({"type": "choice", **ASK, "criteria": ["a", "b"], "option_order": [False, True]}, "each of 0 … 1 once"),
    ({"type": "choice", **ASK, "criteria": ["a", "b"], "option_order": [0.0, 1.0]}, "each of 0 … 1 once"),
    ({"type": "choice", **ASK, "criteria": ["a", "b"], "option_order": ["1", "0"]}, "each of 0 … 1 once"),
    ({"type": "choice", **ASK, "criteria": ["a", "b"], "option_order": "10"}, "list of option numbers"),
    ({"type": "noul", **ASK, "option_order": [0, 1, 2]}, "each of 0 … 1 once"),
    ({"type": "score", **ASK, "criteria": ["a"], "option_order": []}, "each of 0 … 0 once"),
]


@pytest.mark.parametrize(("question", "fix"), REFUSED)
def test_a_malformed_question_is_refused_with_its_id_and_the_fix(question: Any, fix: str) -> None:
    with pytest.raises(ValueError, match="question 'q1'") as refused:
        parse(question)
    assert fix in str(refused.value)


MISSPELT: list[tuple[Any, str]] = [
    ({"type": "nuol", **ASK}, "not str 'nuol'; did you mean 'noul'?"),
    ({"type": "Choice", **ASK}, "not str 'Choice'; did you mean 'choice'?"),
    ({"typ": "noul", **ASK}, "and is missing; unknown key 'typ' (did you mean 'type'?)"),
    (
        {"type": "noul", "instruction": "Is it so?"},
        "are missing; say in words what is asked; unknown key 'instruction' (did you mean 'instructions'?)",
    ),
    (
        {"type": "choice", **ASK, "options": ["a", "b"]},
        "or a list of labels, and are missing; unknown key 'options' (did you mean 'criteria'?)",
    ),
    (
        {"type": "score", **ASK, "Criterias": ["a"], "id": 7},
        "and are missing; unknown keys 'Criterias' (did you mean 'criteria'?), 'id'",
    ),
    ({"type": "score", **{f"key{i}": i for i in range(5)}}, "unknown keys 'key0', 'key1', 'key2', …"),
    ({"type": "noul", "k" * 99: 1}, f"unknown key '{'k' * 59}… (did you mean 'instructions'?)"),
]


@pytest.mark.parametrize(("question", "end"), MISSPELT)
def test_what_is_misspelt_is_named_with_what_it_may_mean(question: Any, end: str) -> None:
    with pytest.raises(ValueError, match="question 'q1'") as refused:
        parse(question)
    assert str(refused.value).endswith(end)


@pytest.mark.parametrize(
    "question",
    [
        {"type": "noul", "instructions": "", "note": "mine"},
        {"type": "choice", **ASK, "criteria": "abc", "note": "mine"},
        {"type": "noul", **ASK, "labels": {"true": "A"}, "note": "mine"},
    ],
)
def test_keys_of_the_caller_s_own_are_not_blamed_where_nothing_is_missing(question: Any) -> None:
    with pytest.raises(ValueError, match="question 'q1'") as refused:
        parse(question)
    assert "note" not in str(refused.value)


def test_keys_of_the_caller_s_own_are_accepted() -> None:
    assert parse({"type": "noul", **ASK, "note": "mine", "criterias": 1}) == Noul(ASK["instructions"])


def test_a_message_shows_no_more_of_a_value_than_helps() -> None:
    with pytest.raises(TypeError) as refused:
        parse_questions({"a very long": "thing"}.items())
    assert str(refused.value) == "questions must be a mapping of question id to question, not dict_items"
    with pytest.raises(ValueError, match=r"not dict$"):
        parse({"type": "score", **ASK, "criteria": {"a": "b" * 999}})
    with pytest.raises(ValueError, match=r"not str 'b{59}…$"):
        parse({"type": "score", **ASK, "criteria": "b" * 999})


@pytest.mark.parametrize("qid", ["", "  ", "\n", None, True, False, 1.5, ("q",), b"q"])
def test_an_unusable_question_id_is_refused(qid: Any) -> None:
    with pytest.raises(ValueError, match="give every question a non-empty name"):
        parse_questions({qid: {"type": "noul", **ASK}})


@pytest.mark.parametrize("questions", [None, [], ["a"], "q", [("q", {"type": "noul", **ASK})], 3])
def test_questions_that_are_no_mapping_are_a_type_error(questions: Any) -> None:
    with pytest.raises(TypeError, match="mapping of question id to question"):
        parse_questions(questions)


def test_ids_keep_their_order_and_type() -> None:
    asked = {"z": {"type": "noul", **ASK}, 7: Noul("Is it?"), "a": MappingProxyType({"type": "noul", **ASK})}
    assert list(parse_questions(asked)) == ["z", 7, "a"]


def test_no_questions_are_fine() -> None:
    assert parse_questions({}) == {}


def test_an_object_passes_as_it_is() -> None:
    question = Score("How much?", ["little", "much"])
    assert parse(question) is question


def test_head_text_names_the_type_and_renders_other_instructions_as_json() -> None:
    assert Noul("Ist das grün?").head_text == "noul question: Ist das grün?"
    assert Choice({"ask": "grün", "n": [1, 2]}, ["a"]).head_text == 'choice question: {"ask": "grün", "n": [1, 2]}'
    assert Score(0, ["a"]).head_text == "score question: 0"


def test_option_texts_of_a_choice() -> None:
    criteria = {"a": None, "b": "", "c": "what c is", 4: {"k": ["ü", 1]}, 5.5: 0, True: [], "d": " "}
    assert Choice("?", criteria).option_texts() == (
        "a",
        "b",
        "c: what c is",
        '4: {"k": ["ü", 1]}',
        "5.5: 0",
        "True: []",
        "d:  ",
    )


def test_option_texts_of_a_score() -> None:
    assert Score("?", ["low", 5, {"a": None}, ""]).option_texts() == (
        "level 0: low",
        "level 1: 5",
        'level 2: {"a": null}',
        "level 3: ",
    )


def test_option_texts_of_a_noul_are_false_then_true() -> None:
    no, yes = "no, the statement does not hold", "yes, the statement holds"
    assert Noul("?").option_texts() == (f"false: {no}", f"true: {yes}")
    assert Noul("?", {}).option_texts() == (f"false: {no}", f"true: {yes}")
    assert Noul("?", {True: "It is.", "FALSE": None}).option_texts() == (f"false: {no}", "true: It is.")
    assert Noul("?", {"True": "", "False": [1]}).option_texts() == ("false: [1]", f"true: {yes}")
    assert Noul("?", labels={"TRUE": " ja ", False: "nein"}).option_texts() == (f"nein: {no}", f"ja: {yes}")


def test_values_json_does_not_know_are_rendered_with_str() -> None:
    assert text_of({"when": datetime.date(2024, 2, 29)}) == '{"when": "2024-02-29"}'


def test_labels_are_the_callers_own_objects() -> None:
    label = "".join(["re", "fund"])
    question = parse({"type": "choice", **ASK, "criteria": [label, 3, 2.5, True]})
    assert isinstance(question, Choice)
    assert question.labels == (label, 3, 2.5, True)
    assert question.labels[0] is label
    assert [type(known) for known in question.labels] == [str, int, float, bool]


def test_changing_the_callers_criteria_afterwards_changes_nothing() -> None:
    labels, levels, truth = {"a": None, "b": None}, ["low", "high"], {"true": "is"}
    choice, score, noul = Choice("?", labels), Score("?", levels), Noul("?", truth)
    labels.clear(), levels.clear(), truth.clear()
    assert choice.labels == ("a", "b")
    assert score.levels == ("low", "high")
    assert noul.criteria == {"true": "is"}


def test_a_choice_of_bare_labels_becomes_a_list_again() -> None:
    assert Choice("?", {"a": None, 2: None}).to_dict()["criteria"] == ["a", 2]
    assert Choice("?", {"a": None, "b": "that"}).to_dict()["criteria"] == {"a": None, "b": "that"}


def test_fields_that_were_not_given_are_left_out_of_the_dict() -> None:
    assert Noul("?").to_dict() == {"type": "noul", "instructions": "?"}


words = st.text(min_size=1).filter(str.strip)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
instructions = words | st.integers() | st.dictionaries(st.text(), values, min_size=1, max_size=2)
labels = st.lists(st.text() | st.integers() | st.floats(allow_nan=False), min_size=1, max_size=6, unique=True)


@st.composite
def questions(draw: st.DrawFn) -> dict[str, Any]:
    kind = draw(st.sampled_from(["choice", "score", "noul"]))
    question: dict[str, Any] = {"type": kind, "instructions": draw(instructions)}
    count = 2
    if kind == "choice":
        criteria = draw(labels)
        count = len(criteria)
        described = draw(st.booleans())
        question["criteria"] = {label: draw(values) for label in criteria} if described else criteria
    elif kind == "score":
        question["criteria"] = draw(st.lists(values.filter(lambda v: v is not None), min_size=1, max_size=6))
        count = len(question["criteria"])
    else:
        if draw(st.booleans()):
            question["criteria"] = draw(st.dictionaries(st.sampled_from(["true", "false"]), values))
        if draw(st.booleans()):
            stripped = words.map(str.strip)
            pair = draw(st.lists(stripped, min_size=2, max_size=2, unique=True))
            question["labels"] = dict(zip(["true", "false"], pair, strict=True))
    if draw(st.booleans()):
        question["option_order"] = draw(st.permutations(range(count)))
    return question


@given(questions())
def test_a_dict_becomes_an_object_and_the_same_question_again(question: dict[str, Any]) -> None:
    parsed = parse(question)
    written = parsed.to_dict()
    again = parse(written)
    assert again == parsed
    assert again.to_dict() == written
    assert (again.head_text, again.option_texts(), again.option_order) == (
        parsed.head_text,
        parsed.option_texts(),
        parsed.option_order,
    )
    assert written["type"] == question["type"] and written["instructions"] == question["instructions"]
