"""What the server itself costs: a stub router behind it, one client, then `wrk` with 16, then a minute of trouble.

    python tests/benchmarks/bench_server.py [--seconds 10] [--trouble-seconds 60]

Prints one JSON object: milliseconds at the median and at p99 with one client; requests per second of 16 clients of
`wrk`, with and without the access log; seconds from the start of the real server to its first answer; and for a
crowd of 64 clients, of which a quarter make trouble, milliseconds of /health and the growth of memory after the
first quarter.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.serve.raw import question
from tests.serve.server_process import ServerProcess, real_server, stub_server
from tests.serve.test_load import CLIENTS, SLOTS, Crowd, resident_bytes

BODY = json.dumps(
    {
        "state": "I was charged twice this month, I want my money back",
        "questions": {f"q{number}": {"type": "noul", "instructions": "Is it urgent?"} for number in range(3)},
    }
)
WRK_SCRIPT = f"""
wrk.method = "POST"
wrk.body = {json.dumps(BODY)}
wrk.headers["Content-Type"] = "application/json"
"""


def milliseconds(durations: list[float]) -> dict[str, float]:
    ordered = sorted(durations)
    return {
        "p50_ms": round(1000 * statistics.median(ordered), 3),
        "p99_ms": round(1000 * ordered[int(len(ordered) * 0.99)], 3),
    }


def one_client(server: ServerProcess, seconds: float) -> dict[str, float]:
    """One client on a kept connection."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    durations = []
    end = time.perf_counter() + seconds
    while (started := time.perf_counter()) < end:
        connection.request("POST", "/v1/systemone", BODY)
        response = connection.getresponse()
        response.read()
        assert response.status == 200
        durations.append(time.perf_counter() - started)
    return milliseconds(durations[len(durations) // 10 :])


def wrk(server: ServerProcess, seconds: float, folder: Path) -> float | None:
    """Requests per second of 16 clients; None where `wrk` is not installed."""
    command = shutil.which("wrk")
    if command is None:
        return None
    script = folder / "post.lua"
    script.write_text(WRK_SCRIPT, encoding="utf-8")
    url = f"{server.url}/v1/systemone"
    arguments = [command, "-t", "1", "-c", "16", "-d", f"{seconds:.0f}s", "-s", str(script), url]
    output = subprocess.run(arguments, capture_output=True, text=True, check=True).stdout
    assert "Non-2xx" not in output, output
    found = re.search(r"Requests/sec:\s+([\d.]+)", output)
    assert found is not None, output
    return float(found[1])


def first_answer(folder: Path) -> float:
    """Seconds from the start of the real server to its first answer."""
    started = time.perf_counter()
    with real_server(folder / "real.log", models="mini") as server, server.client() as client:
        assert client.post("/v1/systemone", json=question("Hello, is it urgent?")).status_code == 200
        return time.perf_counter() - started


def health_checks(port: int, seconds: float) -> list[float]:
    """Seconds that each of a row of checks of /health took, one every 10 ms."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    durations = []
    end = time.perf_counter() + seconds
    while (started := time.perf_counter()) < end:
        connection.request("GET", "/health")
        response = connection.getresponse()
        response.read()
        assert response.status == 200
        durations.append(time.perf_counter() - started)
        time.sleep(0.01)
    return durations


def trouble(server: ServerProcess, seconds: float, *, patient: bool) -> dict[str, object]:
    """A crowd with faults: how quick /health stays, and how memory grows.

    Args:
        patient: clients wait as the `Retry-After` of a 503 asks; else they ask again at once.
    """
    # Another process asks: in this one the threads of the crowd would keep it from reading the answers.
    with (
        ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as processes,
        Crowd(server, CLIENTS, patient=patient) as crowd,
    ):
        durations = processes.submit(health_checks, server.port, seconds)
        time.sleep(seconds / 4)
        warm = resident_bytes(server)
        checked = milliseconds(durations.result())
        growth = resident_bytes(server) / warm
    return {
        "health": checked,
        "memory_growth": round(growth, 3),
        "statuses": dict(crowd.statuses),
        "trouble": dict(crowd.trouble),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--trouble-seconds", type=float, default=60)
    arguments = parser.parse_args()
    report: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with stub_server(folder / "stub.log", log_level="warning") as server:
            report["one client"] = one_client(server, arguments.seconds)
            report["16 clients of wrk, requests/s"] = wrk(server, arguments.seconds, folder)
        with stub_server(folder / "logging.log") as server:
            report["the same with the access log"] = wrk(server, arguments.seconds, folder)
        report["first answer, s"] = round(first_answer(folder), 2)
        for patient in (True, False) if arguments.trouble_seconds else ():
            with stub_server(
                folder / "trouble.log", log_level="critical", max_concurrent=SLOTS, body_read_timeout=0.5
            ) as server:
                label = "64 clients with faults" + ("" if patient else ", all of them impatient")
                report[label] = trouble(server, arguments.trouble_seconds, patient=patient)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
