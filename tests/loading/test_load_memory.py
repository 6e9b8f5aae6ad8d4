"""What a load costs in memory, and that it draws no random number, on checkpoints of a size that shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
MOST = 1.3
LOADS = [("float32", "float32"), ("float32", "bfloat16"), ("float16", "float32"), ("float16", "float16")]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="needs the peak counter of Linux"),
]


def run(script: str, *arguments: object) -> str:
    # glibc gives freed blocks of this size back to the system at once, so that one load cannot use those of another.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    finished = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory, parity_checkpoints: Path) -> dict[tuple[str, str], Any]:
    """What each of the loads did: from a file in one format, in a precision."""
    small, large = parity_checkpoints / "modernbert", tmp_path_factory.mktemp("large")
    run("checkpoint.py", small, large)
    arguments = [argument for stored, precision in LOADS for argument in (large / stored, precision)]
    return dict(zip(LOADS, json.loads(run("measure.py", small, *arguments)), strict=True))


@pytest.mark.parametrize(("stored", "precision"), LOADS)
def test_a_load_and_the_first_call_grow_by_little_more_than_the_weights(
    stored: str, precision: str, measured: dict[tuple[str, str], Any]
) -> None:
    load = measured[stored, precision]
    assert load["weights"] > 60_000_000
    assert load["growth"] <= MOST * load["weights"]
    assert load["rng_untouched"] is True
