"""The records of the gate classifier: what a run leaves behind, what its output says, and what is made of it."""

from dataclasses import dataclass

from noface.diagnosis.rules import Level
from noface.model.gate import GateKind
from noface.model.taxonomy import FailureKind


@dataclass(frozen=True, slots=True)
class ReportCase:
    """One test of a report that did not pass. `failed` tells an assertion (True) from an exception (False)."""

    name: str
    failed: bool
    type: str = ""
    message: str = ""
    text: str = ""
    location: str | None = None


@dataclass(frozen=True, slots=True)
class TestReport:
    """A machine-readable test report (JUnit XML or TAP): the strongest evidence of what ran and what failed."""

    __test__ = False

    tests: int
    failures: int = 0
    errors: int = 0
    skipped: int = 0
    failing: tuple[str, ...] = ()
    cases: tuple[ReportCase, ...] = ()


@dataclass(frozen=True, slots=True)
class GateEvidence:
    """One run of a gate; `exit_code` is None if its limit ended it or it never started."""

    command: str
    exit_code: int | None
    stdout: str
    stderr: str
    seconds: float = 0.0
    limit_s: float | None = None
    timed_out: bool = False
    kind: GateKind | None = None
    repo_files: tuple[str, ...] | None = None
    report: TestReport | None = None


Lost = tuple[str, str, str]
"""A rule that matched and did not decide, its line, and the reason it lost."""


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What a gate run means. `kind` is None if it passed.

    `signature` is the same for the same failure in another run: it holds no addresses, times, temporary paths or
    line numbers that merely moved. `excerpt` is at most 40 lines, those a developer would look at first.
    """

    kind: FailureKind | None
    message: str
    rule: str
    key_line: str = ""
    location: str | None = None
    failing_tests: tuple[str, ...] = ()
    tests_run: int | None = None
    stack_trace: str = ""
    excerpt: str = ""
    signature: str = ""
    evidence: tuple[str, ...] = ()
    also_matched: tuple[Lost, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleMatch:
    """A rule that matched: which line, what failed, and where. `text` is what it says if no line does (line -1)."""

    rule: str
    kind: FailureKind
    level: Level
    line: int
    location: str | None = None
    test: str | None = None
    even_in_tests: bool = False
    only_in_tests: bool = False
    text: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a runner's summary says. None: not stated. `separates_errors`: the runner tells failures from errors.

    `alone`: the line held one number, and belongs with its neighbours. `classes`: the classes of numbers it held.
    """

    line: int
    total: int | None = None
    passed: int | None = None
    failed: int = 0
    errors: int = 0
    skipped: int = 0
    separates_errors: bool = False
    runner: str = "counts"
    alone: bool = False
    classes: tuple[str, ...] = ()

    @property
    def ran(self) -> int:
        parts = (self.passed or 0) + self.failed + self.errors
        if self.passed is not None or self.total is None:
            return parts
        return max(parts, self.total - self.skipped)

    @property
    def tells_ran(self) -> bool:
        """True if it says how many tests ran, and not only that none of them failed."""
        return self.total is not None or self.passed is not None or self.skipped > 0 or self.bad > 0

    @property
    def bad(self) -> int:
        return self.failed + self.errors


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader of one runner's format understood.

    `owned` are the lines it has explained (half-open spans): no other rule looks at them, so that what a failing
    test printed or compared is never taken for a failure of its own. `data`: the lines are data that a tool shows, and
    what another reader finds in them is nothing.
    """

    runner: str
    counts: tuple[Counts, ...] = ()
    findings: tuple[RuleMatch, ...] = ()
    failing: tuple[str, ...] = ()
    owned: tuple[tuple[int, int], ...] = ()
    data: bool = False
