"""What is wrong with a noface.toml, as sentences with a line: from pydantic's errors, and from rules' findings."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from noface.config.keys import SectionKeys, Shape, all_sections, did_you_mean, dotted, keys_at, nearest, section_at
from noface.config.lines import Path, nearest_line
from noface.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_SHOWN_CHARS_MAX = 60
# A longer list of choices hides the one that was meant.
_CHOICES_LISTED_MAX = 15

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
# pydantic's error types for what is no section at all, or a section of another shape.
_NO_SECTION = {"model_type", "tuple_type", "dict_type"}


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
        here, _ = section_at(tuple(table))
        homes = [section.header for section in all_sections() if name in section.keys and section != here]
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
    context: dict[str, Any] = detail.get("ctx", {})
    if kind == "extra_forbidden":
        return unknown_key(path)
    if kind == "missing":
        return Problem(path, f"missing; expected {_described(path)}")
    if path[-1] == "[key]" and kind == "literal_error":
        return Problem(path[:-1], f"unknown key; {did_you_mean(str(found), _choices(context))}")
    # What stands in env may be a secret.
    got = "" if "env" in path else f"; got {shown(found)}"
    section, rest = section_at(path)
    if section is not None and not rest and kind in _NO_SECTION:
        return Problem(path, f"expected {_section_expected(section)}{got}")
    hint = ""
    if kind == "literal_error" and isinstance(found, str):
        choices = _choices(context)
        match = nearest(found, choices)
        if match and len(choices) > _CHOICES_LISTED_MAX:
            return Problem(path, f'there is no {shown(found)}; did you mean "{match}"?')
        hint = f'; did you mean "{match}"?' if match else ""
    context = {name: str(value).replace("'", '"') if name == "expected" else value for name, value in context.items()}
    wanted = _EXPECTED[kind].format(**context) if kind in _EXPECTED else detail["msg"]
    return Problem(path, f"expected {wanted}{got}{hint}")


def _choices(context: Mapping[str, Any]) -> list[str]:
    """Return the words that pydantic lists as one sentence: 'a', 'b' or 'c'."""
    return re.findall(r"'([^']*)'", str(context["expected"]))


def _described(path: Path) -> str:
    section, _ = section_at(path[:-1])
    field = section.model.model_fields.get(str(path[-1])) if section is not None else None
    return (field.description if field is not None else None) or "a value"


def _section_expected(section: SectionKeys) -> str:
    return {
        Shape.TABLE: f"a table, written {section.header}",
        Shape.ARRAY: f"an array of tables, each written {section.header}",
        Shape.NAMED: f"a table for each name, written {section.header}",
    }[section.shape]
