"""What routing costs and how well it tells English from other languages.

Marks: a decision about a 60-word ticket under 1 ms median, warm; `import laya_router` under 0.2 s and no torch.
The published package's rates are told beside ours where `PEER_PYTHON` names a Python that has it installed.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from laya_hooks.testing import plugged
from laya_router import Router

TEXTS = Path(__file__).parents[1] / "language"
ROUTE_SECONDS = 1e-3
IMPORT_SECONDS = 0.2
IMPORT = (
    "import sys, time; start = time.perf_counter(); import laya_router; "
    "print(time.perf_counter() - start, 'torch' in sys.modules, 'py3langid' in sys.modules)"
)
PEER = (
    "import json, sys; from laya import Router; router = Router(); "
    "print(json.dumps([router.route(json.loads(line)['text'])['model'] == 'english' for line in open(sys.argv[1])]))"
)

# 60 words each and no two alike, so that nothing a router might remember of one helps with the next.
TICKETS = [
    f"Hello, my order number {number} was supposed to arrive on Tuesday but the tracking page still says it is in the "
    f"warehouse in Leeds. I called twice and nobody there could tell me where parcel {number} is. I need it before "
    f"Friday, it is a birthday present for my son. Please check with the driver today, or else refund it."
    for number in range(500)
]


def test_a_route_of_a_ticket(benchmark: Any) -> None:
    with plugged():
        router, tickets = Router(), cycle(TICKETS)
        benchmark.pedantic(lambda: router.route(next(tickets)), rounds=500, warmup_rounds=20)
    assert float(benchmark.stats["median"]) < ROUTE_SECONDS


def test_the_import() -> None:
    runs = [
        subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True).stdout.split()
        for _ in range(5)
    ]
    print(f"\nimport laya_router: {statistics.median(float(run[0]) for run in runs):.3f} s")
    assert statistics.median(float(run[0]) for run in runs) < IMPORT_SECONDS
    assert all(run[1:] == ["False", "False"] for run in runs)


@pytest.mark.parametrize("name", ["dev", "heldout"])
def test_the_error_rates(name: str) -> None:
    path = TEXTS / f"lang_{name}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    router = Router()
    print(f"\n{name}, ours: {rates(rows, [router.route(row['text']).model == 'english' for row in rows])}")
    peer = os.environ.get("PEER_PYTHON")
    if peer:
        run = subprocess.run([peer, "-c", PEER, str(path)], capture_output=True, text=True, check=True)
        print(f"{name}, peer: {rates(rows, json.loads(run.stdout.splitlines()[-1]))}")


def rates(rows: list[dict[str, Any]], called_english: list[bool]) -> str:
    english = [called for row, called in zip(rows, called_english, strict=True) if row["english"]]
    foreign = [called for row, called in zip(rows, called_english, strict=True) if not row["english"]]
    missed, leaked = english.count(False), foreign.count(True)
    return (
        f"accuracy {1 - (missed + leaked) / len(rows):.3f}, English sent away {missed}/{len(english)} "
        f"({missed / len(english):.1%}), foreign kept {leaked}/{len(foreign)} ({leaked / len(foreign):.1%})"
    )
