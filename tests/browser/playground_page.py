"""The playground as somebody who uses it sees it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, Locator, Page

PATIENCE_MS = 30_000  # other work may keep the machine busy


class Playground:
    """An open page, with note of what it asked for and what it complained about."""

    def __init__(self, browser: Browser, address: str, **context: Any) -> None:
        self.address = address
        self.context: BrowserContext = browser.new_context(viewport={"width": 1280, "height": 900}, **context)
        self.context.set_default_timeout(PATIENCE_MS)
        self.page: Page = self.context.new_page()
        self.complaints: list[str] = []
        self.may_complain = False
        self.requested: list[str] = []
        self.page.on("console", lambda message: self._note_console(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        self.context.on("request", lambda request: self.requested.append(request.url))

    def _note_console(self, kind: str, text: str) -> None:
        # Chromium reports every status of 400 and above; a refusal by the server is no mistake of the page.
        if kind in ("error", "warning") and not text.startswith("Failed to load resource: the server responded"):
            self.complaints.append(f"{kind}: {text}")

    def open(self) -> Playground:
        """Load the page and wait until it is ready to be used."""
        self.page.goto(self.address)
        self.page.locator("#questions .question").first.wait_for()
        return self

    def close(self) -> None:
        self.context.close()

    @property
    def other_hosts(self) -> set[str]:
        """Whom the page asked besides the server it came from."""
        own = urlsplit(self.address).netloc
        return {urlsplit(url).netloc for url in self.requested} - {own}

    def example(self, title: str) -> None:
        self.page.get_by_role("button", name=title).click()

    def show(self, view: str) -> None:
        """Show the request as Form or JSON."""
        self.page.get_by_role("tablist", name="View of the request").get_by_role("tab", name=view).click()

    @property
    def json_text(self) -> str:
        return self.page.locator("#json").input_value()

    @property
    def body(self) -> Any:
        """The request as the JSON view has it."""
        return json.loads(self.json_text)

    def write_json(self, text: str) -> None:
        self.show("JSON")
        self.page.get_by_label("Request as JSON").fill(text)

    def ask(self, body: Any) -> dict[str, Any]:
        """Send this request from the JSON view and return what the server answered."""
        self.write_json(json.dumps(body, ensure_ascii=False))
        return self.run()

    def run(self, press: str | None = "Control+Enter") -> dict[str, Any]:
        """Run, with keys or (None) the button, and return what the server answered once it is shown."""
        with self.page.expect_response(lambda response: response.request.method == "POST") as answered:
            if press is None:
                self.page.get_by_role("button", name="Run").click()
            else:
                self.page.keyboard.press(press)
        body: dict[str, Any] = answered.value.json()
        self.page.locator("#results:not([aria-busy]) > *").first.wait_for()
        return body

    def question(self, name: str) -> Locator:
        """The card of a question."""
        return self.page.get_by_role("group", name=f"Question {name}", exact=True)

    def answer(self, name: str) -> Locator:
        """The card of an answer."""
        return self.page.locator(".answer").filter(has=self.page.get_by_role("heading", name=name, exact=True))

    def bars(self, name: str) -> dict[str, tuple[float, float]]:
        """The chart of an answer: what stands beside each bar, in per cent, and the length of the bar in per cent."""
        rows = self.answer(name).get_by_role("table").locator("tbody tr").all()
        return {
            row.locator("th").evaluate("cell => cell.firstChild.textContent"): (
                float(row.locator(".share").inner_text().rstrip("%")),
                row.locator(".fill").evaluate("bar => 100 * parseFloat(bar.style.inlineSize) / 100"),
            )
            for row in rows
        }

    @property
    def focused(self) -> str:
        """The accessible name of what has the focus."""
        return self.page.evaluate(
            """() => {
                const element = document.activeElement;
                const label = element.labels?.[0]?.textContent;
                return (element.getAttribute("aria-label") ?? label ?? element.textContent).trim();
            }"""
        )
