"""Reads what the go command says: `go build`, `go vet`, `go test`, gofmt."""

import re

from noface.data import Patterns, table
from noface.diagnosis.context import Context
from noface.diagnosis.evidence import Counts, Reading, RuleMatch
from noface.diagnosis.places import is_own_module, place_below, place_of
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_GO = Patterns("go")

_GO_LINTERS = frozenset({"staticcheck", "revive", "golint"})
_PRINTS_BARE_LINES = frozenset({"go", "gofmt", "goimports", "gofumpt", "golangci-lint", *_GO_LINTERS})


def read_go(log: Log, context: Context) -> Reading | None:
    """Return what the go command says: packages, tests, panics, compile errors and vet's findings."""
    if not any(mark in log.text for mark in table("patterns")["words"]["go"]) or (
        ".go" not in log.text and "\t" not in log.text
    ):
        return None
    findings = [*_tests(log, context), *_compile(log, context)]
    counts, failing = _counts(log)
    findings += _panics(log, context)
    if not findings and not counts:
        return None
    return Reading("go", counts, tuple(findings), failing)


def _tests(log: Log, context: Context) -> list[RuleMatch]:
    findings, inside = [], False
    for number, line in enumerate(log.lines):
        if _GO["fail"].match(line):
            inside = True
            continue
        if line and not line[0].isspace():
            inside = line.startswith(("=== ", "    ")) and inside
            continue
        match = _GO["log"].match(line)
        # A tab and a slash begin a frame of a panic's trace, which names the test's file as well.
        if not match or not (inside or match["file"].endswith("_test.go")) or line.startswith("\t/"):
            continue
        message = match["msg"] or ""
        below = log.get(number + 1)
        kind = FailureKind.ENVIRONMENT if _GO["system"].search(message) else FailureKind.TEST_FAILURE
        if not message and not below.strip():
            continue
        findings.append(
            RuleMatch("go.test-log", kind, Level.SUMMARY, number, place_of(match["file"], match["line"], context.repo))
        )
    return findings if any(mark in log.text for mark in ("--- FAIL: ", "=== FAIL: ", "FAIL\t")) else []


def _counts(log: Log) -> tuple[tuple[Counts, ...], tuple[str, ...]]:
    passed = failed = skipped = ok = empty = 0
    last = -1
    names: list[str] = []
    for number, line in enumerate(log.lines):
        if line[:1] not in {" ", "-", "=", "o", "?", "t", "\t"}:
            continue
        if match := _GO["fail"].match(line):
            failed += 1
            names.append(match["test"])
        elif _GO["pass"].match(line):
            passed += 1
        elif _GO["skip"].match(line):
            skipped += 1
        elif match := _GO["ok"].match(line):
            none = "[no tests to run]" in match["rest"]
            ok, empty = ok + (not none), empty + none
        elif _GO["nofiles"].match(line):
            empty += 1
        else:
            continue
        last = number
    if last < 0:
        return (), ()
    names = [n for n in names if not any(other.startswith(n + "/") for other in names)]
    # A package whose tests were all skipped is "ok" all the same.
    if skipped and not (passed or failed) and ok:
        ok = 0
    counts = Counts(line=last, passed=passed or ok, failed=failed, skipped=skipped, runner="go")
    return (counts,), tuple(dict.fromkeys(names))


def _panics(log: Log, context: Context) -> list[RuleMatch]:
    starts = ("panic: ", "fatal error: ", "goroutine stack exceeds")
    for number in sorted({number for start in starts for number in log.lines_with(start)}):
        match = _GO["panic"].match(log.get(number))
        below = (log.get(n) for n in range(number + 1, min(number + 12, len(log.lines))))
        if match and any("goroutine " in line or "[signal " in line for line in below):
            timed_out = (match["msg"] or match["fatal"] or "").startswith("test timed out after")
            kind = FailureKind.TIMEOUT if timed_out else FailureKind.RUNTIME_ERROR
            place = place_below(log, number, context.repo, limit=80, blanks=4)
            return [RuleMatch("go.panic", kind, Level.SUMMARY, number, place)]
    return []


def _compile(log: Log, context: Context) -> list[RuleMatch]:
    findings: list[RuleMatch] = []
    headed = vetting = False
    for number, line in enumerate(log.lines):
        if _GO["head"].match(line):
            failed = f"FAIL\t{line[2:].split(maxsplit=1)[0]} [build failed]" in log.text
            vets = failed and any(word in log.text for word in table("patterns")["words"]["vet"])
            headed, vetting = True, ("vet" in context.tools and "build" not in context.tools) or vets
            continue
        match = _GO["compile"].match(line)
        if not match:
            headed = headed and line.startswith(("\t", " ", "vet:"))
            continue
        finding = _import(match, number, context)
        if finding is None and (headed or match["vet"] or context.tools & _PRINTS_BARE_LINES):
            finding = _diagnostic(match, number, context, vetting=vetting and not match["vet"], headed=headed)
        if finding is not None:
            findings.append(finding)
    return findings


def _import(match: re.Match[str], number: int, context: Context) -> RuleMatch | None:
    """Judge a package that cannot be found: the project's own is broken code, any other the environment's fault."""
    msg = match["msg"]
    if not msg.startswith(("no required module", "package ", "cannot find package")):
        return None
    name = re.search(r"package \"?([\w./~@-]+)", msg)
    own = name is not None and ("." not in name[1].split("/")[0][1:] or is_own_module(name[1], context.repo))
    place = place_of(match["file"], match["line"], context.repo)
    kind = FailureKind.SYNTAX_ERROR if own else FailureKind.ENVIRONMENT
    return RuleMatch("go.import", kind, Level.DIAGNOSTIC, number, place, even_in_tests=True)


def _diagnostic(
    match: re.Match[str], number: int, context: Context, *, vetting: bool, headed: bool
) -> RuleMatch | None:
    if match["file"].endswith("_test.go") and not headed and match.string[:1].isspace():
        return None
    lint = vetting or (bool(_GO_LINTERS & context.tools) and not headed)
    lint = lint and not _GO["broken"].search(match["msg"])
    place = place_of(match["file"], match["line"], context.repo)
    name, kind = ("go.vet", FailureKind.LINT_FAILURE) if lint else ("go.compile", FailureKind.SYNTAX_ERROR)
    return RuleMatch(name, kind, Level.DIAGNOSTIC, number, place, even_in_tests=True)
