"""GET /docs: the OpenAPI document as one page, without scripts and without a network."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any, Final

CONTENT_SECURITY_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
)

_STYLE: Final = """
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0; }
code { font: .9em ui-monospace, monospace; }
summary { cursor: pointer; }
"""


def docs_page(document: dict[str, Any]) -> bytes:
    """The page of a document."""
    title = f"{document['info']['title']} {document['info']['version']}"
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main>",
            f"<h1>{escape(title)}</h1>",
            f'<p>{escape(document["info"]["summary"])} <a href="openapi.json">openapi.json</a></p>',
            *_operations(document),
            "<h2>Schemas</h2>",
            *_schemas(document),
            "</main></body></html>",
        ]
    ).encode()


def _operations(document: dict[str, Any]) -> Iterator[str]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f'<section id="{escape(operation["operationId"])}">'
            yield f"<h2><code>{escape(method.upper())} {escape(path)}</code></h2><p>{escape(operation['summary'])}</p>"
            if "requestBody" in operation:
                content = operation["requestBody"]["content"]["application/json"]
                yield f"<p>Body: {_link(content['schema'])}</p>{_json(content['example'])}"
            yield "<table><thead><tr><th>status</th><th>meaning</th><th>body</th></tr></thead><tbody>"
            for status, response in operation["responses"].items():
                schema = response["content"]["application/json"]["schema"]
                yield f"<tr><td>{status}</td><td>{escape(response['description'])}</td><td>{_link(schema)}</td></tr>"
            yield "</tbody></table></section>"


def _schemas(document: dict[str, Any]) -> Iterator[str]:
    for name, schema in document["components"]["schemas"].items():
        shown = escape(name)
        yield f'<details id="schema-{shown}"><summary><code>{shown}</code></summary>{_json(schema)}</details>'


def _link(schema: dict[str, Any]) -> str:
    name = escape(schema["$ref"].rpartition("/")[2])
    return f'<a href="#schema-{name}"><code>{name}</code></a>'


def _json(value: object) -> str:
    return f"<pre><code>{escape(json.dumps(value, indent=2, ensure_ascii=False))}</code></pre>"
