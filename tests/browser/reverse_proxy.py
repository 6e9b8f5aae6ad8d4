"""Real reverse proxies with the configurations of deploy/, on free ports of the loopback."""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[2]
_PACKAGES = {"nginx": "nginx-light", "caddy": "caddy"}


@contextmanager
def reverse_proxy(name: str, upstream: str, folder: Path) -> Iterator[str]:
    """Run a proxy before a server; gives the proxy's address. The test is skipped if it cannot be installed."""
    found = subprocess.run(
        [_ROOT / "tools" / "debian-command", name, _PACKAGES[name]], capture_output=True, text=True, check=False
    )
    if found.returncode != 0:
        pytest.skip(found.stderr.strip())
    port = _free_port()
    command = _nginx(port, upstream, folder) if name == "nginx" else _caddy(port, upstream, folder)
    # Caddy keeps what it writes below its home.
    environment = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_DATA_HOME": str(folder)}
    with subprocess.Popen([found.stdout.strip(), *command], env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_until_open(port, process)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(30)


def _nginx(port: int, upstream: str, folder: Path) -> list[str]:
    locations = (_ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    folders = "\n".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    # The workers write below the folder, which is closed to nginx's own user.
    user = "user root;" if os.geteuid() == 0 else ""
    text = f"""
    {user}
    daemon off;
    pid {folder}/nginx.pid;
    events {{}}
    http {{
        access_log off;
        {folders}
        server {{
            listen 127.0.0.1:{port};
            {locations.replace("http://127.0.0.1:8000", upstream)}
        }}
    }}"""
    config = folder / "nginx.conf"
    config.write_text(text, encoding="utf-8")
    return ["-c", str(config), "-e", str(folder / "error.log")]


def _caddy(port: int, upstream: str, folder: Path) -> list[str]:
    text = (_ROOT / "deploy" / "Caddyfile").read_text(encoding="utf-8")
    text = text.replace("decisions.example.org", f"http://127.0.0.1:{port}")
    text = "{\n\tadmin off\n}\n" + text.replace("127.0.0.1:8000", upstream.removeprefix("http://"))
    config = folder / "Caddyfile"
    config.write_text(text, encoding="utf-8")
    return ["run", "--config", str(config), "--adapter", "caddyfile"]


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def _wait_until_open(port: int, process: subprocess.Popen[bytes]) -> None:
    while process.poll() is None:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise AssertionError(f"the proxy ended with {process.returncode} before it answered")
