"""Serves a router that computes nothing: the server alone is what is under test.

A state may say how it is to be answered: {"wait": seconds} takes so long (and gives up when the request is cancelled),
{"fail": true} breaks.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import laya_hooks.providers
from laya_hooks import RequestCancelled, current_scope


class StubRouter:
    """A `RouterLike` that answers every question in the same way."""

    default = "stub"
    loaded: Sequence[str] = ()

    def registered(self) -> dict[str, Any]:
        return {"stub": "stub"}

    def describe(self, name: str) -> str | None:
        return None

    def agents(self) -> dict[str, Any]:
        return {}

    def preload(self, names: Any = None) -> None:
        pass

    def unload(self, name: str | None = None) -> None:
        pass

    def predict(self, state: Any, questions: Mapping[str, Any], **controls: Any) -> dict[str, Any]:
        if isinstance(state, dict):
            _behave(state)
        return {
            "model": "stub",
            "answers": {qid: {"type": "noul", "noul": 0.5, "confidence": 0.5} for qid in questions},
            "usage": {"input_tokens": 1, "output_tokens": 0},
            "routing": {"model": "stub", "reason": "there is one"},
        }

    def predict_batch(self, requests: Sequence[Mapping[str, Any]], **controls: Any) -> list[dict[str, Any]]:
        return [self.predict(**request) for request in requests]


def _behave(state: Mapping[str, Any]) -> None:
    if state.get("fail"):
        raise RuntimeError("as it was told")
    if state.get("wait"):
        cancelled = threading.Event()
        scope = current_scope()
        assert scope is not None
        scope.on_cancel(cancelled.set)
        if cancelled.wait(state["wait"]):
            raise RequestCancelled("the client left")


if __name__ == "__main__":
    from laya_serve.command import main

    laya_hooks.providers.make_router = lambda options=None: StubRouter()  # type: ignore[assignment, return-value]
    main()
