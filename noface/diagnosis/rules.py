"""What a rule is, and the tables of rules in `gate_rules/*.toml`, which are looked up by literals (`needs`)."""

import re
import tomllib
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from importlib.resources import files

from noface.model.codec import decode
from noface.model.taxonomy import FailureKind

FILES = (
    *("system", "build", "python", "javascript", "jvm", "go", "rust", "c", "dotnet", "classic", "modern", "functional"),
    *("ruby", "php", "perl", "shell", "beam", "lua_tcl", "science", "symbolic", "query", "data", "plain", "generic"),
)
"""The tables, one an ecosystem. Of two rules of the same worth that match one line, the earlier one is named."""
_LAST_RESORT = "generic"
"""The table whose names of tests count only if no other table and no numbered list names one."""


class Level(IntEnum):
    """How much a finding is worth: structure before keywords."""

    WORDS = 1
    EXIT_CODE = 2
    TRACEBACK = 3
    DIAGNOSTIC = 4
    SUMMARY = 5
    REPORT = 6


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile on first use: of hundreds of rules most see no line of theirs in a run."""
    return re.compile(pattern)


@dataclass(frozen=True, slots=True)
class LineRule:
    """A line format: an entry of `[[rules]]`. Named groups of the pattern are used if they are there.

    `file` and `line` give the location, `test` the failing test, `exc` and `msg` an exception whose type decides
    the kind, `dep` a missing dependency: `kind` if it is somebody else's, `own_kind` if it is the project's.
    `tools`: at least one must be named by the command or announced by the output. `code` limits the exit codes.
    `even_in_tests`: counts also if tests ran and failed. `quotes`: the format itself begins like an expectation.
    `only_in_tests`: a failed expectation's words, which prove nothing if no test is known to have failed.
    `below`: if the line ends with a colon, the line after it says what happened. A group `row` is a line number
    in the file that a heading above names.
    `example` is a line of real output that the pattern matches, `recording` the case of the corpus it is seen in.
    """

    name: str
    kind: FailureKind
    needs: tuple[str, ...]
    pattern: str
    example: str
    level: Level = Level.DIAGNOSTIC
    own_kind: FailureKind | None = None
    tools: tuple[str, ...] = ()
    code: tuple[int, ...] = ()
    even_in_tests: bool = False
    quotes: bool = False
    only_in_tests: bool = False
    below: bool = False
    recording: str = ""

    @property
    def regex(self) -> re.Pattern[str]:
        return _compiled(self.pattern)


@dataclass(frozen=True, slots=True)
class NameRule:
    """A line format that names a failing test by `test` and perhaps `suite`; `below`: the line after it is the name."""

    name: str
    needs: tuple[str, ...]
    pattern: str
    example: str
    join: str = "{test}"
    below: bool = False
    recording: str = ""

    @property
    def regex(self) -> re.Pattern[str]:
        return _compiled(self.pattern)


@dataclass(frozen=True, slots=True)
class RuleBook:
    """All tables. `no_tests` are the rules that speak even if the gate passed."""

    rules: tuple[LineRule, ...]
    no_tests: tuple[LineRule, ...]
    test_names: tuple[NameRule, ...]
    loose_test_names: tuple[NameRule, ...]


@cache
def rule_book() -> RuleBook:
    """Return the tables, read on first use."""
    folder = files("noface.diagnosis").joinpath("gate_rules")
    tables = {name: read_rules(folder.joinpath(f"{name}.toml").read_text("utf-8")) for name in FILES}
    rules = tuple(rule for rules, _ in tables.values() for rule in rules)
    return RuleBook(
        rules=rules,
        no_tests=tuple(r for r in rules if r.kind is FailureKind.NO_TESTS and r.level >= Level.DIAGNOSTIC),
        test_names=tuple(name for table, (_, names) in tables.items() if table != _LAST_RESORT for name in names),
        loose_test_names=tables[_LAST_RESORT][1],
    )


def read_rules(text: str) -> tuple[tuple[LineRule, ...], tuple[NameRule, ...]]:
    """Return a table's rules in their order. Raises ValueError, TypeError or KeyError for an entry that is none."""
    data = tomllib.loads(text)
    levels = (Level[each.get("level", "diagnostic").upper()] for each in data.get("rules", ()))
    rules = zip(data.get("rules", ()), levels, strict=True)
    names = tuple(decode(NameRule, each) for each in data.get("test_names", ()))
    return tuple(decode(LineRule, {**each, "level": level}) for each, level in rules), names
