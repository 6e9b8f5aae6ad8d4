"""Loading, looks, and what a screen reader and a keyboard find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playground_page import Playground
from playwright.sync_api import Error, expect

OpenPage = Callable[..., Playground]


def background(playground: Playground) -> tuple[int, ...]:
    """The colour behind the page."""
    colour = playground.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return tuple(int(part) for part in colour.removeprefix("rgb(").rstrip(")").split(","))


def is_dark(playground: Playground) -> bool:
    return max(background(playground)) < 64


def violations(playground: Playground) -> list[str]:
    """What axe finds against WCAG 2.2 AA."""
    standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    options: dict[str, Any] = {"runOnly": standards, "resultTypes": ["violations"]}
    # The bars grow into place, and axe would look at colours of what is still moving.
    playground.page.evaluate(
        "() => Promise.all(document.getAnimations().map((moving) => moving.finished)).then(() => 0)"
    )
    found = Axe().run(playground.page, options=options)
    return [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in found.response["violations"]
        for node in rule["nodes"]
    ]


def test_the_page_starts_with_an_example_that_can_be_run(playground: Playground) -> None:
    expect(playground.page).to_have_title("Laya playground")
    expect(playground.page.get_by_label("State", exact=True)).to_have_value(
        playground.page.locator("#state").input_value()
    )
    assert "charged twice" in playground.page.locator("#state").input_value()
    assert [card.get_attribute("aria-label") for card in playground.page.locator(".question").all()] == [
        "Question team",
        "Question urgency",
        "Question refund",
    ]
    assert set(playground.run()["answers"]) == {"team", "urgency", "refund"}


def test_everything_comes_from_the_server_itself(playground: Playground) -> None:
    playground.run()
    assert len(playground.requested) > 10
    assert playground.other_hosts == set()


def test_the_browser_holds_the_page_to_its_policy(playground: Playground) -> None:
    asked_elsewhere = playground.page.evaluate(
        """() => new Promise((resolve) => {
            document.addEventListener("securitypolicyviolation", (event) => resolve(event.effectiveDirective));
            fetch("http://localhost:9/").catch(() => {});
        })"""
    )
    assert asked_elsewhere == "connect-src"
    with pytest.raises(Error, match="TrustedScript"):
        playground.page.evaluate("document.body.setAttribute('onclick', 'alert(1)')")
    with pytest.raises(Error, match="TrustedHTML"):
        playground.page.evaluate("document.body.innerHTML = '<b>bold</b>'")
    playground.may_complain = True  # Chromium reports each of these refusals


@pytest.mark.parametrize("state", ["</textarea><img src=x onerror=alert(1)>", "${base}", "\\u0000 \u202e עברית"])
def test_what_somebody_types_is_text_and_nothing_else(playground: Playground, state: str) -> None:
    label = "<b>bold</b>"
    question = {"type": "choice", "instructions": state, "criteria": [label, "b"]}
    playground.ask({"state": state, "questions": {label: question}, "model": "mini"})
    assert set(playground.bars(label)) == {label, "b"}
    playground.show("Form")
    assert playground.page.locator("#state").input_value() == state
    assert playground.page.locator("main b, main img").count() == 0


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_colours_follow_the_system(open_page: OpenPage, server: str, scheme: str, dark: bool) -> None:
    assert is_dark(open_page(server, color_scheme=scheme).open()) is dark


def test_the_button_changes_the_colours_and_the_choice_lasts(playground: Playground) -> None:
    button = playground.page.get_by_role("button", name="Colours")
    expect(button).to_have_accessible_name("Colours: system. Change")
    button.click()
    expect(button).to_have_accessible_name("Colours: light. Change")
    button.click()
    expect(button).to_have_accessible_name("Colours: dark. Change")
    assert is_dark(playground)
    playground.open()
    assert is_dark(playground)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_axe_finds_nothing_to_object_to(open_page: OpenPage, server: str, scheme: str, width: int) -> None:
    playground = open_page(server, color_scheme=scheme).open()
    playground.page.set_viewport_size({"width": width, "height": 900})
    assert violations(playground) == []
    playground.example("Prompt check")
    playground.run()
    playground.page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    assert violations(playground) == []
    playground.page.locator(".question textarea").first.fill("")
    playground.run()
    assert violations(playground) == []
    playground.write_json('{"state": }')
    assert violations(playground) == []


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_nothing_is_wider_than_the_window(open_page: OpenPage, server: str, width: int) -> None:
    playground = open_page(server).open()
    playground.page.set_viewport_size({"width": width, "height": 800})
    label = "unbreakable" * 30
    playground.ask(
        {"state": label, "questions": {label: {"type": "choice", "instructions": label, "criteria": [label, "b"]}}}
    )
    for view in ("JSON", "Form"):
        playground.show(view)
        assert playground.page.evaluate("document.documentElement.scrollWidth") <= width


def test_only_a_keyboard_is_needed(playground: Playground) -> None:
    page = playground.page
    page.keyboard.press("Tab")
    assert playground.focused == "Skip to the answers"
    order = []
    while playground.focused != "State":
        page.keyboard.press("Tab")
        order.append(playground.focused)
    assert order[:2] == ["Colours: system. Change", "Form"]
    page.keyboard.press("Control+A")
    page.keyboard.type("The delivery never came and I want my money back")
    for _ in range(2):
        page.keyboard.press("Tab")
    assert playground.focused == "Kind"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Control+A")
    page.keyboard.type("desk")
    answers = playground.run()["answers"]
    assert set(answers) == {"desk", "urgency", "refund"}
    expect(page.get_by_role("status")).to_contain_text("3 answers")
    assert playground.focused == "Name"


def test_tabs_are_one_stop_with_arrow_keys_inside(playground: Playground) -> None:
    form, source = (playground.page.get_by_role("tab", name=name, exact=True) for name in ("Form", "JSON"))
    form.focus()
    playground.page.keyboard.press("ArrowRight")
    expect(source).to_be_focused()
    expect(source).to_have_attribute("aria-selected", "true")
    expect(playground.page.get_by_label("Request as JSON")).to_be_visible()
    playground.page.keyboard.press("ArrowRight")
    expect(form).to_be_focused()
    expect(playground.page.locator("#json-panel")).to_be_hidden()
    assert source.get_attribute("tabindex") == "-1"


def test_what_has_the_focus_is_seen_to_have_it(playground: Playground) -> None:
    page = playground.page
    page.keyboard.press("Tab")
    seen = 0
    while playground.focused != "Run":
        page.keyboard.press("Tab")
        shown = page.evaluate(
            """() => {
                const element = document.activeElement;
                const drawn = element.matches(".choice input") ? element.nextElementSibling : element;
                const { outlineStyle, outlineWidth } = getComputedStyle(drawn);
                return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
            }"""
        )
        assert shown, playground.focused
        seen += 1
    assert seen > 20
