"""What the published schemas are made of: JSON Schema, draft 2020-12, where nothing may be missing or left over.

A record has all the keys it names and no others; what is not known is null. So a key that is added to a document and
forgotten in its schema fails the tests. Texts in a document may come from issues and agents: they are data.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def document(name: str, schema: Schema) -> Schema:
    """Return `schema` as a document of its own, published under `name`."""
    return {"$schema": DIALECT, "$id": f"urn:noface:{name}:1", "title": f"noface {name}", **schema}


def first(description: str, **properties: Schema) -> Schema:
    """Return a record at the top of a document: its first key is `schema`, 1 (docs/decisions.md)."""
    version = {"description": "The version of this form. Keys may be added to it, none is renamed.", "const": 1}
    return record(description, schema=version, **properties)


def record(description: str, /, **properties: Schema) -> Schema:
    """Return the schema of an object with exactly these keys."""
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def with_optional(schema: Schema, **properties: Schema) -> Schema:
    """Return a record that may have further keys."""
    return schema | {"properties": schema["properties"] | properties}


def text(description: str) -> Schema:
    """Return the schema of a text; it may be empty."""
    return {"description": description, "type": "string"}


def word(description: str, words: Iterable[str]) -> Schema:
    """Return the schema of one of some words."""
    return {"description": description, "enum": [str(each) for each in words]}


def integer(description: str, least: int = 0) -> Schema:
    """Return the schema of a count or a number of order."""
    return {"description": description, "type": "integer", "minimum": least}


def number(description: str) -> Schema:
    """Return the schema of an amount; none is below 0."""
    return {"description": description, "type": "number", "minimum": 0}


def moment(description: str) -> Schema:
    """Return the schema of a time."""
    return number(f"{description} Seconds since 1970-01-01 UTC.")


def truth(description: str) -> Schema:
    """Return the schema of a yes or no."""
    return {"description": description, "type": "boolean"}


def listed(description: str, items: Schema) -> Schema:
    """Return the schema of a list."""
    return {"description": description, "type": "array", "items": items}


def texts(description: str) -> Schema:
    """Return the schema of a list of texts."""
    return listed(description, {"type": "string"})


def or_null(schema: Schema) -> Schema:
    """Return `schema`, with null allowed as well."""
    if "enum" in schema:
        return schema | {"enum": [*schema["enum"], None]}
    if "type" in schema:
        return schema | {"type": [schema["type"], "null"]}
    return {"description": schema["description"], "anyOf": [schema, {"type": "null"}]}


def names(words: type[StrEnum]) -> tuple[str, ...]:
    """Return the words of an enumeration."""
    return tuple(each.value for each in words)
