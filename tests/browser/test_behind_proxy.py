"""The server behind nginx and Caddy, configured as deploy/ and the documentation show, under a prefix."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import httpx
import pytest
from playground_page import Playground
from reverse_proxy import reverse_proxy
from server_process import laya_server


@pytest.fixture(scope="module")
def prefixed_server() -> Iterator[str]:
    with laya_server({"LAYA_ROOT_PATH": "/laya"}) as address:
        yield address


@pytest.fixture(scope="module", params=["nginx", "caddy"])
def proxy(
    request: pytest.FixtureRequest, prefixed_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    with reverse_proxy(request.param, prefixed_server, tmp_path_factory.mktemp(request.param)) as address:
        yield address


def test_clients_use_the_prefix(proxy: str) -> None:
    body = {"state": "x", "questions": {"q": {"type": "noul", "instructions": "Is it?"}}, "model": "mini"}
    answer = httpx.post(f"{proxy}/laya/v1/systemone", json=body, headers={"x-request-id": "ticket-7"})
    assert (answer.status_code, answer.headers["x-request-id"]) == (200, "ticket-7")
    assert set(answer.json()["answers"]) == {"q"}
    assert httpx.get(f"{proxy}/laya/health").json()["status"] == "ok"


def test_a_body_that_is_too_large_is_refused_by_the_server_with_its_message(proxy: str) -> None:
    answer = httpx.post(f"{proxy}/laya/v1/systemone", content=b'"' + b"x" * 3_000_000 + b'"')
    assert answer.status_code == 413
    assert "body" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/laya/", "/laya"])
def test_the_page_works_below_the_prefix(open_page: Callable[..., Playground], proxy: str, path: str) -> None:
    playground = open_page(proxy + path).open()
    assert set(playground.run()["answers"]) == {"team", "urgency", "refund"}
    assert f"{proxy}/laya/v1/systemone" in playground.page.locator("#curl-text").inner_text()
    assert {url for url in playground.requested if "/laya" not in url} == set()


def test_the_page_works_at_its_own_address_too_as_far_as_it_is_published(prefixed_server: str) -> None:
    page = httpx.get(f"{prefixed_server}/").text
    assert 'src="/laya/playground/main.js"' in page
