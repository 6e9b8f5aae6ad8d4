from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from laya_serve.limits import Limits


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, child in value.items():
            if key == "$ref":
                yield child
            yield from references(child)
    elif isinstance(value, list):
        for child in value:
            yield from references(child)


@pytest.mark.parametrize("strict", ["0", "1", "contract"])
def test_the_description_names_every_route_and_every_schema_it_refers_to(
    client_of: Callable[..., TestClient], strict: str
) -> None:
    document = client_of(jev_strict=strict).get("/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert set(document["paths"]) == {"/v1/systemone", "/v1/systemone/batch", "/v1/models", "/health"}
    schemas = document["components"]["schemas"]
    named = {reference.removeprefix("#/components/schemas/") for reference in references(document)}
    assert named == set(schemas)


def test_limits_and_errors_of_the_description_are_those_of_the_server(client_of: Callable[..., TestClient]) -> None:
    document = client_of(tournament_group=16, max_token_budget=99, root_path="/laya").get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    labelled, listed = schemas["Choice"]["properties"]["criteria"]["anyOf"]
    assert labelled["maxProperties"] == listed["maxItems"] == 255
    assert schemas["Questions"]["maxProperties"] == Limits().questions
    assert schemas["BatchRequest"]["properties"]["states"]["maxItems"] == Limits().states
    assert schemas["SystemOneRequest"]["properties"]["max_len"]["anyOf"][0]["maximum"] == 99
    responses = document["paths"]["/v1/systemone"]["post"]["responses"]
    assert set(responses) == {"200", "400", "408", "413", "422", "500", "503"}
    assert document["servers"] == [{"url": "/laya"}]


def test_the_shape_of_answers_and_errors_follows_the_wire_mode(client_of: Callable[..., TestClient]) -> None:
    def schemas(strict: str) -> Any:
        return client_of(jev_strict=strict).get("/openapi.json").json()["components"]["schemas"]

    assert "routing" in schemas("0")["Result"]["required"]
    assert schemas("1")["Result"]["required"] == ["model", "answers", "usage"]
    assert schemas("1")["NoulAnswer"]["required"] == ["type", "noul"]
    assert schemas("contract")["Noul"]["required"] == ["type"]
    assert schemas("0")["Error"]["properties"]["detail"]["type"] == "string"
    assert "anyOf" in schemas("contract")["Error"]["properties"]["detail"]


def test_the_page_shows_every_operation_and_loads_nothing_from_elsewhere(client: TestClient) -> None:
    response = client.get("/docs")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    for path in client.get("/openapi.json").json()["paths"]:
        assert path in response.text
    assert "<script" not in response.text
    links = re.findall(r'(?:href|src)="([^"]*)"', response.text)
    assert links and all(link.startswith("#") or link == "openapi.json" for link in links)
    anchors = {link[1:] for link in links if link.startswith("#")}
    assert anchors <= set(re.findall(r'id="([^"]*)"', response.text))


def test_a_server_with_a_key_describes_itself_to_nobody(client_of: Callable[..., TestClient]) -> None:
    client = client_of(api_key="key")
    for path in ("/openapi.json", "/docs"):
        assert client.get(path).status_code == 401
        assert client.get(path, headers={"authorization": "Bearer key"}).status_code == 404
