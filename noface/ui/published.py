"""The schemas that are published, by name: what other programs read from noface, and what it reads from a worker."""

import inspect
import types
from collections.abc import Callable, Mapping
from pkgutil import resolve_name
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints

from noface.data import table
from noface.model import actions, failure, failure_document, history, request, worker_run
from noface.model.attempt import AttemptOrder
from noface.model.description import Inline, Minimum, OneOf, Timestamp, getter_of, shown_fields
from noface.prompts.answers.forms import schema_of
from noface.ui.blocked import BlockedDocument
from noface.ui.fsck import FsckDocument
from noface.ui.page import paint
from noface.ui.show import Story
from noface.ui.status import Status
from noface.ui.text import hanging

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
VERSION = {"description": "The version of this form. Keys may be added to it, none is renamed.", "const": 1}
_SCALARS: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer", "minimum": 0},
    float: {"type": "number", "minimum": 0},
    types.NoneType: {"type": "null"},
}
"""Every number that noface prints is a count or an amount, and none is below 0."""
_RECORDS = {
    name: kind
    for module in (actions, failure, failure_document, history, request, worker_run)
    for name, kind in inspect.getmembers(module, inspect.isclass)
}
"""Records that a row names without importing them, since most pages do without."""


def described(kind: str, means: str) -> Schema:
    return {"description": means} | next(rule for rule in _SCALARS.values() if rule["type"] == kind)


def keys(means: str, /, **properties: Schema) -> Schema:
    """Return the schema of an object that has all these keys and no other."""
    return {
        "description": means,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def document(name: str, schema: Schema) -> Schema:
    return {"$schema": _DIALECT, "$id": f"urn:noface:{name}:1", "title": f"noface {name}", **schema}


def first(kind: type[Any]) -> Schema:
    made = record(kind)
    return made | {"properties": {"schema": VERSION, **made["properties"]}, "required": ["schema", *made["required"]]}


def record(kind: type[Any]) -> Schema:
    """Return the schema of a record."""
    properties: Schema = {}
    for name, hint in _hints(kind).items():
        if Inline in getattr(hint, "__metadata__", ()):
            properties = record(hint.__origin__)["properties"] | properties
        else:
            properties[name] = _rule(hint)
    return {
        "description": " ".join((kind.__doc__ or "").partition("\n\n")[0].split()),
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in getattr(kind, "__optional_keys__", ())],
        "additionalProperties": False,
    }


def _hints(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, None, _RECORDS, include_extras=True)
    found = {}
    for name in shown_fields(kind):
        getter = getter_of(kind, name)
        found[name] = hints[name] if getter is None else get_type_hints(getter, None, _RECORDS, True)["return"]
    return found


def _rule(hint: Any) -> Schema:
    if get_origin(hint) is NotRequired:
        return _rule(get_args(hint)[0])
    if get_origin(hint) is not Annotated:
        return _of_type(hint, None)
    kind, *notes = get_args(hint)
    words = next((note for note in notes if isinstance(note, OneOf)), None)
    rule = _of_type(kind, words)
    for note in notes:
        if isinstance(note, Minimum):
            rule = rule | {"minimum": int(note)}
        elif isinstance(note, str):
            moment = " Seconds since 1970-01-01 UTC." if Timestamp in notes else ""
            rule = {"description": note + moment} | {key: rule[key] for key in rule if key != "description"}
    return rule


def _of_type(kind: Any, words: OneOf | None) -> Schema:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return _either(arguments, words)
    if words is not None:
        return {"enum": words.all()}
    if origin in (tuple, list):
        return {"type": "array", "items": _rule(arguments[0])}
    if origin is dict:
        names = _rule(arguments[0])
        limits = {"propertyNames": {"enum": names["enum"]}} if "enum" in names else {}
        return {"type": "object", **limits, "additionalProperties": _rule(arguments[1])}
    return _SCALARS[kind] if kind in _SCALARS else record(kind)


