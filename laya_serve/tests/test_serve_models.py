from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

NAMED = {"english": "org/english", "en": "org/english", "other": "org/other", "o": "org/other"}


@pytest.fixture
def listing(client_of: Callable[..., TestClient], router: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr("laya_serve.app.named_checkpoints", lambda: NAMED)
    router.resident = {"mine": SimpleNamespace()}
    return client_of().get("/v1/models").json()


def test_checkpoints_and_aliases_are_listed_as_openai_clients_read_them(listing: Any) -> None:
    assert listing["data"] == [
        {
            "id": "english",
            "object": "model",
            "owned_by": "laya",
            "checkpoint": "english",
            "description": "reads English",
            "loaded": False,
        },
        {
            "id": "mine",
            "object": "model",
            "owned_by": "laya",
            "checkpoint": "mine",
            "description": "a checkpoint of this server",
            "loaded": True,
        },
        {
            "id": "en",
            "object": "model",
            "owned_by": "laya",
            "checkpoint": "english",
            "description": "another name of english: reads English",
            "loaded": False,
        },
    ]


def test_the_same_names_are_listed_as_typesafes_client_reads_them(listing: Any) -> None:
    assert [model["name"] for model in listing["models"]] == ["english", "mine", "en"]
    assert all(set(model) == {"name", "description", "release_date"} for model in listing["models"])


def test_an_alias_follows_its_checkpoint_when_that_is_pointed_elsewhere(
    client_of: Callable[..., TestClient], router: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("laya_serve.app.named_checkpoints", lambda: NAMED)
    router.registered = lambda: {"english": "./own"}
    listed = client_of().get("/v1/models").json()["data"]
    assert {model["id"]: model["checkpoint"] for model in listed} == {"english": "english", "en": "english"}
