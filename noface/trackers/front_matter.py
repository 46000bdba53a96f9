"""The TOML front matter of an issue file. This module alone here imports pydantic: import it inside functions."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from noface.config.values import Duration
from noface.model.backlog import nearest
from noface.model.issue import DEFAULT_PRIORITY, Issue
from noface.model.listed import IssueFault
from noface.model.quoting import literal
from noface.trackers.base import clean_title, title_problem
from noface.trackers.issue_body import IssueBody

FRONT_MATTER_BYTES_MAX = 16_384
"""tomllib takes quadratic time for a dotted key: a second for one this long, a quarter of a minute for 64 KiB."""
PRIORITY_MAX = 9
TIER_MAX = 9
PROBLEMS_MAX = 20
"""Problems listed of one file; the line of each costs a pass over it."""


def _on_line(line: int | None, problem: str) -> str:
    return problem if line is None else f"line {line}: {problem}"


def _title(value: str) -> str:
    title = clean_title(value)
    if problem := title_problem(title):
        raise ValueError(problem)
    return title


def _word(value: str) -> str:
    word = value.strip()
    if not word or not word.isprintable():
        raise ValueError("holds an entry that is blank or has control characters")
    return word


def _command(value: str) -> str:
    # Commands may have several lines, but execve ends an argument at a NUL.
    if not value.strip() or "\0" in value:
        raise ValueError("holds a command that is blank or has a NUL")
    return value


def _inside(value: str) -> str:
    path = _word(value).removeprefix("./")
    if path.startswith(("/", "~")) or ".." in path.split("/"):
        raise ValueError(f"{literal(value)} leads out of the repository: globs are relative to its top folder")
    return path


_T = TypeVar("_T")
_Word = Annotated[str, AfterValidator(_word)]
_Inside = Annotated[str, AfterValidator(_inside)]
# TOML has arrays; the issue holds tuples.
_Items = Annotated[tuple[_T, ...], Field(strict=False)]
_Distinct = Annotated[tuple[_T, ...], Field(strict=False), AfterValidator(lambda items: tuple(dict.fromkeys(items)))]


class FrontMatter(BaseModel):
    """The keys an issue file may set. Every one may be left out; then the title is the first heading."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    title: Annotated[str, AfterValidator(_title)] | None = None
    priority: Annotated[int, Field(ge=0, le=PRIORITY_MAX)] = DEFAULT_PRIORITY
    labels: _Distinct[_Word] = ()
    depends_on: _Distinct[Annotated[_Word, BeforeValidator(lambda each: str(each) if type(each) is int else each)]] = ()
    paths: _Items[_Inside] = ()
    accept: Annotated[
        _Items[Annotated[str, AfterValidator(_command)]],
        BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    ] = ()
    model: _Word | None = None
    tier: Annotated[int, Field(ge=1, le=TIER_MAX)] | None = None
    max_attempts: Annotated[int, Field(ge=1)] | None = None
    no_escalate: bool = False
    candidates: Annotated[int, Field(ge=1, le=8)] | None = None
    may_change: _Items[_Inside] = ()
    accept_timeout_s: Annotated[Duration | None, Field(alias="accept_timeout")] = None

    def apply_to(self, issue: Issue) -> Issue:
        return replace(issue, **{name: value for name, value in self if name != "title"})


_EXPECTED = {
    "title": "one line of text",
    "priority": f"a whole number from 0 (most urgent) to {PRIORITY_MAX}",
    "labels": 'a list of strings such as ["backend"]',
    "depends_on": 'a list of ids such as [3, "login-page"]',
    "paths": 'a list of globs such as ["src/**"]',
    "accept": 'a command, or a list of commands such as ["pytest tests/test_login.py"]',
    "model": "the name of a model of noface.toml",
    "tier": f"a whole number from 1 to {TIER_MAX}, the lowest tier of [models] that works on it",
    "max_attempts": "a whole number from 1 up",
    "no_escalate": "true or false",
    "candidates": "a whole number from 1 to 8: so many workers at once, the best work lands",
    "may_change": 'a list of globs of protected files, such as ["CLAUDE.md"]',
    "accept_timeout": 'a duration above zero, such as "10m" or 600 (seconds)',
}


