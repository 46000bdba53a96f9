"""Tells whether JSON, TOML or YAML is broken; what a lenient reader of the project may accept is left to the gates."""

import json
import re
import tomllib
from importlib import import_module
from typing import Any

_STRICT_JSON = re.compile(r"(^|/)(package|package-lock|composer|bower|manifest|Pipfile)\.json$|\.(geojson|ipynb)$")
# What is not closed ends with the text: looking for its end from each of many beginnings takes the square of time.
_STRING = r'"(?:[^"\\\n]++|\\.)*+"?'
_JSON_COMMENT = re.compile(rf"({_STRING})|//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_JSON_LAST_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[\]}}])", re.DOTALL)
_VISIBLE = re.compile(r"\S")
_TEMPLATE = re.compile(r"(?<!\$)\{\{|\{%|<%|\$\{[A-Z_]+\}|^[^\S\n]*+#(if|else|endif|include)\b", re.MULTILINE)
_TOML_PLACE = re.compile(r"(?P<message>.*) \(at (?:line (?P<line>\d+), column \d+|end of document)\)$", re.DOTALL)
# TOML 1.1: inline tables over several lines, \e and \x escapes, times without seconds.
_TOML_NEWER = re.compile(r"\{|\\[ex]|\b\d\d:\d\d(?!:?\d)")
# tomllib takes the square of the parts of a dotted key, PyYAML that of the depth of brackets.
_KEY_PARTS_MAX = 1_000
_DOTTED = re.compile(r"""(?:\.[ \t]*+(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+)++""")
_DEPTH_MAX = 500
_YAML_SURE = re.compile(
    r"mapping values are not allowed|could not find expected ':'|found unexpected end of stream"
    r"|expected ',' or '[\]}]'|expected <block end>, but found|found character '\\t' that cannot start any token"
    r"|did not find expected"
)


def check_json(path: str, data: bytes) -> tuple[int, str] | None:
    """Return line and message of what makes the file no JSON; comments and trailing commas may be meant."""
    try:
        text = data.decode("utf-8-sig")
    except ValueError:
        return None
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        strict = _STRICT_JSON.search(path) is not None
        if not text.strip() or _TEMPLATE.search(text) or (not strict and _lenient(text)):
            return None
        return error.lineno, error.msg
    except (ValueError, RecursionError):  # huge numbers, deep nesting: readers differ
        return None
    return None


def _lenient(text: str) -> bool:
    """Tell whether it is JSON with comments or trailing commas, or several values one after the other."""
    try:
        json.loads(_JSON_LAST_COMMA.sub(lambda match: match[1] or "", _JSON_COMMENT.sub(_uncommented, text)))
    except (ValueError, RecursionError):
        return _sequence(text)
    return True


def _uncommented(match: re.Match[str]) -> str:
    """Return a string as it is, nothing for a comment; one that is not closed stays, and is an error."""
    unclosed = match[0].startswith("/*") and (len(match[0]) < len("/**/") or not match[0].endswith("*/"))
    return match[0] if unclosed else match[1] or ""


def _sequence(text: str) -> bool:
    decoder, at = json.JSONDecoder(), 0
    try:
        while begins := _VISIBLE.search(text, at):
            _, at = decoder.raw_decode(text, begins.start())
    except (ValueError, RecursionError):
        return False
    return True


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML in a time that is in proportion to its length; raises TOMLDecodeError, or RecursionError."""
    long = next((match for match in _DOTTED.finditer(text) if match[0].count(".") > _KEY_PARTS_MAX), None)
    if long is not None:
        line = text.count("\n", 0, long.start()) + 1
        raise tomllib.TOMLDecodeError(f"A key of more than {_KEY_PARTS_MAX} parts (at line {line}, column 1)")
    return tomllib.loads(text)


def check_toml(data: bytes) -> tuple[int, str] | None:
    """Return line and message of what makes the file no TOML, in version 1.0 as in 1.1."""
    try:
        text = data.decode("utf-8")
    except ValueError:
        return None
    try:
        parse_toml(text)
    except tomllib.TOMLDecodeError as error:
        match = _TOML_PLACE.match(str(error))
        lines = text.split("\n")
        line = int(match["line"]) if match and match["line"] else len(lines)
        if _TEMPLATE.search(text) or _TOML_NEWER.search("\n".join(_statement(lines, line))):
            return None
        return line, match["message"] if match else str(error)
    except (ValueError, RecursionError):
        return None
    return None


def _statement(lines: list[str], number: int) -> list[str]:
    """Return the lines up to `number` from where its statement must have begun: a blank line or a table's header."""
    start = number - 1
    while start > 0 and lines[start].strip() and not lines[start].startswith("["):
        start -= 1
    return lines[start:number]


def check_yaml(data: bytes) -> tuple[int, str] | None:
    """Return line and message of what makes the file no YAML, where PyYAML (the extra `syntax`) is installed."""
    try:
        yaml: Any = import_module("yaml")
        text = data.decode("utf-8-sig")
    except (ImportError, ValueError):
        return None
    if _TEMPLATE.search(text) or _nested_too_deeply(text):
        return None
    try:
        # Events only: nothing is constructed, aliases are not expanded, tags mean nothing.
        for _ in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            pass
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        said = " ".join(str(part) for part in (error.context, error.problem) if part)
        return (mark.line + 1, said) if mark is not None and _YAML_SURE.search(said) else None
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return None


def _nested_too_deeply(text: str) -> bool:
    """Tell whether brackets stand in one another so often that parsing takes too long; those in strings count too."""
    depth = 0
    for bracket in re.findall(r"[\[{\]}]", text):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        if depth > _DEPTH_MAX:
            return True
    return False
