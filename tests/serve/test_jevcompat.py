"""`jevcompat`, a conformance suite for TypeSafe's API, against every wire mode of the real server."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .client_environments import SDK
from .server_process import ServerProcess

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture
def check(
    client_commands: Callable[[tuple[str, ...]], Path], tmp_path: Path
) -> Callable[..., dict[str, dict[str, Any]]]:
    """Run the suite; its results by requirement."""

    def run(server: ServerProcess, *arguments: str) -> dict[str, dict[str, Any]]:
        report = tmp_path / "report.json"
        command = [client_commands(SDK) / "jevcompat", "test", server.url, "--json", report, *arguments]
        subprocess.run(command, capture_output=True, timeout=850, check=False)
        content = json.loads(report.read_text(encoding="utf-8"))
        assert content["aborted"] is None and not content["case_errors"] and not content["inconclusive"], content
        return {result["id"]: result for result in content["results"]}

    return run


def counts(results: dict[str, dict[str, Any]], level: str) -> tuple[int, int]:
    """How many requirements of a level passed, and how many applied."""
    statuses = [result["status"] for result in results.values() if result["level"] == level]
    return statuses.count("pass"), len(statuses) - statuses.count("skip")


def failed(results: dict[str, dict[str, Any]], level: str) -> dict[str, Any]:
    return {
        name: result["findings"]
        for name, result in results.items()
        if result["level"] == level and result["status"] not in ("pass", "skip")
    }


def test_the_contract_without_a_key(serve: Callable[..., ServerProcess], check: Callable[..., Any]) -> None:
    results = check(serve(jev_strict="contract"))
    assert failed(results, "MUST") == failed(results, "SHOULD") == {}
    assert (counts(results, "MUST"), counts(results, "SHOULD")) == ((32, 32), (13, 13))


def test_the_contract_with_a_key(serve: Callable[..., ServerProcess], check: Callable[..., Any]) -> None:
    results = check(serve(jev_strict="contract", api_key="a-key"), "--key", "a-key")
    assert failed(results, "MUST") == failed(results, "SHOULD") == {}
    assert (counts(results, "MUST"), counts(results, "SHOULD")) == ((32, 32), (15, 15))


@pytest.mark.parametrize("strict", ["0", "1"])
def test_the_other_modes_miss_nothing_but_what_their_limits_forbid(
    serve: Callable[..., ServerProcess], check: Callable[..., Any], strict: str
) -> None:
    results = check(serve(jev_strict=strict))
    assert set(failed(results, "MUST")) == {"choice.options"}
