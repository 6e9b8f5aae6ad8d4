"""Many clients at once, well-behaved and otherwise: no slot leaks, no request hangs, memory stays flat."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from .raw import connected, head, question, request
from .server_process import ServerProcess

CLIENTS = 64
SLOTS = 32


class Crowd:
    """Clients that ask until they are told to stop, some of them making trouble.

    Args:
        patient: those who make no trouble wait as long as the `Retry-After` of a 503 asks them to.
    """

    def __init__(self, server: ServerProcess, clients: int, *, patient: bool = False) -> None:
        self.server = server
        self._patient = patient
        self.statuses: Counter[int] = Counter()
        self.trouble: Counter[str] = Counter()
        self._stop = threading.Event()
        self._lock = threading.Lock()  # guards both counters
        self._threads = [threading.Thread(target=self._client, args=(seed,)) for seed in range(clients)]

    def __enter__(self) -> Crowd:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(120)
        assert not any(thread.is_alive() for thread in self._threads), "a request hangs"

    def _client(self, seed: int) -> None:
        choose = random.Random(seed)
        with self.server.client() as client:
            while not self._stop.is_set():
                if choose.random() < 0.25:
                    self._make_trouble(choose)
                else:
                    self._ask(client, choose)

    def _ask(self, client: httpx.Client, choose: random.Random) -> None:
        body = choose.choice(
            [
                question({"wait": choose.random() / 100}),
                question("x" * choose.randrange(20_000)),
                question({"fail": True}),
                {"state": None, "questions": {}},
                {"state": "x" * 60_000, "questions": {}},
            ]
        )
        response = client.post("/v1/systemone", json=body)
        with self._lock:
            self.statuses[response.status_code] += 1
        if self._patient and "retry-after" in response.headers:
            self._stop.wait(float(response.headers["retry-after"]))

    def _make_trouble(self, choose: random.Random) -> None:
        kind = choose.choice(["leaves early", "leaves late", "nonsense", "slow"])
        sent = {
            "leaves early": head(100) + b'{"state',
            "leaves late": request(question({"wait": 5})),
            "nonsense": choose.randbytes(200),
            "slow": head(100),
        }[kind]
        try:
            with connected(self.server.port) as connection:
                connection.sendall(sent)
                if kind == "slow":
                    connection.recv(1)  # until the server has had enough
        except OSError:
            pass
        with self._lock:
            self.trouble[kind] += 1


def storm(server: ServerProcess, enough: Callable[[Crowd], bool]) -> Crowd:
    """Let the crowd run until it is enough, asking for health all the while."""
    with server.client() as client, Crowd(server, CLIENTS) as crowd:
        while not enough(crowd):
            assert client.get("/health").json() == {
                "status": "ok",
                "loaded": [],
                "revisions": {},
                "device": "auto",
                "device_is_preference": True,
                "checkpoint_devices": {},
                "cpu_fallbacks": {},
            }
    return crowd


def all_slots_are_free(server: ServerProcess) -> bool:
    """Whether as many requests as there are slots are answered at once."""
    together = threading.Barrier(SLOTS)
    statuses: list[int] = []

    def ask() -> None:
        with server.client() as client:
            client.get("/health")
            together.wait(60)
            statuses.append(client.post("/v1/systemone", json=question({"wait": 0.5})).status_code)

    asking = [threading.Thread(target=ask) for _ in range(SLOTS)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join(60)
    return statuses == [200] * SLOTS


def resident_bytes(server: ServerProcess) -> int:
    assert server.process is not None
    status = Path(f"/proc/{server.process.pid}/status").read_text(encoding="ascii")
    return 1024 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


def test_a_crowd_with_faults_leaves_no_trace(stub: Callable[..., ServerProcess]) -> None:
    server = stub(max_concurrent=SLOTS, body_read_timeout=0.5, log_level="critical")
    crowd = storm(server, lambda crowd: sum(crowd.statuses.values()) >= 1000 and len(crowd.trouble) == 4)
    assert set(crowd.statuses) <= {200, 400, 408, 413, 500, 503}
    assert crowd.statuses[200] > 100 and crowd.statuses[400] and crowd.statuses[413] and crowd.statuses[500]
    assert all_slots_are_free(server)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process from /proc")
def test_memory_is_flat_after_warm_up(stub: Callable[..., ServerProcess]) -> None:
    server = stub(max_concurrent=SLOTS, body_read_timeout=0.5, log_level="critical")
    storm(server, lambda crowd: sum(crowd.statuses.values()) >= 1500)
    warm = resident_bytes(server)
    storm(server, lambda crowd: sum(crowd.statuses.values()) >= 3000)
    assert resident_bytes(server) < warm * 1.15
    assert all_slots_are_free(server)
