"""The routes of the playground: the page at / and its files below /playground/."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import PurePosixPath
from string import Template
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_FOLDER: Final = "/playground/"
_PAGE: Final = "index.html"
_MEDIA_TYPES: Final = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
}
_CONTENT_SECURITY_POLICY: Final = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
_HEADERS: Final = {
    "Cache-Control": "no-cache",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
}


def playground_routes(root_path: str = "", asks_for_key: bool = False) -> list[Route]:
    """GET / and the files that the page loads. All are public: the page holds nothing but itself.

    Args:
        root_path: the prefix under which a reverse proxy publishes the server. The page links below it, so that it
            works with and without a slash at the end of the prefix; without one its links are relative.
        asks_for_key: the page asks for the key at once, because the server has one.
    """
    page = Template(_text(_PAGE)).substitute(
        base=escape(f"{root_path.rstrip('/')}/" if root_path else ""),
        key="required" if asks_for_key else "none",
    )
    return [
        _route("/", page, "text/html"),
        *(_route(_FOLDER + name, _text(name), media_type) for name, media_type in _assets()),
    ]


def _assets() -> Iterator[tuple[str, str]]:
    for entry in files(__package__).joinpath("page").iterdir():
        media_type = _MEDIA_TYPES.get(PurePosixPath(entry.name).suffix)
        if media_type is not None:
            yield entry.name, media_type


def _text(name: str) -> str:
    return files(__package__).joinpath("page", name).read_text(encoding="utf-8")


def _route(path: str, text: str, media_type: str) -> Route:
    content = text.encode()
    headers = {**_HEADERS, "ETag": f'"{sha256(content).hexdigest()[:24]}"'}

    async def answer(request: Request) -> Response:
        if _is_cached(request.headers, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=media_type, headers=headers)

    route = Route(path, answer, methods=["GET"], include_in_schema=False)
    route.public = True  # type: ignore[attr-defined]  # needs no key
    return route


def _is_cached(headers: Mapping[str, str], tag: str) -> bool:
    # A proxy that compresses marks the tag as weak.
    given = headers.get("if-none-match", "")
    return tag in (entry.strip().removeprefix("W/") for entry in given.split(","))
