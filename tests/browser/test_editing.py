"""The request as form and as JSON, both of the same thing."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playground_page import Playground
from playwright.sync_api import expect

REQUEST = {
    "state": "Nothing works since the update",
    "questions": {
        "10": {"type": "choice", "instructions": "Which part?", "criteria": {"2": "the second", "1": None}},
        "9": {"type": "score", "instructions": "How bad?", "criteria": ["fine", "bad"], "option_order": [1, 0]},
        "b": {"type": "noul", "instructions": "Is it broken?", "labels": {"true": "ja", "false": "nein"}},
    },
    "min_confidence": 0.25,
}
MISTAKES = [
    ('{"state": "a",\n "questions": {},}', 2, 18, "remove the comma"),
    ('{"state": "a"\n "questions": {}}', 2, 2, "a comma"),
    ("{'state': 1}", 1, 2, "double quotes"),
    ('{"state": True}', 1, 11, "write true"),
    ('{"state": NaN}', 1, 11, "finite"),
    ('{"state": 01}', 1, 11, "as JSON has it"),
    ('{"state": "a\nb"}', 1, 13, "\\n for a line break"),
    ('{"state": "a}', 1, 11, "not closed"),
    ('{"a": 1, "a": 2}', 1, 10, "there twice"),
    ('{"a": "🙂", b: 1}', 1, 12, "double quotes"),
    ('{"a": [1, 2', 1, 12, "list that begins in line 1"),
    ("[1] 2", 1, 5, "ends before this"),
    ("  ", 1, 3, "nothing here"),
]


@pytest.mark.parametrize(("text", "line", "column", "message"), MISTAKES)
def test_a_mistake_in_the_json_is_named_with_line_and_column(
    playground: Playground, text: str, line: int, column: int, message: str
) -> None:
    playground.write_json(text)
    problem = playground.page.locator("#json-problem-text")
    expect(problem).to_contain_text(f"Line {line}, column {column}: ")
    expect(problem).to_contain_text(message)
    expect(playground.page.get_by_label("Request as JSON")).to_have_attribute("aria-invalid", "true")
    expect(playground.page.locator("#json-colours .line.wrong")).to_have_count(1)


def test_a_request_with_a_mistake_is_not_sent_and_the_cursor_goes_there(playground: Playground) -> None:
    text = playground.json_text.replace('"questions"', "questions")
    playground.write_json(text)
    asked = len(playground.requested)
    playground.page.locator("h1").click()
    playground.page.get_by_role("button", name="Run").click()
    expect(playground.page.get_by_label("Request as JSON")).to_be_focused()
    assert playground.page.locator("#json").evaluate("area => area.selectionStart") == text.index("questions")
    assert playground.requested[asked:] == []


def test_while_the_json_has_a_mistake_the_form_rests_and_can_bring_the_good_version_back(
    playground: Playground,
) -> None:
    good = playground.body
    playground.write_json('{"state": ')
    playground.show("Form")
    expect(playground.page.locator("#form-notice")).to_contain_text("Line 1, column 11")
    assert playground.page.locator("#form-fields").evaluate("fields => fields.inert")
    playground.page.get_by_role("button", name="Use the last good version").click()
    assert playground.body == good
    expect(playground.page.locator("#form-notice")).to_be_hidden()


def test_the_form_shows_what_the_json_says(playground: Playground) -> None:
    playground.write_json(json.dumps(REQUEST))
    playground.show("Form")
    assert playground.page.locator(".question-id").evaluate_all("all => all.map((one) => one.value)") == [
        "10",
        "9",
        "b",
    ]
    choice = playground.question("10")
    assert choice.get_by_label("Label of option 1").input_value() == "2"
    assert choice.get_by_label("Meaning of option 1").input_value() == "the second"
    assert choice.get_by_label("Label of option 2").input_value() == "1"
    assert playground.question("9").get_by_label("Level 1", exact=True).input_value() == "bad"
    expect(playground.question("9")).to_contain_text("option_order")
    assert playground.page.locator("#min_confidence").input_value() == "0.25"


def test_the_json_says_what_the_form_was_told(playground: Playground) -> None:
    page = playground.page
    playground.write_json(json.dumps(REQUEST))
    playground.show("Form")
    page.locator("#state").fill("All is well")
    playground.question("10").get_by_label("Name").fill("part")
    playground.question("part").get_by_role("button", name="Add an option").click()
    page.keyboard.type("third")
    playground.question("part").get_by_label("Meaning of option 2").fill("the first")
    playground.question("9").get_by_role("button", name="Remove level 1").click()
    playground.question("b").get_by_label("Yes means").fill("it is broken")
    playground.question("b").get_by_label("Question", exact=True).fill("Broken?")
    page.get_by_label("Checkpoint").select_option("mini")
    page.get_by_label("Confidence gate").fill("")
    assert playground.body == {
        "state": "All is well",
        "questions": {
            "part": {
                "type": "choice",
                "instructions": "Which part?",
                "criteria": {"2": "the second", "1": "the first", "third": None},
            },
            "9": {"type": "score", "instructions": "How bad?", "criteria": ["bad"], "option_order": [1, 0]},
            "b": {
                "type": "noul",
                "instructions": "Broken?",
                "labels": {"true": "ja", "false": "nein"},
                "criteria": {"true": "it is broken"},
            },
        },
        "model": "mini",
    }
    assert list(playground.body["questions"]) == ["part", "9", "b"]


def test_questions_are_added_removed_and_of_another_kind(playground: Playground) -> None:
    page = playground.page
    page.get_by_role("button", name="Remove question urgency").click()
    assert list(playground.body["questions"]) == ["team", "refund"]
    assert playground.focused == "Name"
    page.get_by_role("button", name="Add a question").click()
    page.keyboard.type("How long?")
    added = playground.question("question_3")
    added.get_by_label("Kind").select_option("score")
    assert playground.body["questions"]["question_3"] == {
        "type": "score",
        "instructions": "How long?",
        "criteria": ["low", "middle", "high"],
    }
    team = playground.body["questions"]["team"]
    playground.question("team").get_by_label("Kind").select_option("noul")
    assert "criteria" not in playground.body["questions"]["team"]
    playground.question("team").get_by_label("Kind").select_option("choice")
    assert playground.body["questions"]["team"] == team


def test_names_and_labels_that_cannot_be_are_told_at_once_and_not_sent(playground: Playground) -> None:
    before = playground.body
    name = playground.question("team").get_by_label("Name")
    name.fill("refund")
    expect(name).to_have_accessible_description("Another question is called refund.")
    label = playground.question("team").get_by_label("Label of option 1")
    label.fill("orders")
    expect(label).to_have_accessible_description("Two options are called orders.")
    asked = len(playground.requested)
    playground.page.keyboard.press("Control+Enter")
    expect(name).to_be_focused()
    assert playground.requested[asked:] == []
    assert playground.body == before
    label.fill("money")
    name.fill("desk")
    assert list(playground.body["questions"]) == ["desk", "urgency", "refund"]
    assert next(iter(playground.body["questions"]["desk"]["criteria"])) == "money"


def test_the_state_is_text_or_json(playground: Playground) -> None:
    state = playground.page.locator("#state")
    state.fill("a line")
    playground.page.get_by_text("JSON", exact=True).nth(1).click()
    assert playground.body["state"] == {"text": "a line"}
    state.fill('{"text": "a line", "n": 1.50}')
    assert '"n": 1.50' in playground.json_text
    state.fill('{"text": }')
    expect(state).to_have_attribute("aria-invalid", "true")
    expect(playground.page.locator("#form")).to_contain_text("Line 1, column 10: a value is expected here")
    state.fill('{"text": "a line"}')
    expect(state).not_to_have_attribute("aria-invalid", "true")
    playground.page.get_by_text("Text", exact=True).click()
    assert playground.body["state"] == "a line"


def test_an_example_can_be_taken_back(playground: Playground) -> None:
    playground.page.locator("#state").fill("my own words")
    mine = playground.json_text
    playground.example("Conversation")
    assert isinstance(playground.body["state"], list)
    playground.page.get_by_role("button", name="Bring mine back").click()
    assert playground.json_text == mine
    assert playground.page.locator("#state").input_value() == "my own words"


def test_every_example_is_answered(playground: Playground) -> None:
    titles = playground.page.locator("#examples button").all_inner_texts()
    assert len(titles) == 5
    for title in titles:
        playground.example(title)
        playground.page.get_by_label("Checkpoint").select_option("mini")
        assert set(playground.run()["answers"]) == set(playground.body["questions"]), title


_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
_ROUND_TRIP = """async (text) => {
    const { read, write, compact } = await import(new URL("playground/json.js", document.baseURI));
    const first = read(text);
    if (first.error) return { error: first.error.sentence };
    const again = read(write(first.value));
    const line = compact(first.value);
    return { same: compact(again.value) === line, written: write(first.value), compact: line };
}"""


@pytest.fixture(scope="module")
def one_page(browser: Any, server: str) -> Any:
    page = Playground(browser, server).open()
    yield page
    page.close()


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(value=_VALUES, indent=st.sampled_from([None, 2]))
def test_json_is_read_and_written_without_loss(one_page: Playground, value: Any, indent: int | None) -> None:
    result = one_page.page.evaluate(_ROUND_TRIP, json.dumps(value, indent=indent))
    assert result.get("same"), result
    for text in (result["written"], result["compact"]):
        assert json.loads(text) == value
        assert json.dumps(json.loads(text)) == json.dumps(value)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(value=_VALUES, data=st.data())
def test_what_python_does_not_take_for_json_the_page_does_not_either(
    one_page: Playground, value: Any, data: Any
) -> None:
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + data.draw(st.sampled_from(list('{}[],:"0\\-e '))) + text[at + 1 :]
    try:
        pairs: list[Any] = []
        json.loads(broken, object_pairs_hook=lambda found: pairs.append([key for key, _ in found]) or dict(found))
        good = all(len(keys) == len(set(keys)) for keys in pairs)
    except ValueError:
        good = False
    result = one_page.page.evaluate(_ROUND_TRIP, broken)
    assert ("error" not in result) is good, (broken, result)
