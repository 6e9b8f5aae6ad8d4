"""`schemathesis`, which makes up requests from /openapi.json, valid ones and others: no 5xx, no mismatch.

One check is left out: that every request which fits the schema is accepted. What the core refuses beyond it, an unknown
task or option texts that exceed the question's token budget, no schema can say.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from .client_environments import SCHEMATHESIS
from .server_process import ServerProcess

CONFIGURATION = Path(__file__).with_name("schemathesis.toml")

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.mark.parametrize(
    ("strict", "phases", "examples"), [("0", "examples,coverage,fuzzing", 20), ("contract", "examples,fuzzing", 5)]
)
def test_the_server_keeps_to_its_own_description(
    serve: Callable[..., ServerProcess],
    client_commands: Callable[[tuple[str, ...]], Path],
    tmp_path: Path,
    strict: str,
    phases: str,
    examples: int,
) -> None:
    server = serve(jev_strict=strict)
    command = client_commands(SCHEMATHESIS) / "schemathesis"
    run = subprocess.run(
        [
            *(command, "--config-file", CONFIGURATION, "run", f"{server.url}/openapi.json"),
            *("--phases", phases, "--max-examples", str(examples), "--seed", "1"),
            *("--checks", "all", "--exclude-checks", "positive_data_acceptance", "--request-timeout", "120"),
            *("--generation-database", "none", "--suppress-health-check", "all", "--no-color"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=850,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-5000:] + run.stderr
    assert "Tested: 4" in run.stdout
