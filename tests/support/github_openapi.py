"""GitHub's published description of its REST API, as the server of the tests is held against it.

`github_openapi_extract` makes the file. A fault is a sentence: of a request, that noface asks for something that GitHub
does not have; of an answer, that the server of the tests gives what GitHub never gives.
"""

import json
import lzma
import marshal
import re
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from .github_openapi_extract import FILE

UNDOCUMENTED = frozenset({"304", "401", "403", "404", "429", "500", "502", "503"})
"""Statuses that GitHub's guides have for every operation, and its description only for some."""
NOWHERE = "https://github.invalid/not-served"
"""Stands for the addresses in an answer that the server does not serve."""
_DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_URI = re.compile(r"[a-z][a-z+.-]*:\S+", re.IGNORECASE)
_FORMATS = {"date-time": _DATE_TIME, "uri": _URI}


@dataclass(frozen=True)
class Operation:
    """One operation of the API: `names` are the parts of its path that vary, in their order."""

    id: str
    method: str
    pattern: re.Pattern
    names: tuple[str, ...]
    query: dict
    in_path: dict
    body: dict | None
    body_required: bool
    answers: dict


@cache
def description():
    """Return the extract, with what GitHub gives and its description is known to leave out."""
    whole = json.loads(lzma.decompress(FILE.read_bytes()))
    for name in ("pull-request-review-comment", "review-comment"):  # null for a file, and for lines that have changed
        for key in ("line", "original_line"):
            whole["schemas"][name]["properties"][key] = {"type": ["integer", "null"]}
    for name in ("validation-error", "validation-error-simple"):  # every refusal repeats its status as a text
        whole["schemas"][name]["properties"]["status"] = {"type": "string"}
    # Issues come in pages by a cursor, which the header Link holds; numbers of pages end with 422 in large repositories.
    for key in ("after", "before"):
        cursor = {"required": False, "schema": {"type": "string"}}
        whole["operations"]["issues/list-for-repo"]["query"][key] = cursor
    # Closing and merging are events of an issue, too.
    whole["operations"]["issues/list-events"]["answers"]["200"]["items"] = {"$ref": "#/components/schemas/issue-event"}
    return whole


@cache
def operations():
    """Return all operations, the most exact first: `/issues/comments` is no issue, and no ref ends in `/statuses`."""
    found = []
    for each in description()["operations"].values():
        names = re.findall(r"\{(\w+)\}", each["path"])
        pattern = re.sub(r"\\\{(\w+)\\\}", lambda part: _part(part[1]), re.escape(each["path"]))
        fields = {key: each[key] for key in ("id", "method", "query", "in_path", "body", "body_required", "answers")}
        found.append(Operation(pattern=re.compile(pattern + r"\Z"), names=tuple(names), **fields))
    return sorted(found, key=lambda each: (len(each.names), -len(each.pattern.pattern)))


def _part(name):
    return "(.+)" if name in {"ref", "path", "branch"} else "([^/]+)"  # these three may hold slashes


def find(method, path):
    """Return the operation of a request with the varying parts of its path, or None."""
    for each in operations():
        if each.method == method and (found := each.pattern.match(path)):
            return each, dict(zip(each.names, map(unquote, found.groups()), strict=True))
    return None


def request_faults(operation, places, query, body):
    """Return what is wrong with a request: `query` maps names to texts, `body` is parsed JSON or None."""
    faults = []
    for name, text in places.items():
        faults += _faults(operation.in_path.get(name, {}), _typed(text, operation.in_path.get(name, {})), name)
    for name, text in query.items():
        if name not in operation.query:
            faults.append(f"there is no query parameter {name!r}")
        else:
            faults += _faults(operation.query[name]["schema"], _typed(text, operation.query[name]["schema"]), name)
        if name == "per_page" and text.isdigit() and int(text) > 100:
            faults.append("per_page is at most 100")
    faults += [
        f"{name} is required" for name, each in operation.query.items() if each["required"] and name not in query
    ]
    if body is None:
        return faults + (["a body is required"] if operation.body_required else [])
    if operation.body is None:
        return [*faults, "no body is expected"]
    return faults + _faults(operation.body, body, "the body") + _unknown(operation.body, body)


