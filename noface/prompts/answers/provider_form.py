"""The schema of an answer as providers take it, and what is read of an answer that was made by it.

Providers want each key of an object required, and know no conditions, patterns or free keys: a key that may be left out
may be null instead, and all else is left to noface's own check (L4).
"""

import json
from collections.abc import Mapping
from typing import Any

_KEPT = ("type", "enum", "description")


def provider_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a provider is told of a schema of noface's."""
    if "properties" in schema:
        required = schema.get("required", ())
        parts = {name: provider_schema(part) for name, part in schema["properties"].items()}
        filled = {name: part if name in required else _or_null(part) for name, part in parts.items()}
        return {"type": "object", "properties": filled, "required": list(filled), "additionalProperties": False}
    kept = {name: schema[name] for name in _KEPT if name in schema}
    if "items" in schema:
        return {**kept, "items": provider_schema(schema["items"])}
    if isinstance(schema.get("type"), list):  # an object without properties would be a map with free keys
        kept["type"] = [kind for kind in schema["type"] if kind != "object"]
    return kept


def _or_null(part: Mapping[str, Any]) -> dict[str, Any]:
    kinds = part["type"] if isinstance(part["type"], list) else [part["type"]]
    nullable = {**part, "type": list(dict.fromkeys((*kinds, "null")))}
    if "enum" in part and None not in part["enum"]:
        nullable["enum"] = [*part["enum"], None]
    return nullable


def without_nulls(text: str, schema: Mapping[str, Any]) -> str:
    """Return an answer without the keys that may be left out and are null; a text that is no JSON stays as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return json.dumps(_left(value, schema), ensure_ascii=False) if isinstance(value, dict) else text


def _left(value: Any, schema: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_left(item, schema.get("items", {})) for item in value]
    if not isinstance(value, dict):
        return value
    parts, required = schema.get("properties", {}), schema.get("required", ())
    there = {name: item for name, item in value.items() if item is not None or name in required or name not in parts}
    return {name: _left(item, parts.get(name, {})) for name, item in there.items()}
