"""Running a request: answers, reasons, warnings, refusals, and the same call as code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from playground_page import Playground
from playwright.sync_api import expect
from server_process import KEY

OpenPage = Callable[..., Playground]


def test_every_answer_has_bars_of_its_probabilities(playground: Playground) -> None:
    answers = playground.run()["answers"]
    team, urgency, refund = answers["team"], answers["urgency"], answers["refund"]
    expected = {
        "team": team["probabilities"],
        "urgency": {
            f"{level} · {urgency['legend'][level]}": share for level, share in urgency["probabilities"].items()
        },
        "refund": {"yes": refund["noul"], "no": 1 - refund["noul"]},
    }
    for name, shares in expected.items():
        bars = playground.bars(name)
        assert list(bars) == list(shares)
        for label, share in shares.items():
            assert bars[label] == pytest.approx((100 * share, 100 * share), abs=0.051)
    expect(playground.answer("team").locator(".headline")).to_have_text(team["choice"])
    expect(playground.answer("team").locator("tr.chosen th")).to_contain_text(team["choice"])
    expect(playground.answer("urgency").locator(".headline")).to_have_text(f"{urgency['score']:.2f} of 3")
    expect(playground.answer("refund").locator(".headline")).to_have_text("yes" if refund["noul"] >= 0.5 else "no")
    for name in ("confidence", "answer_confidence"):
        fact = playground.answer("team").locator(".facts div", has=playground.page.get_by_text(name, exact=True))
        expect(fact).to_have_text(f"{name}{100 * team[name]:.1f}%")


def test_the_button_runs_as_the_keys_do(playground: Playground) -> None:
    assert playground.run(press=None)["answers"] == playground.run(press="Meta+Enter")["answers"]


def test_the_reason_of_the_router_is_told(playground: Playground) -> None:
    told = playground.run()["routing"]
    routing = playground.page.get_by_role("region", name="Routing")
    expect(routing).to_contain_text(f"Answered by {told['model']}")
    expect(routing).to_contain_text(told["reason"])
    playground.page.get_by_label("Checkpoint").select_option("mini")
    assert "asked for" in playground.run()["routing"]["reason"]
    expect(routing).to_contain_text("asked for")


def test_many_options_show_the_likeliest_first_and_the_rest_on_demand(playground: Playground) -> None:
    labels = [str(number) for number in range(20, 0, -1)]
    question = {"type": "choice", "instructions": "Which number?", "criteria": labels}
    answer = playground.ask({"state": "seven", "questions": {"n": question}, "model": "mini"})["answers"]["n"]
    assert next(iter(playground.bars("n"))) == answer["choice"]
    assert len(playground.bars("n")) == 12
    playground.page.get_by_role("button", name="Show all 20").click()
    assert set(playground.bars("n")) == set(labels)


def test_a_state_that_did_not_fit_is_warned_about(playground: Playground) -> None:
    playground.page.locator("#state").fill("It is broken, please help me. " * 300)
    usage = playground.run()["usage"]
    assert usage["truncated"]
    warning = playground.page.get_by_role("list", name="Warnings")
    expect(warning).to_contain_text(f"{usage['state_tokens_dropped']} of {usage['state_tokens']} tokens")
    expect(warning).to_contain_text("team, urgency, refund")


def test_the_gate_is_told_on_every_answer(playground: Playground) -> None:
    playground.page.locator("#settings > summary").click()
    playground.page.get_by_label("Confidence gate").fill("0.4")
    answers = playground.run()["answers"]
    words = {"passed": "At or above the gate of 40.0%", "abstained": "Below the gate of 40.0%"}
    for name, answer in answers.items():
        expect(playground.answer(name).locator(".gate")).to_contain_text(words[answer["abstention"]])


def test_answers_to_an_older_request_are_marked(playground: Playground) -> None:
    playground.run()
    note = playground.page.get_by_text("The request has changed since.")
    expect(note).to_be_hidden()
    playground.page.locator("#state").fill("Something else")
    expect(note).to_be_visible()
    playground.run()
    expect(note).to_be_hidden()


def test_a_refused_question_is_told_beside_its_field(playground: Playground) -> None:
    field = playground.question("urgency").get_by_label("Question", exact=True)
    field.fill("")
    detail = playground.run()["detail"]
    expect(playground.page.get_by_role("alert")).to_contain_text("instructions are empty")
    assert detail.startswith("question 'urgency'")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description("instructions are empty; say in words what is asked")
    playground.page.get_by_role("button", name="Go to").click()
    expect(field).to_be_focused()
    field.fill("How soon?")
    expect(field).not_to_have_attribute("aria-invalid", "true")
    assert "answers" in playground.run()


def test_a_refused_setting_is_told_beside_its_field_even_if_it_is_folded_away(playground: Playground) -> None:
    playground.write_json(json.dumps({**playground.body, "min_confidence": 3}))
    playground.show("Form")
    playground.page.locator("#settings").evaluate("details => { details.open = false; }")
    playground.run()
    playground.page.get_by_role("button", name="Go to min_confidence").click()
    gate = playground.page.get_by_label("Confidence gate")
    expect(gate).to_be_focused()
    expect(gate).to_have_attribute("aria-invalid", "true")


def test_in_the_json_a_refusal_marks_the_line_it_is_about(playground: Playground) -> None:
    questions = {"a": {"type": "noul", "instructions": "Is it?"}, "b": {"type": "nool", "instructions": "Is it?"}}
    playground.write_json(json.dumps({"state": "x", "questions": questions}, indent=1))
    playground.run()
    expect(playground.page.locator("#json-problem-text")).to_contain_text("type must be one of choice, score, noul")
    expect(playground.page.locator("#json-colours .line.wrong")).to_contain_text('"nool"')


def test_a_server_that_is_gone_is_told_as_such(playground: Playground) -> None:
    playground.may_complain = True  # Chromium reports the failed request
    playground.context.set_offline(True)
    playground.page.keyboard.press("Control+Enter")
    expect(playground.page.get_by_role("alert")).to_contain_text("did not answer")
    playground.context.set_offline(False)
    assert "answers" in playground.run()


@pytest.fixture
def awkward(playground: Playground) -> Iterator[Playground]:
    """A request with what shells and Python could trip over."""
    state = {
        "text": 'it\'s "$HOME" `date` \\n\n100 % !',
        "flags": [True, False, None],
        "n": 1.50,
        "big": 12345678901234567890,
    }
    question = {"type": "choice", "instructions": "What's it?", "criteria": {"a'b": None, "${x}": "é 🙂"}}
    playground.ask({"state": state, "questions": {"q": question}, "model": "mini"})
    return playground


@pytest.mark.parametrize(("name", "command"), [("curl", ["sh", "-c"]), ("Python", [sys.executable, "-c"])])
def test_what_is_copied_gets_the_same_answer(awkward: Playground, name: str, command: list[str]) -> None:
    awkward.context.grant_permissions(["clipboard-read", "clipboard-write"])
    awkward.page.get_by_role("tab", name=name).click()
    awkward.page.get_by_role("button", name=f"Copy as {name}").click()
    expect(awkward.page.get_by_role("status")).to_have_text(f"Copied as {name}")
    code = awkward.page.evaluate("navigator.clipboard.readText()")
    done = subprocess.run([*command, code], capture_output=True, text=True, timeout=60, check=True)
    shown = awkward.bars("q")
    if name == "curl":
        probabilities = json.loads(done.stdout)["answers"]["q"]["probabilities"]
        assert {label: pytest.approx(100 * share, abs=0.051) for label, share in probabilities.items()} == {
            label: value for label, (value, _) in shown.items()
        }
    else:
        assert done.stdout.startswith("q {'type': 'choice'")
        assert all(repr(label) in done.stdout for label in shown)


def test_without_a_clipboard_copying_works_too(playground: Playground) -> None:
    page = playground.page
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page.evaluate("document.addEventListener('copy', () => { window.copied = getSelection().toString(); })")
    page.get_by_role("button", name="Copy as curl").click()
    assert page.evaluate("window.copied").startswith("curl -s 'http://127.0.0.1")
    assert playground.focused == "Copy as curl"


def test_the_key_is_asked_for_sent_and_kept_nowhere(open_page: OpenPage, keyed_server: str) -> None:
    playground = open_page(keyed_server).open()
    page = playground.page
    dialog = page.get_by_role("dialog", name="This server wants a key")
    expect(dialog).to_be_visible()
    expect(page.get_by_label("API key")).to_be_focused()
    page.keyboard.type("wrong")
    page.keyboard.press("Enter")
    expect(dialog).to_contain_text("The server does not know this key.")
    page.keyboard.type(KEY)
    page.keyboard.press("Enter")
    expect(dialog).to_be_hidden()
    expect(page.get_by_label("Checkpoint").locator("option[value=mini]")).to_be_attached()
    with page.expect_request(lambda request: request.method == "POST") as sent:
        assert set(playground.run()["answers"]) == {"team", "urgency", "refund"}
    assert sent.value.headers["authorization"] == f"Bearer {KEY}"
    kept = page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie])")
    assert KEY not in kept
    assert KEY not in page.content()
    assert "$LAYA_API_KEY" in page.locator("#curl-text").inner_text()
    playground.open()
    expect(dialog).to_be_visible()


def test_without_a_key_the_page_can_be_read_and_asks_again_when_it_is_run(
    open_page: OpenPage, keyed_server: str
) -> None:
    playground = open_page(keyed_server).open()
    page = playground.page
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_be_hidden()
    page.get_by_role("button", name="Run").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.type(KEY)
    page.keyboard.press("Enter")
    expect(page.locator(".answer")).to_have_count(3)


def test_refusals_in_the_manner_of_the_contract_mode_find_their_fields(open_page: OpenPage, keyed_server: str) -> None:
    playground = open_page(keyed_server).open()
    playground.page.get_by_label("API key").fill(KEY)
    playground.page.keyboard.press("Enter")
    field = playground.question("urgency").get_by_label("Question", exact=True)
    field.fill("")
    detail: list[dict[str, Any]] = playground.run()["detail"]
    assert detail[0]["loc"][:3] == ["body", "questions", "urgency"]
    urgency = playground.question("urgency")
    expect(urgency.locator("[aria-invalid=true]")).to_have_count(1)
    expect(urgency).to_contain_text(detail[0]["msg"])


def test_in_the_contract_mode_routing_is_read_from_the_headers(open_page: OpenPage, keyed_server: str) -> None:
    headers = {"authorization": f"Bearer {KEY}"}
    body = {"state": "x", "questions": {"q": {"type": "noul", "instructions": "Is it?"}}, "model": "mini"}
    answer = httpx.post(f"{keyed_server}/v1/systemone", json=body, headers=headers)
    assert "routing" not in answer.json()
    playground = open_page(keyed_server).open()
    playground.page.get_by_label("API key").fill(KEY)
    playground.page.keyboard.press("Enter")
    playground.ask(body)
    routing = playground.page.get_by_role("region", name="Routing")
    expect(routing).to_contain_text(f"Answered by {answer.headers['x-laya-model']}")
    expect(routing).to_contain_text(answer.headers["x-laya-route-reason"])


def test_curl_reads_the_key_from_the_environment(open_page: OpenPage, keyed_server: str) -> None:
    playground = open_page(keyed_server).open()
    playground.page.keyboard.press("Escape")
    playground.page.get_by_label("Checkpoint").locator("option").first.wait_for(state="attached")
    command = playground.page.locator("#curl-text").inner_text()
    environment = {**os.environ, "LAYA_API_KEY": KEY}
    done = subprocess.run(["sh", "-c", command], capture_output=True, env=environment, timeout=60, check=True)
    assert set(json.loads(done.stdout)["answers"]) == {"team", "urgency", "refund"}
