from __future__ import annotations

import re
from importlib.resources import files

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from laya_serve.playground import playground_routes

FILES = sorted(entry.name for entry in files("laya_serve.playground").joinpath("page").iterdir())
LINKED = re.compile(r"""(?:href|src)="([^"#]+)\"""")
IMPORTED = re.compile(r"""from "\./([^"]+)\"""")


def client_of(**options: object) -> TestClient:
    return TestClient(Starlette(routes=playground_routes(**options)))  # type: ignore[arg-type]


def test_the_page_is_html_under_a_strict_content_security_policy() -> None:
    response = client_of().get("/")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(part.split(" ", 1) for part in response.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in response.headers["content-security-policy"]
    assert policy["frame-ancestors"] == "'none'"


def test_everything_the_page_links_is_served_with_its_type() -> None:
    client = client_of()
    linked = LINKED.findall(client.get("/").text)
    assert len(linked) > 4
    types = {name: client.get(name).headers["content-type"].partition(";")[0] for name in linked}
    expected = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
    assert types == {name: expected[name.rpartition(".")[2]] for name in linked}


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".js")])
def test_modules_import_files_that_are_there(name: str) -> None:
    text = client_of().get(f"/playground/{name}").text
    assert set(IMPORTED.findall(text)) <= set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_no_file_names_another_host_or_brings_inline_code(name: str) -> None:
    text = files("laya_serve.playground").joinpath("page", name).read_text(encoding="utf-8")
    hosts = set(re.findall(r"https?://[^\s\"'`]+", text)) - {"http://www.w3.org/2000/svg"}
    assert hosts == set()
    assert re.findall(r"<style|\sstyle=|\son\w+=\"|javascript:|innerHTML|insertAdjacentHTML", text) == []


def test_links_are_relative_unless_a_prefix_is_set() -> None:
    assert all(not link.startswith("/") for link in LINKED.findall(client_of().get("/").text))
    under_prefix = client_of(root_path="/tools/laya").get("/").text
    assert 'data-base="/tools/laya/"' in under_prefix
    assert all(link.startswith("/tools/laya/playground/") for link in LINKED.findall(under_prefix))


def test_a_prefix_cannot_break_out_of_its_attribute() -> None:
    page = client_of(root_path='/a"><script>').get("/").text
    assert '"><script>' not in page
    assert "/a&quot;&gt;&lt;script&gt;/" in page


@pytest.mark.parametrize(("asks", "need"), [(True, "required"), (False, "none")])
def test_the_page_says_whether_the_server_has_a_key(asks: bool, need: str) -> None:
    assert f'data-key="{need}"' in client_of(asks_for_key=asks).get("/").text


def test_a_file_that_has_not_changed_is_not_sent_again() -> None:
    client = client_of()
    first = client.get("/playground/main.js")
    for tag in (first.headers["etag"], f"W/{first.headers['etag']}", f'"other", {first.headers["etag"]}'):
        again = client.get("/playground/main.js", headers={"if-none-match": tag})
        assert (again.status_code, again.content) == (304, b"")
    assert client.get("/playground/main.js", headers={"if-none-match": '"other"'}).content == first.content


@pytest.mark.parametrize(
    "path", ["/playground/", "/playground/routes.py", "/playground/../settings.py", "/playground/index.html"]
)
def test_nothing_but_the_files_of_the_page_is_served(path: str) -> None:
    assert client_of().get(path).status_code == 404


def test_the_page_is_public_to_the_bearer_check() -> None:
    assert all(route.public is True for route in playground_routes())  # type: ignore[attr-defined]
