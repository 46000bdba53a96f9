"""What a gate is for, by its kind, programs and names, and so what words mean that prove nothing by themselves."""

import re
from dataclasses import replace
from enum import Enum
from itertools import islice

from noface.data import Patterns
from noface.diagnosis.context import Context, known_tools
from noface.diagnosis.evidence import RuleMatch
from noface.diagnosis.places import places
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.gate import GateKind
from noface.model.taxonomy import FailureKind

_ROLE = Patterns("role")
_MISSING = Patterns("missing")
_WORD = re.compile(r"[^\s;|&()<>\"'`=]+")
_BUILTIN = re.compile(r"(?:^|[;&|({!]|\b(?:if|then|else|do|while|until))\s{0,8}(?:!\s{1,8})?test\s")
"""The shell's own `test`, which compares: it names no tests."""
_COMMAND_MAX = 20_000
_LINE_MAX = 1_000
_PLACED_LINES = 200


class GateRole(Enum):
    """What a gate looks for, as far as its command tells."""

    LINT = "findings of style, types, spelling or coverage"
    DIFFERENCE = "a difference between what is and what should be"
    CHECK = "a file of configuration or data that is not well-formed"
    TEST = "a test that fails"
    UNKNOWN = "unknown"


def role_of(context: Context) -> GateRole:
    """Return a gate's role: a linter's by its kind or programs, else its kind, else what its command names."""
    if context.kind is GateKind.LINT:
        return GateRole.LINT
    role = _by_command(context)
    return GateRole.TEST if context.kind is GateKind.TEST and role is not GateRole.LINT else role


def _by_command(context: Context) -> GateRole:
    command = _BUILTIN.sub(" ; ", context.command[:_COMMAND_MAX])
    words = _WORD.findall(command)
    tests = bool(context.tools & known_tools("test_runners"))
    if not tests and (context.tools & known_tools("linters") or any(_ROLE["lint"].search(word) for word in words)):
        return GateRole.LINT
    if context.tools & known_tools("differs"):
        return GateRole.DIFFERENCE
    if checkers := context.tools & known_tools("checkers"):
        return GateRole.TEST if any(f"{name} test" in context.tools for name in checkers) else GateRole.CHECK
    named = any(_ROLE["test"].search(word) for word in words) or _ROLE["target"].search(command)
    if tests or named:
        return GateRole.TEST
    if _ROLE["checks"].search(command):
        return GateRole.LINT
    return GateRole.CHECK if _ROLE["configuration"].search(command) else GateRole.UNKNOWN


_ORDER = {
    GateRole.LINT: (FailureKind.TIMEOUT, FailureKind.ENVIRONMENT, FailureKind.SYNTAX_ERROR, FailureKind.LINT_FAILURE),
    GateRole.DIFFERENCE: (FailureKind.ENVIRONMENT, FailureKind.SYNTAX_ERROR, FailureKind.TEST_FAILURE),
    GateRole.CHECK: (FailureKind.TIMEOUT, FailureKind.ENVIRONMENT, FailureKind.SYNTAX_ERROR),
    GateRole.TEST: tuple(sorted((kind for kind in FailureKind if kind.info.gate), key=lambda kind: kind.precedence)),
}
"""Of these roles only these kinds are believed on the strength of words, the first of them first."""

_FOUND = {
    GateRole.LINT: FailureKind.LINT_FAILURE,
    GateRole.UNKNOWN: FailureKind.LINT_FAILURE,
    GateRole.DIFFERENCE: FailureKind.TEST_FAILURE,
    GateRole.CHECK: FailureKind.SYNTAX_ERROR,
    GateRole.TEST: FailureKind.TEST_FAILURE,
}


def by_role(words: list[RuleMatch], log: Log, context: Context) -> list[RuleMatch]:
    """Return the findings among which to decide if only words are left; empty if they say nothing."""
    role = role_of(context)
    if role is GateRole.UNKNOWN:
        return words or [finding for finding in [_placed(role, log, context, formed=True)] if finding]
    if role is GateRole.TEST and context.tools & known_tools("test_runners"):
        return words
    for kind in _ORDER[role]:
        if same := [finding for finding in words if finding.kind is kind]:
            return same
    if words:
        return [replace(words[0], kind=_FOUND[role], rule=_name(role))]
    placed = _placed(role, log, context, formed=True) or _placed(role, log, context, formed=False)
    if placed is None and role is GateRole.TEST and _by_command(context) is not GateRole.TEST:
        return []  # that it says no kind tells nothing of a command that nobody knows
    # A row of "=" or "-" at the end only closes what was printed.
    last = max((number for number, line in enumerate(log.lines) if any(map(str.isalnum, line))), default=-1)
    return [placed or RuleMatch(_name(role), _FOUND[role], Level.WORDS, last)]


def _name(role: GateRole) -> str:
    return f"role.{role.name.lower()}"


def _placed(role: GateRole, log: Log, context: Context, *, formed: bool) -> RuleMatch | None:
    """Return what a gate found, at the first line that names (`formed`: begins with) a place of the project's own."""
    printed = (number for number, line in enumerate(log.lines) if line.strip())
    for number in islice(printed, _PLACED_LINES):
        line = log.get(number)
        own = places(line, context.repo) if not formed or _ROLE["finding"].match(line) else []
        if own:
            return RuleMatch(_name(role), _FOUND[role], Level.WORDS, number, own[0])
    return None


def of_tools(findings: list[RuleMatch], log: Log, context: Context) -> list[RuleMatch]:
    """Return the findings; an error that a tool raised in its own code, not the project's, is read by what it says."""
    if role_of(context) not in {GateRole.LINT, GateRole.CHECK, GateRole.DIFFERENCE, GateRole.UNKNOWN}:
        return findings
    return [_of_tool(finding, log) for finding in findings]


def _of_tool(finding: RuleMatch, log: Log) -> RuleMatch:
    traced = finding.rule in {"python.traceback", "trace.framed", "trace.head", "trace.typed-line"}
    if not traced or finding.kind is not FailureKind.RUNTIME_ERROR or finding.location is not None:
        return finding
    line = log.get(finding.line)[:_LINE_MAX]
    if _MISSING["phrase"].search(line):
        return replace(finding, kind=FailureKind.ENVIRONMENT)
    if _ROLE["misconfigured"].search(line):
        return replace(finding, kind=FailureKind.SYNTAX_ERROR)
    return finding
