"""Makes the JSON Schema (draft 2020-12) of a document from the record that it is printed from.

The first paragraph of a record's docstring is the description; `Annotated` says what each field that is shown is for.
All keys are required but those that a TypedDict has as NotRequired, and no others allowed; what is not known is null.
"""

import inspect
import types
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin, get_type_hints

from noface.model import actions, failure, failure_document, history, request, worker_run
from noface.model.description import Inline, Minimum, OneOf, Timestamp, getter_of, shown_fields

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
    """Return the schema of a value: of its type, narrowed and described by what its annotation says."""
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
