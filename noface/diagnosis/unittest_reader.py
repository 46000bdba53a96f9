"""Reads unittest's format (also of tox, Django, nose2, green): a block a failing test, and the doctest module's."""

import re

from noface.data import Patterns
from noface.diagnosis.context import Context
from noface.diagnosis.evidence import Counts, Finding, Reading
from noface.diagnosis.exceptions import exception_kind
from noface.diagnosis.places import places
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_UNITTEST = Patterns("unittest")

_RULE = "=" * 70
_THIN = "-" * 70
_STARS = "*" * 70
_PAIR = re.compile(r"(failures|errors|skipped|expected failures|unexpected successes)=(\d+)")


def read_unittest(log: Log, context: Context) -> Reading | None:
    """Return what a unittest run says about itself."""
    counts = _counts(log)
    heads = [n for n in log.lines_with(_RULE) if _UNITTEST["head"].match(log.get(n + 1))]
    if not counts and not heads:
        return None
    findings, failing, owned = [], [], []
    for number in heads:
        end = _block_end(log, number + 2)
        finding, name = _judge(log, number + 1, end, context)
        findings.append(finding)
        failing.append(name)
        owned.append((number, end))
    return Reading("unittest", tuple(counts), tuple(findings), tuple(dict.fromkeys(failing)), tuple(owned))


def _block_end(log: Log, start: int) -> int:
    stop = log.stream_end(start)
    for number in range(start + 1, stop):
        line = log.get(number)
        if line.startswith(_RULE):
            return number
        if line.startswith(_THIN) and any(_UNITTEST["ran"].match(log.get(number + step)) for step in (1, 2)):
            return number
    return stop


def _judge(log: Log, head: int, end: int, context: Context) -> tuple[Finding, str]:
    match = _UNITTEST["head"].match(log.get(head))
    word, test, suite = (match["word"], match["test"], match["suite"]) if match else ("ERROR", "", "")
    name = f"{suite}.{test}" if suite and not suite.endswith(f".{test}") else (suite or test)
    key, exc, msg, location = head, "", "", None
    for number in range(head + 1, end):
        line = log.get(number)
        if line.startswith(("Stdout:", "Stderr:")):
            break
        own = places(line, context.repo) if 'File "' in line else []
        if own:
            location = own[-1]
        typed = (
            _UNITTEST["exc"].match(line)
            if not line.startswith((" ", "-", "Traceback")) and "Traceback" not in line
            else None
        )
        if typed and (typed["msg"] is not None or typed["exc"].endswith(("Error", "Exception", "Exit"))) and not exc:
            key, exc, msg = number, typed["exc"], typed["msg"] or ""
        if "Traceback (most recent" in line:
            exc = ""
    kind = FailureKind.TEST_FAILURE if word in {"FAIL", "UNEXPECTED SUCCESS"} else FailureKind.RUNTIME_ERROR
    if word == "ERROR" and exc:
        body = "\n".join(log.lines[max(head, key - 6) : key])
        loading = "_FailedTest" in log.get(head) or 'File "<' not in body
        kind = exception_kind(exc, msg, context.repo, loading=loading)
        if kind is FailureKind.TEST_FAILURE:
            kind = FailureKind.RUNTIME_ERROR
    return Finding("unittest.block", kind, Level.SUMMARY, key, location, name), name


def _counts(log: Log) -> list[Counts]:
    counts = []
    for number in log.lines_with("Ran "):
        ran = _UNITTEST["ran"].match(log.get(number))
        if not ran:
            continue
        parts: dict[str, int] = {}
        line = number
        for below in range(number + 1, min(number + 5, log.stream_end(number))):
            end = _UNITTEST["end"].match(log.get(below))
            if end:
                parts = {word: int(n) for word, n in _PAIR.findall(end["what"] or "")}
                line = below
                break
        failed = parts.get("failures", 0) + parts.get("unexpected successes", 0)
        errors, skipped = parts.get("errors", 0), parts.get("skipped", 0)
        counts.append(
            Counts(
                line=line,
                total=int(ran["n"]),
                passed=max(0, int(ran["n"]) - failed - errors - skipped),
                failed=failed,
                errors=errors,
                skipped=skipped,
                separates_errors=True,
                runner="unittest",
            )
        )
    return counts


def read_doctest(log: Log, context: Context) -> Reading | None:
    """Return the doctest module's report: an expectation that differs, or an exception raised by an example."""
    findings, failing, owned = [], [], []
    for number in log.lines_with("Failed example:"):
        if log.get(number) != "Failed example:":
            continue
        where = _UNITTEST["doc_where"].match(log.get(number - 1))
        end = next(
            (n for n in range(number, log.stream_end(number)) if log.get(n).startswith(_STARS)), log.stream_end(number)
        )
        place = places(log.get(number - 1), context.repo)
        key = next(
            (n for n in range(number, end) if log.get(n) in {"Expected:", "Expected nothing", "Exception raised:"}),
            number,
        )
        kind = FailureKind.TEST_FAILURE
        if log.get(key) == "Exception raised:":
            last = next((n for n in range(end - 1, key, -1) if log.get(n).strip()), key)
            raised = _UNITTEST["exc"].match(log.get(last).strip())
            kind = (
                exception_kind(raised["exc"], raised["msg"] or "", context.repo)
                if raised
                else FailureKind.RUNTIME_ERROR
            )
            key = last
        findings.append(Finding("doctest.example", kind, Level.SUMMARY, key, place[0] if place else None))
        if where and where["test"]:
            failing.append(where["test"])
        owned.append((number, end))
    if not findings:
        return None
    counts = Counts(line=findings[-1].line, failed=len(findings), runner="doctest")
    return Reading("doctest", (counts,), tuple(findings), tuple(dict.fromkeys(failing)), tuple(owned))
