"""Says in one sentence how a value breaks a JSON Schema: where, what was expected, what is there (P6, P10)."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from noface.core.backlog import id_problem, nearest
from noface.core.repository_paths import path_problem

_ERRORS_READ_MAX = 100
_SHOWN_MAX = 80
_NAMES_MAX = 12
_TYPES = ((bool, "boolean"), (str, "string"), (Mapping, "object"), (list, "array"), (tuple, "array"), (int, "integer"))


@dataclass(frozen=True, slots=True)
class Violation:
    """The first thing wrong: `sentence` is whole, `path` is like `children[2].paths`, empty for the value itself."""

    sentence: str
    expected_type: str
    actual_type: str
    path: str


def violation(value: object, schema: Mapping[str, Any]) -> Violation | None:
    """Return what breaks `schema` in a JSON value, or None where nothing does.

    The schemas are noface's own: objects with `properties`; formats `repository-path` and `issue-id` are known.
    """
    errors = list(islice(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value), _ERRORS_READ_MAX))
    if not errors:
        return None
    error = min(errors, key=lambda found: (found.validator == "additionalProperties", _order(found.absolute_path)))
    path = _path(error.absolute_path)
    return Violation(
        f"at {path or 'the top level'}: {_words(error)}",
        _wanted_type(error),
        type_name(error.instance),
        path,
    )


def type_name(value: object) -> str:
    """Return the name that JSON has for the type of a value."""
    if value is None:
        return "null"
    return next((name for kind, name in _TYPES if isinstance(value, kind)), "number")


def quoted(value: object) -> str:
    """Return a JSON value on one line, cut at a limit."""
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


def _order(path: Sequence[str | int]) -> tuple[tuple[int, int, str], ...]:
    return tuple((0, step, "") if isinstance(step, int) else (1, 0, step) for step in path)


def _path(steps: Sequence[str | int]) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in steps)
    return text.removeprefix(".")


def _wanted_type(error: Any) -> str:
    wanted = error.schema.get("type", "any") if isinstance(error.schema, dict) else "any"
    return " or ".join(wanted) if isinstance(wanted, list) else str(wanted)


def _words(error: Any) -> str:
    """Word an error by the keyword that was broken."""
    limit, value = error.validator_value, error.instance
    match error.validator:
        case "type":
            got = type_name(value)
            return f"expected {_wanted_type(error)}, got {got if value is None else f'{got} {quoted(value)}'}"
        case "enum":
            return f"expected one of {', '.join(quoted(item) for item in limit)}, got {quoted(value)}"
        case "required":
            return _missing(error)
        case "additionalProperties":
            return _unknown(error)
        case "format":
            return str(error.cause) if error.cause else f"{quoted(value)} is no {limit}"
        case "minLength":
            return f"expected at least {limit} character(s), got {quoted(value)}"
        case "maxLength":
            return f"expected at most {limit} characters, got {len(value)}"
        case "minItems":
            return f"expected at least {limit} item(s), got {len(value)}"
        case "maxItems":
            return f"expected at most {limit} items, got {len(value)}"
        case "minProperties":
            return f"expected at least {limit} key(s), got {len(value)}"
        case "maxProperties":
            return f"expected at most {limit} keys, got {len(value)}"
        case "minimum":
            return f"expected a number of at least {limit}, got {quoted(value)}"
        case "maximum":
            return f"expected a number of at most {limit}, got {quoted(value)}"
        case "pattern":
            what = error.schema.get("description", "another form") if isinstance(error.schema, dict) else "another form"
            return f"expected {what}, got {quoted(value)}"
        case _:
            return f"{quoted(value)} is not as the schema asks ({error.validator})"


def _missing(error: Any) -> str:
    there = error.instance if isinstance(error.instance, Mapping) else {}
    name = next((key for key in error.validator_value if key not in there), "")
    known = error.schema.get("properties", {}) if isinstance(error.schema, Mapping) else {}
    strange = [key for key in islice(there, _NAMES_MAX) if key not in known] if known else []
    other = nearest(name, strange) if strange else None
    return f"the key {quoted(name)} is missing" + (f" (there is an unknown key {quoted(other)})" if other else "")


def _unknown(error: Any) -> str:
    known = list(error.schema.get("properties", {}))
    name = next((key for key in error.instance if key not in known), "")
    match = nearest(name, known)
    hint = f"did you mean {quoted(match)}?" if match else f"known are {', '.join(quoted(key) for key in known)}"
    return f"the key {quoted(name)} is unknown; {hint}"
