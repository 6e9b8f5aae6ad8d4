"""Takes the pictures of the documentation: python tests/browser/screenshots.py [FOLDER].

The font Inter (Debian: fonts-inter) makes them look as on most desktops.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from chromium import chromium
from playground_page import Playground
from playwright.sync_api import Browser
from server_process import laya_server

_WIDE: Final[Mapping[str, int]] = {"width": 1280, "height": 880}
_NARROW: Final[Mapping[str, int]] = {"width": 400, "height": 820}


def take_all(browser: Browser, address: str, folder: Path) -> None:
    """Write every picture into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for scheme in ("light", "dark"):
        with_answers(browser, address, folder / f"playground-{scheme}.png", _WIDE, color_scheme=scheme)
    with_answers(browser, address, folder / "playground-narrow.png", _NARROW, color_scheme="light")
    with_mistake(browser, address, folder / "playground-json.png")


def with_answers(browser: Browser, address: str, path: Path, size: Mapping[str, int], **context: Any) -> None:
    """The first example and its answers."""
    playground = Playground(browser, address, reduced_motion="reduce", **context).open()
    playground.page.set_viewport_size(dict(size))  # type: ignore[arg-type]
    playground.page.get_by_label("Checkpoint").select_option("mini")
    playground.run()
    playground.page.screenshot(path=path)
    playground.close()


def with_mistake(browser: Browser, address: str, path: Path) -> None:
    """The JSON view with a mistake."""
    playground = Playground(browser, address, color_scheme="light").open()
    playground.write_json(playground.json_text.replace('"score",', '"score"'))
    playground.page.get_by_role("heading", name="Request").click()
    playground.page.locator(".request").screenshot(path=path)
    playground.close()


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "docs" / "images"
    with laya_server() as server, chromium() as started:
        take_all(started, server, target)
