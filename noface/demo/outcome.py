"""What a run of the oracle's tests showed, and how one run compares with another."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Lines = Mapping[str, Mapping[str, tuple[int, ...]]]
"""For each test, for each file of the project, the lines it ran."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One test: passed, failed, skipped, unfinished, or error (not even imported).

    `line` is how far into its own file it got.
    """

    outcome: str
    message: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """One run: `green` where every command came to its own end with success; `cpu_s` in seconds of one core."""

    tests: Mapping[str, Verdict]
    green: bool
    cpu_s: float = 0.0
    ended: str = "itself"
    lines: Lines = field(default_factory=dict)

    @property
    def passed(self) -> frozenset[str]:
        """The tests that passed."""
        return frozenset(name for name, verdict in self.tests.items() if verdict.outcome == "passed")

    @property
    def failed(self) -> frozenset[str]:
        """The tests, or files that couldn't be imported, that failed."""
        return frozenset(
            name for name, verdict in self.tests.items() if verdict.outcome in {"failed", "error", "unfinished"}
        )


@dataclass(frozen=True, slots=True, order=True)
class Fitness:
    """How good a candidate is: first by tests passing, then by how far the failing ones got."""

    passing: int
    progress: int


@dataclass(frozen=True, slots=True)
class Goal:
    """What a patch has to reach, taken from the run before any edit."""

    before: Outcome

    @property
    def wanted(self) -> frozenset[str]:
        """The tests that must pass."""
        return self.before.passed | frozenset(
            name for name, verdict in self.before.tests.items() if verdict.outcome in {"failed", "unfinished"}
        )

    def reached(self, now: Outcome) -> bool:
        """Return True where everything wanted passes and the run was green."""
        return now.green and bool(now.passed) and self.wanted <= now.passed

    def fitness(self, now: Outcome) -> Fitness:
        """Return the fitness of a run."""
        wanted = self.wanted
        passing = len(wanted & now.passed)
        failing = (now.tests[name] for name in wanted - now.passed if name in now.tests)
        return Fitness(passing, sum(verdict.line for verdict in failing))

    def broke(self, now: Outcome) -> bool:
        """Return True where a test that passed before passes no longer."""
        return not self.before.passed <= now.passed

    def changed(self, now: Outcome) -> bool:
        """Return True where a failing test fails in another way: the edit has to do with the bug."""
        return any(now.tests.get(name) != self.before.tests[name] for name in self.before.failed)

    def crashes(self, now: Outcome) -> bool:
        """Return True where a test fails with another exception than before: a wrong value became a wrong type."""
        return any(_exception(now.tests.get(name)) != _exception(self.before.tests.get(name)) for name in now.failed)


def _exception(verdict: Verdict | None) -> str:
    return verdict.message.partition(":")[0] if verdict else ""
