from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from laya_hooks import clear_default_hooks, restore_plugin_hooks
from laya_serve import Settings, create_app


class StubRouter:
    """Notes what it is asked and answers with it, or raises `failure`."""

    default = "english"

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.failure: BaseException | None = None
        self.resident: dict[str, Any] = {}
        self.preloaded: list[list[str]] = []
        self.unreachable: dict[str, Exception] = {}

    def registered(self) -> dict[str, Any]:
        return {"english": "org/english", "mine": "./mine"}

    def agents(self) -> dict[str, Any]:
        return self.resident

    def preload(self, names: Any) -> None:
        for name in names:
            if name in self.unreachable:
                raise self.unreachable[name]
        self.preloaded.append(list(names))

    def predict(self, state: Any, questions: Any, **controls: Any) -> dict[str, Any]:
        self.asked.append({"state": state, "questions": questions, **controls})
        if self.failure is not None:
            raise self.failure
        return {"model": "stub", "answers": {}, "routing": {"model": "english"}}


@pytest.fixture
def router() -> StubRouter:
    return StubRouter()


@pytest.fixture
def client_of(router: StubRouter) -> Callable[..., TestClient]:
    def make(**settings: Any) -> TestClient:
        return TestClient(create_app(router, Settings(**settings)))  # type: ignore[arg-type]

    return make


@pytest.fixture
def client(client_of: Callable[..., TestClient]) -> TestClient:
    return client_of()


@pytest.fixture(autouse=True)
def no_plugin_hooks() -> Iterator[None]:
    clear_default_hooks()
    yield
    clear_default_hooks()
    restore_plugin_hooks()
