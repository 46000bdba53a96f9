"""Looking into raw tables as tomllib gave them, where anything may stand anywhere."""

from collections.abc import Mapping
from typing import Any


def table_of(value: object) -> Mapping[str, Any]:
    """Return a table as it is, and an empty one for whatever else stands there."""
    return value if isinstance(value, Mapping) else {}


def tables_of(value: object) -> list[Mapping[str, Any]]:
    """Return the tables of an array, an empty one for each item that is none; of no array, none."""
    return [table_of(item) for item in value] if isinstance(value, list) else []
