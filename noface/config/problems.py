"""What is wrong with a noface.toml, as sentences with a line: from pydantic's errors, and from the rules.

Which keys there are is read off the models, so that errors, the example and edits can't drift from them.
"""

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, get_args, get_origin

from noface.config.lines import KeyPath, dotted, nearest_line
from noface.config.sections import Config
from noface.config.values import Section
from noface.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails


class Shape(Enum):
    """How a section is written: [run], [[gates]], or [models.NAME]."""

    TABLE = auto()
    ARRAY = auto()
    NAMED = auto()


class SectionKeys(NamedTuple):
    """A section: its name after those of its parents, its shape, and the model of its keys or of those of an item."""

    name: tuple[str, ...]
    shape: Shape
    model: type[Section]

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.model.model_fields)

    @property
    def inner(self) -> "Mapping[str, SectionKeys]":
        return _sections_of(self.model, self.name)

    @property
    def header(self) -> str:
        name = ".".join(self.name)
        return {Shape.TABLE: f"[{name}]", Shape.ARRAY: f"[[{name}]]", Shape.NAMED: f"[{name}.NAME]"}[self.shape]


def sections() -> Mapping[str, SectionKeys]:
    return _sections_of(Config, ())


def all_sections() -> tuple[SectionKeys, ...]:
    return tuple(each for section in sections().values() for each in (section, *section.inner.values()))


@cache
def _sections_of(model: type[Section], name: tuple[str, ...]) -> Mapping[str, SectionKeys]:
    inner_sections = {}
    for key, field in model.model_fields.items():
        shape, inner = _shape(field)
        if isinstance(inner, type) and issubclass(inner, Section):
            inner_sections[key] = SectionKeys((*name, key), shape, inner)
    return inner_sections


def _shape(field: "FieldInfo") -> tuple[Shape, object]:
    origin, arguments = get_origin(field.annotation), get_args(field.annotation)
    if origin is tuple:
        return Shape.ARRAY, arguments[0]
    if origin is Mapping:
        return Shape.NAMED, arguments[1]
    return Shape.TABLE, field.annotation


def section_at(path: KeyPath) -> tuple[SectionKeys | None, KeyPath]:
    """Return the innermost section that `path` leads into, and what is left of the path there.

    Of arrays and named sections the item counts as part of the section: ("gates", 0, "name") leaves ("name",).
    """
    innermost: SectionKeys | None = None
    known, rest = sections(), path
    while rest and (section := known.get(str(rest[0]))) is not None:
        innermost, known = section, section.inner
        rest = rest[1 if section.shape is Shape.TABLE else 2 :]
    return innermost, rest


def nearest(name: str, known: Iterable[str]) -> str | None:
    by_folded = {one.lower().replace("-", "_"): one for one in known}
    folded = name.lower().replace("-", "_")
    ends = [one for one in by_folded if one.endswith(f"_{folded}")]
    matches = ends or difflib.get_close_matches(folded, by_folded, n=1, cutoff=0.6)
    return by_folded[matches[0]] if matches else None


_ELSEWHERE_CALLED = {
    "learn_from_errors": "learn of [recovery]",
    "retry_delay_ms": "backoff_base of [retry]",
    "max_retries": "max_total_attempts of [retry], or transient_retries of outages",
    "max_recovery_attempts": "max_strategies of [recovery]",
}
"""What keys of other programs and of descriptions of recovery are called here."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return what a name that is not known may be: another program's, one like it, or any of those that are."""
    known = tuple(known)
    if name in _ELSEWHERE_CALLED:
        return f"it is called {_ELSEWHERE_CALLED[name]}"
    match = nearest(name, known)
    if match:
        return f'did you mean "{match}"?'
    return f"known are: {', '.join(known)}" if known else "there are none"


def unknown_model(name: str, known: Iterable[str]) -> UsageError:
    meant = did_you_mean(name, known)
    return UsageError(f"--model {name}: there is no such model.", f"{meant[0].upper()}{meant[1:]}")


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
_SHAPES = {Shape.TABLE: "a table", Shape.ARRAY: "an array of tables", Shape.NAMED: "a table for each name"}
# pydantic's error types for what is no section at all, or a section of another shape.
_NO_SECTION = {"model_type", "tuple_type", "dict_type"}


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with noface.toml. `line` is None where the file has nothing to point at."""

    path: KeyPath
    message: str
    line: int | None = None

    @property
    def key(self) -> str:
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


def located(problems: Iterable[Problem], lines: Mapping[KeyPath, int]) -> tuple[Problem, ...]:
    placed = [replace(problem, line=nearest_line(lines, problem.path)) for problem in problems]
    return tuple(sorted(placed, key=lambda problem: (problem.line or 0, problem.key)))


def from_validation(error: "ValidationError") -> list[Problem]:
    return [_problem(detail) for detail in error.errors(include_url=False)]


def unknown_key(path: KeyPath) -> Problem:
    """Say that noface.toml has no key `path`, and which one was probably meant."""
    *table, name = path
    section, rest = section_at(tuple(table))
    known: Iterable[str] = tuple(sections()) if not table else () if section is None or rest else section.keys
    if nearest(str(name), known) is None:
        homes = [other.header for other in all_sections() if name in other.keys and other != section]
        if homes:
            return Problem(path, f"unknown key here; it belongs in {' or '.join(homes)}")
    return Problem(path, f"unknown key; {did_you_mean(str(name), known)}")


def _problem(detail: "ErrorDetails") -> Problem:
    path: KeyPath = detail["loc"]
    kind, value = detail["type"], detail["input"]
    context: Mapping[str, object] = detail.get("ctx", {})
    if kind == "extra_forbidden":
        return unknown_key(path)
    if kind == "missing":
        section, _ = section_at(path[:-1])
        field = section.model.model_fields.get(str(path[-1])) if section is not None else None
        return Problem(path, f"missing; expected {(field and field.description) or 'a value'}")
    if path[-1] == "[key]" and kind == "literal_error":
        return Problem(path[:-1], f"unknown key; {did_you_mean(str(value), _choices(context))}")
    shown = json.dumps(value, ensure_ascii=False, default=str)
    shown = shown if len(shown) <= _SHOWN_CHARS_MAX else f"{shown[: _SHOWN_CHARS_MAX - 1]}…"
    # What stands in env may be a secret.
    got = "" if "env" in path else f"; got {shown}"
    section, rest = section_at(path)
    if section is not None and not rest and kind in _NO_SECTION:
        return Problem(path, f"expected {_SHAPES[section.shape]}, written {section.header}{got}")
    hint = ""
    if kind == "literal_error" and isinstance(value, str):
        choices = _choices(context)
        match = nearest(value, choices)
        if match and len(choices) > _CHOICES_LISTED_MAX:
            return Problem(path, f'there is no {shown}; did you mean "{match}"?')
        hint = f'; did you mean "{match}"?' if match else ""
    context = {name: str(item).replace("'", '"') if name == "expected" else item for name, item in context.items()}
    wanted = _EXPECTED[kind].format(**context) if kind in _EXPECTED else detail["msg"]
    return Problem(path, f"expected {wanted}{got}{hint}")


def _choices(context: Mapping[str, Any]) -> list[str]:
    return re.findall(r"'([^']*)'", str(context["expected"]))
