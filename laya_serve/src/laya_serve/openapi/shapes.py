"""Small builders for JSON Schema, so that the schemas read like what they describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]


def text(description: str = "", **more: Any) -> Schema:
    """A string."""
    return _described({"type": "string", **more}, description)


def whole(description: str = "", **more: Any) -> Schema:
    """A whole number."""
    return _described({"type": "integer", **more}, description)


def number(description: str = "", **more: Any) -> Schema:
    """A number."""
    return _described({"type": "number", **more}, description)


def share(description: str = "") -> Schema:
    """A number from 0 to 1."""
    return number(description, minimum=0, maximum=1)


def flag(description: str = "") -> Schema:
    """True or false."""
    return _described({"type": "boolean"}, description)


def constant(value: str) -> Schema:
    """Exactly one text."""
    return {"type": "string", "const": value}


def array(items: Schema, description: str = "", **more: Any) -> Schema:
    """A list."""
    return _described({"type": "array", "items": items, **more}, description)


def mapping(values: Schema, description: str = "", **more: Any) -> Schema:
    """An object with keys of the caller's own."""
    return _described({"type": "object", "additionalProperties": values, **more}, description)


def record(
    properties: Mapping[str, Schema], required: Sequence[str] | None = None, description: str = "", **more: Any
) -> Schema:
    """An object with known keys; all of them are required unless it says otherwise."""
    needed = list(properties) if required is None else list(required)
    schema = {"type": "object", "properties": dict(properties), "required": needed, **more}
    return _described(schema, description)


def nullable(schema: Schema) -> Schema:
    """The same, or null."""
    description = schema.get("description")
    inner = {key: value for key, value in schema.items() if key != "description"}
    return _described({"anyOf": [inner, {"type": "null"}]}, description or "")


def either(*schemas: Schema, description: str = "") -> Schema:
    """One of several shapes."""
    return _described({"anyOf": list(schemas)}, description)


def anything(description: str = "") -> Schema:
    """Any JSON value."""
    return _described({}, description)


def reference(name: str) -> Schema:
    """A schema among the document's components."""
    return {"$ref": f"#/components/schemas/{name}"}


def _described(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description} if description else schema
