"""What `noface run --json` prints: one event a line, told apart by `event`. `data/events.toml` says what each holds.

The loop and the store announce events, `ui/announcer.py` prints them; a test compares each call with the table.
"""

from pkgutil import resolve_name
from typing import Any

from noface.data import table
from noface.ui.contracts import error_schema
from noface.ui.schema import VERSION, Schema, described, keys

_ABOUT: dict[str, Schema] = {
    "run": {"description": "No issue: it is about the run.", "type": "null"},
    "issue": {"description": "The issue's id.", "type": "string"},
    "either": {"description": "The issue's id; null where it is about main itself.", "type": ["string", "null"]},
}


def kinds() -> tuple[str, ...]:
    return tuple(table("events"))


def phases() -> tuple[str, ...]:
    """Return what the events `progress` name as being done."""
    return tuple(table("events")["progress"]["fields"]["phase"]["words"])


def schema() -> Schema:
    """Return the schema of a line."""
    lines = {kind: _line(kind) for kind in kinds()} | {"error": error_schema()}
    return {
        "description": "A line that `noface run --json` prints: an event, told apart by `event`. Where noface cannot "
        "begin or go on, the last line is an `error` instead, which has no `event`.",
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in lines],
        "$defs": lines,
    }


def _line(kind: str) -> Schema:
    entry = table("events")[kind]
    fields = {name: _field(entry) for name, entry in entry.get("fields", {}).items()}
    at = described("number", "When it was told. Seconds since 1970-01-01 UTC.")
    head = {"schema": VERSION, "at": at, "event": {"const": kind}, "issue": _ABOUT[entry["about"]]}
    return keys(entry["means"], **head, **fields)


def _field(entry: dict[str, Any]) -> Schema:
    null = entry.get("null", False)
    if "words" in entry:
        words = [*entry.get("also", ()), *_words(entry["words"])]
        return {"description": entry["means"], "enum": [*words, *([None] if null else [])]}
    if entry["type"] == "texts":
        return {"description": entry["means"], "type": "array", "items": {"type": "string"}}
    moment = entry["type"] == "moment"
    means = entry["means"] + (" Seconds since 1970-01-01 UTC." if moment else "")
    rule = described("number" if moment else entry["type"], means)
    rule |= {"minimum": entry["least"]} if "least" in entry else {}
    rule |= {"type": [rule["type"], "null"]} if null else {}
    return rule


def _words(given: list[str] | str) -> list[str]:
    """Return the words that are given, or those of an enumeration or a table that is named."""
    if not isinstance(given, str):
        return given
    return [str(word) for word in resolve_name(given)]
