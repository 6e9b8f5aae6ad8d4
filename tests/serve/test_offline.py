"""The real server with nothing but the embedded checkpoint, and no way to the Hub."""

from __future__ import annotations

from pathlib import Path

import pytest

from .raw import question
from .server_process import real_server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_a_text_for_a_checkpoint_out_of_reach_is_a_503_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path))  # a cache with nothing in it
    german = question("Ich wurde diesen Monat zweimal belastet und möchte mein Geld zurück.")
    with real_server(tmp_path / "server.log", preload=0, extra_models="") as server, server.client() as client:
        response = client.post("/v1/systemone", json=german)
        assert (response.status_code, response.headers["retry-after"]) == (503, "60")
        detail = response.json()["detail"]
        assert "the checkpoint 'multilingual'" in detail and 'send "model": "mini"' in detail
        assert str(tmp_path) not in detail and str(tmp_path) in server.log
        assert client.post("/v1/systemone", json={**german, "model": "mini"}).status_code == 200
