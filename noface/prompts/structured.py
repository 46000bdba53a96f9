"""One validator for all that models return (L4, L11, L12, P6): found in the text, bounded, checked by its schema.

What counts is the last complete JSON object in a ```json fence, if a fence holds one, else the last one anywhere.
An answer that was begun and is cut off, or is no JSON, is reported as that, and nothing older is taken in its place.
How a value breaks its schema is one sentence: where, what was expected, what is there (P6, P10).
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Any

from noface.model.backlog import id_problem
from noface.model.patterns import path_problem
from noface.prompts.json_scan import BrokenObject, JsonObject, place, scan
from noface.prompts.text import excerpt, fenced, line

_ERRORS_READ_MAX = 100
_SHOWN_MAX = 80
_MESSAGE_MAX = 300
_TYPES = ((bool, "boolean"), (str, "string"), (Mapping, "object"), (list, "array"), (tuple, "array"), (int, "integer"))


@dataclass(frozen=True, slots=True)
class Invalid:
    """An answer called `name` that cannot be used. `violation` is one sentence, `original` the text it is about, cut.

    The types are JSON's names, or "none", "malformed", "truncated"; `path` is like `children[2].paths`. Unless it is
    `mendable`, no other answer would be any better.
    """

    violation: str
    expected_type: str = "object"
    actual_type: str = "none"
    path: str = ""
    original: str = ""
    name: str = ""
    mendable: bool = True


def violation(value: object, schema: Mapping[str, Any]) -> Invalid | None:
    """Return what first breaks `schema` in a JSON value, None if nothing does; see `_validator` for formats."""
    # A hostile value may break a schema in millions of places, and one sentence is told.
    errors = list(islice(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value), _ERRORS_READ_MAX))
    if not errors:
        return None
    # An unknown key is told last: most often it is the misspelling of one that is missing.
    error = min(errors, key=lambda each: (each.validator == "additionalProperties", each.json_path))
    path = error.json_path.removeprefix("$").removeprefix(".")
    return Invalid(
        f"at {path or 'the top level'}: {_words(error)}", _wanted_type(error), type_name(error.instance), path
    )


def type_name(value: object) -> str:
    if value is None:
        return "null"
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "number")


def quoted(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    from jsonschema import Draft202012Validator, FormatChecker

    checker = FormatChecker(formats=())
    checker.checks("repository-path", raises=ValueError)(_checked(path_problem))
    checker.checks("issue-id", raises=ValueError)(_checked(id_problem))
    return Draft202012Validator(json.loads(schema), format_checker=checker)


def _checked(problem_of: Any) -> Any:
    def check(value: object) -> bool:
        problem = problem_of(value) if isinstance(value, str) else None
        if problem is not None:
            raise ValueError(problem)
        return True

    return check


def _wanted_type(error: Any) -> str:
    wanted = error.schema.get("type", "any") if isinstance(error.schema, dict) else "any"
    return " or ".join(wanted) if isinstance(wanted, list) else str(wanted)


def _words(error: Any) -> str:
    keyword, limit, value = error.validator, error.validator_value, error.instance
    match keyword:
        case "type":
            got = type_name(value)
            return f"expected {_wanted_type(error)}, got {got if value is None else f'{got} {quoted(value)}'}"
        case "enum":
            return f"expected one of {', '.join(quoted(item) for item in limit)}, got {quoted(value)}"
        case "required" | "additionalProperties":
            return str(error.message)[:_MESSAGE_MAX]
        case "format" if error.cause:
            return str(error.cause)
        case "pattern" if "description" in error.schema:
            return f"expected {error.schema['description']}, got {quoted(value)}"
        case _:
            return f"{keyword} is {limit}, got {quoted(value)}"


READ_CHARS_MAX = 100_000
ORIGINAL_BYTES_MAX = 4_000
VALUES_MAX = 10_000
DEPTH_MAX = 64
_PATH_CHARS_MAX = 200
_VIOLATION_CHARS_MAX = 2_000
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


Value = dict[str, Any]
"""An answer that satisfies its schema. Strings in it hold no control characters but tabs and line breaks."""


def validate(text: str, schema: Mapping[str, Any], name: str) -> Value | Invalid:
    """Return the answer called `name` that a text holds. Total: whatever the text is, and in linear time."""
    read = text[-READ_CHARS_MAX:]
    objects, incomplete = scan(read)
    begun = [broken for broken in incomplete if not broken.keys.isdisjoint(schema.get("properties", ()))]
    picked = last_object(objects)
    result: Value | Invalid
    if picked is None:
        broken = begun or incomplete
        if broken:
            result = broken_answer(read, broken[-1])
        elif read.strip().removeprefix("```json").strip().startswith("["):
            result = Invalid("no JSON object found: expected object, got array", actual_type="array")
        else:
            result = Invalid("no JSON object found")
    elif begun and begun[-1].truncated and begun[-1].start >= picked.end:
        result = broken_answer(read, begun[-1])
    else:
        result = check(read, picked, schema)
        value = load(read, picked) if begun and isinstance(result, Invalid) else ""
        if not isinstance(value, str) and value.keys().isdisjoint(schema.get("properties", ())):
            result = broken_answer(read, begun[-1])
    return finished(result, text, name) if isinstance(result, Invalid) else result


def check(read: str, candidate: JsonObject, schema: Mapping[str, Any]) -> Value | Invalid:
    value = load(read, candidate)
    if isinstance(value, str):
        return Invalid(f"malformed JSON at {place(read, candidate.start)}: {value}", actual_type="malformed")
    return violation(value, schema) or value


def last_object(objects: tuple[JsonObject, ...]) -> JsonObject | None:
    in_fences = tuple(each for each in objects if each.fenced)
    return next(reversed(in_fences or objects), None)


def load(read: str, candidate: JsonObject) -> Value | str:
    """Return the object's value, or what is wrong with it beyond its grammar."""
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> Value:
        made: Value = {}
        for key, value in pairs:
            if key in made:
                twice.append(key)
            made[key] = value
        return made

    try:
        value = json.loads(read[candidate.start : candidate.end], object_pairs_hook=once)
        values = _count(value, 0)
    except (ValueError, RecursionError) as error:
        return str(error)
    if twice:
        return f"the key {quoted(twice[0])} stands twice in one object"
    if values > VALUES_MAX:
        return f"it holds more than {VALUES_MAX} values"
    cleaned = clean(value)
    return cleaned if isinstance(cleaned, dict) else "expected an object"


