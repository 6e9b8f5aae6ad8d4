"""A Hub on the loopback interface: the part of its HTTP API that the Hub client needs to download a snapshot."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import unquote, urlsplit

LARGE_FILE = 100_000


@dataclass
class Repository:
    """Files by path for each commit, and the commits that branches stand at."""

    commits: dict[str, Mapping[str, bytes]] = field(default_factory=dict)
    branches: dict[str, str] = field(default_factory=dict)
    gated: bool = False

    @classmethod
    def of(cls, files: Mapping[str, bytes], gated: bool = False) -> Self:
        """A repository with one commit, on `main`."""
        repository = cls(gated=gated)
        repository.commit("main", files)
        return repository

    def commit(self, branch: str, files: Mapping[str, bytes]) -> str:
        """Put a commit on a branch and return its hash."""
        digest = hashlib.sha1(f"{branch} {len(self.commits)}".encode())
        for path in sorted(files):
            digest.update(path.encode() + files[path])
        commit = digest.hexdigest()
        self.commits[commit] = dict(files)
        self.branches[branch] = commit
        return commit

    def resolve(self, revision: str) -> str | None:
        return self.branches.get(revision, revision if revision in self.commits else None)


@dataclass
class Request:
    method: str
    path: str
    host: str
    authorization: str | None


@dataclass
class FakeHub:
    """Repositories by id, what was asked for, and what goes wrong.

    Args:
        token: opens gated repositories.
        status: every request is answered with this HTTP status.
        cuts: for each coming request for a large file, the bytes sent before the connection breaks.
        stalled: requests are accepted and not answered.
        stalled_half_way: large files stop half-way.
        reached: set as soon as something stalls.
    """

    repositories: dict[str, Repository] = field(default_factory=dict)
    token: str = "hf_let_me_in"
    status: int | None = None
    cuts: list[int] = field(default_factory=list)
    stalled: bool = False
    stalled_half_way: bool = False
    reached: threading.Event = field(default_factory=threading.Event)
    requests: list[Request] = field(default_factory=list)
    endpoint: str = "http://127.0.0.1:0"
    _over: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def serving(self) -> Iterator[Self]:
        """Answer for the block, always on the same port; afterwards connections are refused."""
        handler = type("Handler", (_Handler,), {"hub": self})
        server = ThreadingHTTPServer(("127.0.0.1", urlsplit(self.endpoint).port or 0), handler)
        server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{server.server_port}"
        self._over.clear()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            self._over.set()
            server.shutdown()
            server.server_close()
            thread.join()

    def downloads(self) -> list[str]:
        """Paths in the repository of the files whose content was asked for, in order of the requests."""
        paths = [request.path for request in self.requests if request.method == "GET"]
        return [path.split("/", 5)[-1] for path in paths if "/resolve/" in path or path.startswith("/store/")]

    def wait_until_over(self) -> None:
        self.reached.set()
        self._over.wait()


class _Handler(BaseHTTPRequestHandler):
    """Routes as on the Hub: /api/models/…, /<repo>/resolve/<revision>/<file>, and a store for large files."""

    hub: FakeHub
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        self.hub.requests.append(Request(self.command, path, self.headers["Host"], self.headers.get("Authorization")))
        if self.hub.stalled:
            self.hub.wait_until_over()
        elif self.hub.status is not None:
            self._fail(self.hub.status, None, "something is wrong")
        elif path.startswith("/store/"):
            self._send_stored(unquote(path.removeprefix("/store/")))
        else:
            self._route(path)

    do_HEAD = do_GET

    def _route(self, path: str) -> None:
        parts = [unquote(part) for part in path.removeprefix("/api/models").split("/", 5)]
        owner, name, kind, revision, filename = [*parts[1:], "", "", ""][:5]
        repository = self.hub.repositories.get(f"{owner}/{name}")
        if repository is None:
            return self._fail(401, "RepoNotFound", "Repository not found")
        authorization = self.headers.get("Authorization")
        if repository.gated and kind == "resolve" and authorization != f"Bearer {self.hub.token}":
            return self._fail(403 if authorization else 401, "GatedRepo", "Access to this model is restricted.")
        commit = repository.resolve(revision or "main")
        if commit is None:
            return self._fail(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        files = repository.commits[commit]
        if kind == "tree":
            return self._send_json([_tree_entry(path, content) for path, content in files.items()])
        if kind != "resolve":
            return self._send_json({"_id": "1", "id": f"{owner}/{name}", "sha": commit, "siblings": []})
        if filename not in files:
            return self._fail(404, "EntryNotFound", "Entry not found", {"X-Repo-Commit": commit})
        return self._send_file(f"{owner}/{name}/{commit}/{filename}", commit, files[filename])

    def _send_file(self, stored: str, commit: str, content: bytes) -> None:
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if len(content) < LARGE_FILE:
            return self._send(200, content, {**headers, "ETag": f'"{_git_blob(content)}"'})
        # Large files are on another host, as the client sees it.
        location = f"http://localhost:{urlsplit(self.hub.endpoint).port}/store/{stored}"
        linked = {"X-Linked-Size": str(len(content)), "X-Linked-ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
        return self._send(302, b"", {**headers, **linked, "Location": location})

    def _send_stored(self, stored: str) -> None:
        owner, name, commit, filename = stored.split("/", 3)
        content = self.hub.repositories[f"{owner}/{name}"].commits[commit][filename]
        status, headers = 200, {"ETag": f'"{hashlib.sha256(content).hexdigest()}"'}
        if wanted := self.headers.get("Range"):
            start = int(wanted.removeprefix("bytes=").split("-")[0])
            headers["Content-Range"] = f"bytes {start}-{len(content) - 1}/{len(content)}"
            status, content = 206, content[start:]
        cut = self.hub.cuts.pop(0) if self.hub.cuts else None
        if self.hub.stalled_half_way:
            cut = len(content) // 2
        self._send(status, content, headers, cut)

    def _send_json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _fail(self, status: int, code: str | None, message: str, headers: Mapping[str, str] | None = None) -> None:
        named = {"X-Error-Code": code} if code else {}
        self._send(status, b"", {"X-Error-Message": message, **named, **(headers or {})})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str], cut: int | None = None) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")  # no connection outlives the Hub
        self.end_headers()
        if self.command == "HEAD":
            return
        self.wfile.write(body[:cut])
        if cut is not None:
            self.wfile.flush()
            if self.hub.stalled_half_way:
                self.hub.wait_until_over()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        """Keep the output of the tests clean."""


def _tree_entry(path: str, content: bytes) -> dict[str, Any]:
    entry = {"type": "file", "path": path, "size": len(content), "oid": _git_blob(content)}
    if len(content) < LARGE_FILE:
        return entry
    return {**entry, "lfs": {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 134}}


def _git_blob(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