def read_front_matter(text: str, first_line: int) -> tuple[FrontMatter | None, list[str]]:
    """Parse the lines between the `+++`, from `first_line` of the file on; return the values, or all problems."""
    if (size := len(text.encode())) > FRONT_MATTER_BYTES_MAX:
        problem = f"the front matter has {size} bytes, at most {FRONT_MATTER_BYTES_MAX} are allowed"
        return None, [_on_line(first_line, problem)]
    try:
        # Blank lines in front make tomllib count as the file does.
        data = tomllib.loads(f"{chr(10) * (first_line - 1)}{text}\n")
    except RecursionError:
        return None, [_on_line(first_line, "the front matter is nested too deeply")]
    except ValueError as error:
        return None, [f"the front matter is not valid TOML: {error}"]
    matter, problems = validate(data)
    lines = text.split("\n")
    return matter, [_on_line(_line_of(key, lines, first_line), problem) for key, problem in problems]


def validate(data: Mapping[str, object]) -> tuple[FrontMatter | None, list[tuple[str, str]]]:
    """Check values that need not come from a file; returns them, or None and (key, problem) for each problem."""
    try:
        return FrontMatter.model_validate(data), []
    except ValidationError as error:
        details = error.errors(include_url=False)
        problems = dict.fromkeys((str(each["loc"][0]), _problem_text(each, data)) for each in details[:PROBLEMS_MAX])
        if len(details) > PROBLEMS_MAX:
            problems[("", f"and {len(details) - PROBLEMS_MAX} problems more")] = None
        return None, list(problems)


def read_settings(body: IssueBody) -> tuple[FrontMatter, list[str]]:
    """Return what front matter and `paths` of a body set, and every problem; what has problems counts for nothing."""
    problems = [body.problem] if body.problem else []
    matter, wrong = read_front_matter(body.front, body.front_line) if body.front is not None else (FrontMatter(), [])
    sections, wrong_keys = validate({"paths": list(body.paths)}) if body.paths else (FrontMatter(), [])
    problems += [*wrong, *(f"below its heading {problem}" for _, problem in wrong_keys)]
    if matter is None or sections is None:
        return FrontMatter(), problems
    return matter.model_copy(update={"paths": tuple(dict.fromkeys([*matter.paths, *sections.paths]))}), problems


def refused_keys(matter: FrontMatter, issue: Issue) -> list[IssueFault]:
    """Return a warning for each key that an issue file may set, and an issue from elsewhere may not."""
    warnings = []
    if matter.may_change:
        problem = f"may_change = {literal(list(matter.may_change))} is left out: only an issue file may set it"
        hint = "Unprotect the files in noface.toml ([protect]), or write this issue as a file."
        warnings.append(IssueFault(issue.source, problem, hint, issue.id))
    if matter.title is not None and matter.title != issue.title:
        hint = "Take the line out of the front matter."
        warnings.append(IssueFault(issue.source, "title is left out: the issue has one", hint, issue.id))
    return warnings


def _problem_text(details: ErrorDetails, data: Mapping[str, object]) -> str:
    key = str(details["loc"][0])
    if details["type"] == "extra_forbidden":
        match = nearest(key, _EXPECTED)
        known = f"did you mean {match}?" if match else f"the keys are {', '.join(_EXPECTED)}"
        return f"unknown key {literal(key)}: {known}"
    if details["type"] == "value_error":
        reason = str(details["ctx"]["error"])
        return reason if key == "title" else f"{key}: {reason}"
    if len(details["loc"]) > 1:
        return f"{key} must be {_EXPECTED[key]}; its entry {int(details['loc'][1]) + 1} is {_brief(details['input'])}"
    return f"{key} must be {_EXPECTED[key]}, not {_brief(data[key])}"


def _brief(value: object) -> str:
    # The repr of a deeply nested table is a recursion of its own.
    return "a table" if isinstance(value, dict) else "a list" if isinstance(value, list) else literal(value)


def _line_of(key: str, lines: Sequence[str], first_line: int) -> int | None:
    name = re.escape(key)
    pattern = re.compile(rf"""\s*\[{{0,2}}\s*(?:"{name}"|'{name}'|{name})\s*[.=\]]""")
    return next((first_line + at for at, line in enumerate(lines) if key and pattern.match(line)), None)
