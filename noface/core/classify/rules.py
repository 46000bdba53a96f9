"""What a rule is. Rules are data: a name, the kind it speaks for, and the format it knows a line by.

A rule is looked up by its literals (`needs`), never by scanning: `pattern` is matched only against lines that hold
one of them, so hundreds of rules cost little more than one.
"""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

from noface.core.taxonomy import FailureKind


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
class Rule:
    """A line format. Named groups of the pattern are used where they are there.

    `file` and `line` give the location, `test` the failing test, `exc` and `msg` an exception whose type decides
    the kind, `dep` a missing dependency: `kind` where it is somebody else's, `own_kind` where it is the project's.
    `tools`: at least one must be named by the command or announced by the output. `code` limits the exit codes.
    `even_in_tests`: counts also where tests ran and failed. `quotes`: the format itself begins like an expectation.
    `only_in_tests`: a failed expectation's words, which prove nothing where no test is known to have failed.
    `below`: where the line ends with a colon, the line after it says what happened. A group `row` is a line number
    in the file that a heading above names.
    `example` is a line of real output that the pattern matches.
    """

    name: str
    kind: FailureKind
    needs: tuple[str, ...]
    pattern: str
    example: str
    level: Level = Level.DIAGNOSTIC
    own_kind: FailureKind | None = None
    language: str = ""
    tools: tuple[str, ...] = ()
    code: tuple[int, ...] = ()
    even_in_tests: bool = False
    quotes: bool = False
    only_in_tests: bool = False
    below: bool = False

    @property
    def regex(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return _compiled(self.pattern)


@dataclass(frozen=True, slots=True)
class NameRule:
    """A line format that names a failing test (group `test`, optionally `suite`); `below`: the line after it does."""

    name: str
    needs: tuple[str, ...]
    pattern: str
    example: str
    join: str = "{test}"
    below: bool = False

    @property
    def regex(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return _compiled(self.pattern)


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that matched: which line, what it says the failure is, and where the fault lies.

    `said` is the text where it stands in no line of the log (line -1), as in a report.
    """

    rule: str
    kind: FailureKind
    level: Level
    line: int
    location: str | None = None
    test: str | None = None
    even_in_tests: bool = False
    only_in_tests: bool = False
    said: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a runner's summary says. None: not said. `told_apart`: the runner tells failures from errors.

    `alone`: the line held one number, and belongs with its neighbours. `said`: the classes of numbers it held.
    """

    line: int
    total: int | None = None
    passed: int | None = None
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    told_apart: bool = False
    runner: str = "counts"
    alone: bool = False
    said: tuple[str, ...] = ()

    @property
    def ran(self) -> int:
        """How many tests really ran: neither skipped nor excluded."""
        parts = (self.passed or 0) + self.failed + self.errors
        if self.passed is not None or self.total is None:
            return parts
        return max(parts, self.total - self.skipped)

    @property
    def bad(self) -> int:
        """Tests that did not pass."""
        return self.failed + self.errors


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader of one runner's format understood.

    `owned` are the lines it has explained (half-open spans): no other rule looks at them, so that what a failing
    test printed or compared is never taken for a failure of its own.
    """

    runner: str
    counts: tuple[Counts, ...] = ()
    findings: tuple[Finding, ...] = ()
    failing: tuple[str, ...] = ()
    owned: tuple[tuple[int, int], ...] = ()
