from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from laya_hooks import clear_default_hooks, restore_plugin_hooks
from laya_serve import Settings, create_app


class StubRouter:
    """Notes what it is asked and answers with it, or raises `failure`; `answer` makes the result of a request."""

    default = "english"

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.batches: list[dict[str, Any]] = []
        self.failure: BaseException | None = None
        self.answer: Callable[[dict[str, Any]], dict[str, Any]] = lambda request: {
            "model": "stub",
            "answers": {},
            "usage": {"input_tokens": 3, "output_tokens": 0},
            "routing": {"model": "english", "reason": "English Latin text"},
        }
        self.resident: dict[str, Any] = {}
        self.preloaded: list[list[str]] = []
        self.unloads = 0
        self.unreachable: dict[str, Exception] = {}

    @property
    def loaded(self) -> list[str]:
        return list(self.resident)

    def registered(self) -> dict[str, Any]:
        return {"english": "org/english", "mine": "./mine"}

    def describe(self, name: str) -> str | None:
        if name not in self.registered():
            raise ValueError(f"unknown model {name!r}; known are english, mine and their aliases")
        return "reads English" if name == "english" else None

    def agents(self) -> dict[str, Any]:
        return self.resident

    def preload(self, names: Any) -> None:
        for name in names:
            if name in self.unreachable:
                raise self.unreachable[name]
        self.preloaded.append(list(names))

    def unload(self, name: str | None = None) -> None:
        self.unloads += 1
        self.resident = {}

    def predict(self, state: Any, questions: Any, **controls: Any) -> dict[str, Any]:
        request = {"state": state, "questions": questions, **controls}
        self.asked.append(request)
        if self.failure is not None:
            raise self.failure
        return self.answer(request)

    def predict_batch(self, requests: list[dict[str, Any]], **controls: Any) -> list[dict[str, Any]]:
        self.batches.append({"requests": requests, **controls})
        if self.failure is not None:
            raise self.failure
        return [self.answer(request) for request in requests]


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
