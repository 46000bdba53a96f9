"""What the way a gate ended says: killed at its limit, killed by a signal, command missing, silent."""

from noface.core.classify.context import Repo
from noface.core.classify.evidence import GateEvidence
from noface.core.classify.rules import Finding, Level
from noface.core.classify.text import Log
from noface.core.classify.trace import place_below
from noface.core.taxonomy import FailureKind

EXIT_TIMEOUT = 124
EXIT_NOT_EXECUTABLE = 126
EXIT_NOT_FOUND = 127
EXIT_SIGNAL = 128
KILLED = frozenset({137, 143, -9, -15})
_NEARLY = 0.97


def ran_out_of_time(evidence: GateEvidence) -> bool:
    """Whether the gate was ended by a limit: its own, or that of a `timeout` inside it (exit code 124).

    137 long before the limit is the kernel's OOM killer or somebody's kill, and no timeout.
    """
    if evidence.timed_out or evidence.exit_code == EXIT_TIMEOUT:
        return True
    if evidence.limit_s is None:
        return False
    late = evidence.seconds >= evidence.limit_s * _NEARLY
    return late and (evidence.exit_code is None or evidence.exit_code in KILLED)


def timeout_line(log: Log, findings: list[Finding], repo: Repo) -> tuple[int, str | None]:
    """Return the line that says where the time went, and its place: a runner's own word, else stdout's last line."""
    for finding in findings:
        if finding.kind is FailureKind.TIMEOUT:
            return finding.line, finding.location
    for number in (*range(log.err - 1, -1, -1), *range(len(log.lines) - 1, log.err - 1, -1)):
        if log.get(number).strip():
            return number, dumped_place(log, repo)
    return -1, None


def dumped_place(log: Log, repo: Repo) -> str | None:
    """Where the code stood when a watchdog dumped its stack (faulthandler, pytest-timeout)."""
    for number in log.lines_with("most recent call first"):
        place = place_below(log, number, repo)
        if place:
            return place
    return None


def exit_findings(evidence: GateEvidence, log: Log) -> list[Finding]:
    """Return what the exit code says by itself."""
    code = evidence.exit_code
    last = next((n for n in range(len(log.lines) - 1, -1, -1) if log.get(n).strip()), -1)
    if code is None:
        return [Finding("exit.none", FailureKind.UNKNOWN, Level.EXIT_CODE, last)]
    if code in {EXIT_NOT_FOUND, EXIT_NOT_EXECUTABLE}:
        return [Finding("exit.command-missing", FailureKind.ENVIRONMENT, Level.EXIT_CODE, last)]
    if code < 0 or EXIT_SIGNAL < code <= EXIT_SIGNAL + 64:
        return [Finding("exit.signal", FailureKind.RUNTIME_ERROR, Level.EXIT_CODE, last)]
    if last < 0:
        return [Finding("exit.silent", FailureKind.RUNTIME_ERROR, Level.EXIT_CODE, -1)]
    return []