def broken_answer(read: str, broken: BrokenObject) -> Invalid:
    if broken.truncated:
        return Invalid(f"truncated JSON: {broken.problem}", actual_type="truncated")
    return Invalid(f"malformed JSON at {place(read, broken.at)}: {broken.problem}", actual_type="malformed")


QUOTED = "sentence"
"""The key under which an answer quotes the issue: its form may be right, and its quotation not stand there."""


PARTS = "children"
_OF_CONTENT = (QUOTED, PARTS)


def reminder(invalid: Invalid, schema_name: str, schema: Mapping[str, Any]) -> str:
    """Return the format reminder for the one immediate retry (L11): what was wrong, quoted, and a small example."""
    if invalid.path in _OF_CONTENT:
        found, was = fenced(line(invalid.violation, _VIOLATION_CHARS_MAX)), fenced(invalid.original, "json")
        again = "Look again: put that right, or answer otherwise if it cannot be. The form of your answer was right:"
        return f"Your last answer could be read, but not all that it says holds:\n\n{found}\n\n{again}\n\n{was}\n"
    required = ", ".join(f"`{key}`" for key in schema.get("required", ()))
    example = json.dumps(schema["examples"][0], ensure_ascii=False, indent=2)
    return f"""\
Your last answer could not be read as a `{schema_name}`. Keep what you found out; only its form was wrong. This is what
the check said of it:

{fenced(line(invalid.violation, _VIOLATION_CHARS_MAX))}

Answer again with exactly one JSON object, in a ```json fence, with nothing after it. Keys and strings stand in double
quotes, line breaks in strings are written \\n, and no comma stands before a closing bracket.
Required keys: {required or "none"}. An example of the form, with other content:

{fenced(example, "json")}
"""


def finished(invalid: Invalid, text: str, name: str) -> Invalid:
    """Return a finding about the answer called `name` with what it is about; `text` is the whole answer."""
    long = f" (only the last {READ_CHARS_MAX} characters were read)" if len(text) > READ_CHARS_MAX else ""
    return replace(
        invalid,
        violation=f"{line(invalid.violation)}{long}",
        path=invalid.path[:_PATH_CHARS_MAX],
        original=excerpt(text, ORIGINAL_BYTES_MAX),
        name=name,
    )


def _count(value: object, depth: int) -> int:
    """Count the values in one; raises ValueError if they are nested too deeply."""
    if not isinstance(value, dict | list):
        return 1
    if depth >= DEPTH_MAX:
        raise ValueError(f"brackets are nested more than {DEPTH_MAX} deep")
    return 1 + sum(_count(item, depth + 1) for item in (value.values() if isinstance(value, dict) else value))


def clean(value: Any) -> Any:
    """Return a JSON value whose strings can be stored and shown: without control characters and lone surrogates."""
    if isinstance(value, str):
        return _UNPRINTABLE.sub("\ufffd", value.replace("\r\n", "\n"))
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {str(clean(key)): clean(item) for key, item in value.items()}
    return value
