"""What a gate run leaves behind, and what is made of it: values in, values out.

Sizes are in lines, times in seconds. `stdout` and `stderr` are decoded text (bytes that are not UTF-8 as U+FFFD).
"""

from dataclasses import dataclass

from noface.core.gate import GateKind
from noface.core.taxonomy import FailureKind


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
    source: str = ""

    @property
    def messages(self) -> tuple[str, ...]:
        """The first line of what each failing test said."""
        return tuple(case.message.partition("\n")[0] for case in self.cases)


@dataclass(frozen=True, slots=True)
class GateEvidence:
    """One run of a gate. `exit_code` is None where it was ended by its limit or never started.

    `repo_files` are the project's paths: own and third-party modules that are missing look alike in a log.
    """

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


@dataclass(frozen=True, slots=True)
class AlsoMatched:
    """A rule that matched and did not decide, with its line and the reason it lost."""

    rule: str
    line: str
    why: str


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """What a gate run means. `kind` is None where it passed.

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
    also_matched: tuple[AlsoMatched, ...] = ()

    @property
    def passed(self) -> bool:
        """True where nothing failed."""
        return self.kind is None