def _either(kinds: tuple[Any, ...], words: OneOf | None) -> Schema:
    rules = [_of_type(kind, words) for kind in kinds if kind is not types.NoneType]
    null = types.NoneType in kinds
    if len(rules) > 1 and all(kind in _SCALARS or kind is types.NoneType for kind in kinds):
        return {"type": [rule["type"] for rule in rules] + ["null"] * null}
    if len(rules) > 1:
        return {"oneOf": rules + [{"type": "null"}] * null}
    (rule,) = rules
    if not null:
        return rule
    return rule | ({"enum": [*rule["enum"], None]} if "enum" in rule else {"type": [rule["type"], "null"]})


_MEANS = "What a worker is to do. The folder it is started in is the workspace; it edits the files there."
_ORDER = {"description": _MEANS}


def report_schema() -> Schema:
    """Return the schema of a worker's report: the one that reports are checked by, with what each key is for."""
    schema = schema_of("report")
    means = table("report")
    properties = {key: {"description": means["keys"][key], **rule} for key, rule in schema["properties"].items()}
    return {**schema, "description": means["whole"], "properties": properties}


def error_schema() -> Schema:
    """Return the schema of what a command with `--json` prints if it fails; `cli/main.py` makes it."""
    error = keys(
        "The error.",
        message=described("string", "What is wrong."),
        hint=described("string", "What to do about it; may be empty."),
        code=described("integer", "The exit code.") | {"minimum": 1},
    )
    return keys("Why a command failed. The exit code of the command is `code`.", schema=VERSION, error=error)


_ABOUT: dict[str, Schema] = {
    "run": {"description": "No issue: it is about the run.", "type": "null"},
    "issue": {"description": "The issue's id.", "type": "string"},
    "either": {"description": "The issue's id; null where it is about main itself.", "type": ["string", "null"]},
}


def events_schema() -> Schema:
    """Return the schema of a line."""
    lines = {kind: _line(kind) for kind in table("events")} | {"error": error_schema()}
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
        given = entry["words"]
        words = [*entry.get("also", ()), *(map(str, resolve_name(given)) if isinstance(given, str) else given)]
        return {"description": entry["means"], "enum": [*words, *([None] if null else [])]}
    if entry["type"] == "texts":
        return {"description": entry["means"], "type": "array", "items": {"type": "string"}}
    moment = entry["type"] == "moment"
    means = entry["means"] + (" Seconds since 1970-01-01 UTC." if moment else "")
    rule = described("number" if moment else entry["type"], means)
    rule |= {"minimum": entry["least"]} if "least" in entry else {}
    rule |= {"type": [rule["type"], "null"]} if null else {}
    return rule


SCHEMAS: Mapping[str, tuple[str, Callable[[], Schema]]] = {
    "order": ("the JSON file $NOFACE_ORDER_FILE that a worker gets", lambda: first(AttemptOrder) | _ORDER),
    "report": ("the JSON that a worker may print at its end", report_schema),
    "events": ("what `noface run --json` prints: one event a line", events_schema),
    "status": ("where every issue stands: `noface status --json`", lambda: first(Status)),
    "blocked": ("what needs a person: `noface blocked --json`", lambda: first(BlockedDocument)),
    "show": ("the story of an issue: `noface show ID --json`", lambda: first(Story)),
    "night": (
        "a night on one page: `noface report --json`",
        lambda: first(resolve_name("noface.report.night:Night")),  # of a room above this one
    ),
    "fsck": ("the findings of `noface tools fsck --json`", lambda: first(FsckDocument)),
    "error": ("what a command with --json prints if it fails", error_schema),
}
"""What each describes, in half a line, and what makes it."""


def list_of_schemas() -> list[dict[str, str]]:
    return [{"name": name, "describes": describes} for name, (describes, _) in SCHEMAS.items()]


def schemas_page(listed: Mapping[str, list[dict[str, str]]], width: int) -> list[str]:
    """Return the lines of that list."""
    cells = max(map(len, SCHEMAS)) + 2
    lines = []
    for each in listed["schemas"]:
        first_line, *more = hanging(each["describes"], width - cells)
        lines += [f"{paint(each['name'], 'title')}{' ' * (cells - len(each['name']))}{first_line}"]
        lines += [f"{' ' * cells}{line}" for line in more]
    return lines


def published(name: str) -> Schema:
    return document(name, SCHEMAS[name][1]())
