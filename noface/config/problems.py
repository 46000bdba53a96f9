"""What is wrong with a noface.toml, as sentences with a line: from pydantic's errors, and from rules' findings."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from noface.config.keys import Shape, did_you_mean, dotted, keys_at, nearest, sections
from noface.config.lines import Path, nearest_line
from noface.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_SHOWN_CHARS_MAX = 60

# pydantic's error type → what was expected there; {…} is filled from the error's own context.
_EXPECTED = {
    "expected": "{what}",
    "literal_error": "one of {expected}",
    "string_type": 'text in quotes, such as "…"',
    "int_type": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "tuple_type": 'a list, such as ["…"]',
    "dict_type": 'a table, such as {{ KEY = "…" }}',
    "greater_than": "a number above {gt:g}",
    "greater_than_equal": "a number not below {ge:g}",
    "less_than_equal": "a number not above {le:g}",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with noface.toml. `line` is None where the file has nothing to point at."""

    path: Path
    message: str
    line: int | None = None

    @property
    def key(self) -> str:
        """The key as a person would write it; empty for the whole file."""
        return dotted(self.path)


class InvalidConfigError(ConfigError):
    """noface.toml has these problems; the message lists them all."""

    def __init__(self, source: str, problems: tuple[Problem, ...]) -> None:
        count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
        lines = [f"{source} has {count}:"]
        for problem in problems:
            place = source if problem.line is None else f"{source}:{problem.line}"
            lines.append(f"  {place}: {f'{problem.key}: ' if problem.path else ''}{problem.message}")
        super().__init__("\n".join(lines), "`noface config example` shows every key, with what it is for")
        self.problems = problems


def located(problems: Iterable[Problem], lines: Mapping[Path, int]) -> tuple[Problem, ...]:
    """Give each problem the line of its key, or of the innermost table that is there, and sort by line."""
    placed = [replace(problem, line=nearest_line(lines, problem.path)) for problem in problems]
    return tuple(sorted(placed, key=lambda problem: (problem.line or 0, problem.key)))


def from_validation(error: "ValidationError") -> list[Problem]:
    """Turn pydantic's findings into problems."""
    return [_problem(detail) for detail in error.errors(include_url=False)]


def unknown_key(path: Path) -> Problem:
    """Say that noface.toml has no key `path`, and which one was probably meant."""
    *table, name = path
    known = keys_at(tuple(table))
    if nearest(str(name), known) is None:
        homes = [_header(section) for section, keys in sections().items() if name in keys.keys and section != path[0]]
        if homes:
            return Problem(path, f"unknown key here; it belongs in {' or '.join(homes)}")
    return Problem(path, f"unknown key; {did_you_mean(str(name), known)}")


def shown(value: object) -> str:
    """Write a value of the file as the user would recognise it, cut to fit a line."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _SHOWN_CHARS_MAX else text[: _SHOWN_CHARS_MAX - 1] + "…"


def _problem(detail: "ErrorDetails") -> Problem:
    path: Path = detail["loc"]
    kind, found = detail["type"], detail["input"]
    if kind == "extra_forbidden":
        return unknown_key(path)
    if kind == "missing":
        return Problem(path, f"missing; expected {_described(path)}")
    # What stands in env may be a secret.
    got = "" if "env" in path else f"; got {shown(found)}"
    if len(path) == 1 or kind == "model_type":
        return Problem(path, f"expected {_section_expected(str(path[0]))}{got}")
    hint = ""
    context: dict[str, Any] = detail.get("ctx", {})
    if kind == "literal_error" and isinstance(found, str):
        match = nearest(found, context["expected"].replace("'", "").replace(" or ", ", ").split(", "))
        hint = f'; did you mean "{match}"?' if match else ""
    context = {name: str(value).replace("'", '"') if name == "expected" else value for name, value in context.items()}
    wanted = _EXPECTED[kind].format(**context) if kind in _EXPECTED else detail["msg"]
    return Problem(path, f"expected {wanted}{got}{hint}")


def _described(path: Path) -> str:
    section = sections()[str(path[0])]
    return section.model.model_fields[str(path[-1])].description or "a value"


def _header(section: str) -> str:
    return {
        Shape.TABLE: f"[{section}]",
        Shape.ARRAY: f"[[{section}]]",
        Shape.NAMED: f"[{section}.NAME]",
    }[sections()[section].shape]


def _section_expected(section: str) -> str:
    header = _header(section)
    return {
        Shape.TABLE: f"a table, written {header}",
        Shape.ARRAY: f"an array of tables, each written {header}",
        Shape.NAMED: f"a table for each name, written {header}",
    }[sections()[section].shape]
