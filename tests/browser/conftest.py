"""The browser, the servers, and the open page of each test."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from chromium import chromium
from playground_page import Playground
from playwright.sync_api import Browser
from server_process import KEY, laya_server


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The address of a server without a key."""
    with laya_server() as address:
        yield address


@pytest.fixture(scope="session")
def keyed_server() -> Iterator[str]:
    """The address of a server with the key KEY that speaks the contract mode."""
    with laya_server({"LAYA_API_KEY": KEY, "LAYA_PLAYGROUND": "1", "LAYA_JEV_STRICT": "contract"}) as address:
        yield address


# Of a module, not of the session: while playwright's synchronous API is open, no test could use asyncio.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Callable[..., Playground]]:
    """Opens pages, and checks at the end that none complained or asked another host."""
    with ExitStack() as stack:
        pages: list[Playground] = []

        def make(address: str, **context: Any) -> Playground:
            page = Playground(browser, address, **context)
            stack.callback(page.close)
            pages.append(page)
            return page

        yield make
        assert [complaint for page in pages if not page.may_complain for complaint in page.complaints] == []
        assert [host for page in pages if not page.may_complain for host in page.other_hosts] == []


@pytest.fixture
def playground(open_page: Callable[..., Playground], server: str) -> Playground:
    """The page of the server without a key, loaded."""
    return open_page(server).open()