def _unknown(schema, body):
    """Name the keys of a body that GitHub would pass over without a word."""
    known = schema.get("properties")
    return [f"there is no key {key!r}" for key in body if key not in known] if known and isinstance(body, dict) else []


def _typed(text, schema):
    if schema.get("type") == "integer" and text.lstrip("-").isdigit():
        return int(text)
    if schema.get("type") == "boolean" and text in {"true", "false"}:
        return text == "true"
    return text


def answer_faults(operation, status, body):
    """Return what is wrong with an answer; `body` is parsed JSON, or None where it has none."""
    if str(status) not in operation.answers:
        return [] if str(status) in UNDOCUMENTED else [f"the status {status} is not documented"]
    schema = operation.answers[str(status)]
    if schema is None or body is None:
        empty = schema is None and body is None
        return [] if empty or schema == {} or status >= 400 else [f"a body with status {status}: {schema and body}"]
    return _faults(schema, body, "the answer")


def _faults(schema, value, what):
    if not schema:
        return []
    return [
        f"{what}{''.join(f'[{part!r}]' for part in each.absolute_path)}: {each.message[:300]}"
        for each in _validator(json.dumps(schema)).iter_errors(value)
    ]


_sound = set()


def _ref(validator, ref, value, schema):
    """Look at a value of a named schema, once for each value that was sound: users come again with each issue.

    One that is a part of another (`allOf`) says what it adds, and nothing of the others'.
    """
    part = "additionalProperties" in schema
    key = (ref, part, marshal.dumps(value))
    if key in _sound:
        return
    named = _named(ref.rpartition("/")[2])
    faults = list(validator.descend(value, {"additionalProperties": True, **named} if part else named))
    if faults:
        yield from faults
    else:
        _sound.add(key)


def _format(_validator, name, value, _schema):
    wanted = _FORMATS.get(name)
    if wanted and isinstance(value, str) and not wanted.fullmatch(value):
        yield ValidationError(f"{value!r} is no {name}")


def _properties(validator, properties, value, schema):
    """Look at the values of an object, and at its keys: GitHub gives none that it does not describe."""
    if isinstance(value, dict):
        if "additionalProperties" not in schema and (unknown := set(value) - set(properties)):
            yield ValidationError(f"{sorted(unknown)} are not described")
        for name, each in properties.items():
            if name in value:
                yield from validator.descend(value[name], each, path=name, schema_path=name)


_Validator = extend(Draft202012Validator, {"$ref": _ref, "format": _format, "properties": _properties})


@cache
def _named(name):
    return description()["schemas"][name]


@cache
def _validator(text):
    return _Validator(json.loads(text))


@cache
def _blank(name):
    return marshal.dumps(_blank_of({"$ref": f"/{name}"}))


def _blank_of(schema):
    """Return the fields that an object has to have, as far as what they hold means nothing to noface."""
    if "$ref" in schema:
        return _blank_of(_named(schema["$ref"].rpartition("/")[2]))
    made = {}
    for key in schema.get("required", ()):
        each = schema["properties"][key]
        each = _named(each["$ref"].rpartition("/")[2]) if "$ref" in each else each
        kinds = each.get("type", ())
        kinds = [kinds] if isinstance(kinds, str) else kinds
        if "null" in kinds or {"type": "null"} in each.get("anyOf", ()):
            made[key] = None
        elif key.endswith(("url", "href")):
            made[key] = NOWHERE
        elif "object" in kinds:
            made[key] = _blank_of(each)
        elif kinds and kinds[0] in _BLANKS and key != "id":
            made[key] = _BLANKS[kinds[0]]
        elif key in {"node_id", "blob_href"}:
            made[key] = ""
    return made


_BLANKS = {"integer": 0, "boolean": False, "array": []}


def described(name, /, **fields):
    """Return an object of a schema: `fields`, and what else it has to have as null, 0, false, or an address of nothing.

    Texts are never made up: one that is missing is a fault of the answer.
    """
    return {**marshal.loads(_blank(name)), **fields}
