"""Reads TAP, nested or flat, with or without YAML blocks: prove, node --test, tape, ava --tap, bats, pgTAP and kin."""

from dataclasses import dataclass

from noface.data import Patterns
from noface.diagnosis.context import Context
from noface.diagnosis.evidence import Counts, Reading, RuleMatch
from noface.diagnosis.places import exception_kind, is_assertion, place_below, places
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_TAP = Patterns("tap")

_YAML_MAX = 40


@dataclass(frozen=True, slots=True)
class _Point:
    line: int
    key: int
    name: str
    fields: dict[str, str]
    location: str | None


def read_tap(log: Log, context: Context) -> Reading | None:
    """Return what a TAP stream says: one finding a failed leaf test whose YAML block or diagnostics tell why."""
    if "ok " not in log.text and "1..0" not in log.text:
        return None
    passed = skipped = 0
    failed: list[_Point] = []
    last = -1
    # Lines of go and deno begin with "ok" as well: without a number it is TAP only if a plan or a version says so.
    announced = "TAP version" in log.text or "\n1.." in f"\n{log.text}"
    bare = (number for number in log.lines_with("ok") if log.get(number).strip() in {"ok", "not ok"})
    for number in sorted({*log.lines_with("ok "), *bare}):
        match = _TAP["point"].match(log.get(number))
        if not match or (match["n"] is None and not announced):
            continue
        directive = (match["directive"] or "").lower()
        if not match["not"]:
            skipped, passed = skipped + ("skip" in directive), passed + ("skip" not in directive)
        elif "todo" in directive or "skip" in directive:
            passed += 1
        else:
            point = _point(log, number, match["name"], context)
            # A suite fails with its tests, and is none itself.
            if point.fields.get("failureType") not in {"subtestsFailed", "cancelledByParent"}:
                failed.append(point)
        last = number
    if last < 0:
        none = [n for n in log.lines_with("1..0") if _TAP["plan_none"].match(log.get(n))]
        counts = (Counts(line=none[0], total=0, passed=0, runner="tap"),) if none else ()
        return Reading("tap", counts) if none else None
    findings = tuple(finding for point in failed if (finding := _finding(point, context)) is not None)
    names = [point.name for point in failed if point.name and not _TAP["file_name"].match(point.name)]
    counts = (Counts(line=last, passed=passed, failed=len(failed), skipped=skipped, runner="tap"),)
    return Reading("tap", counts, findings, tuple(dict.fromkeys(names)))


def _point(log: Log, number: int, name: str, context: Context) -> _Point:
    fields: dict[str, str] = {}
    location, error = None, number
    inside = log.get(number + 1).strip() == "---"
    for below in range(number + 1, min(number + _YAML_MAX, log.stream_end(number))):
        line = log.get(below)
        if inside and line.strip() == "...":
            break
        if not inside and not line.lstrip().startswith("#"):
            break
        key = _TAP["yaml_key"].match(line) if inside else None
        if key and key["key"] not in fields:
            fields[key["key"]] = key["value"]
            if key["key"] == "error":
                error = below + 1 if key["value"] in {"|-", ">-", "|"} else below
        if location is None and (not key or key["key"] in {"location", "at"} or not inside):
            own = places(line, context.repo)
            location = own[0] if own else None
        if key and key["key"] == "stack" and _is_raised(fields):
            location = place_below(log, below, context.repo, limit=20) or location
    return _Point(number, error, _TAP["duration"].sub("", name.strip()), fields, location)


def _is_raised(fields: dict[str, str]) -> bool:
    """True if a point failed by an exception: its place is where it was raised, not where the test stands."""
    exc = fields.get("name", "")
    return exc.endswith(("Error", "Exception")) and not is_assertion(exc)


def _finding(point: _Point, context: Context) -> RuleMatch | None:
    kind = _kind(point.fields, context)
    if kind is None or kind is FailureKind.NO_TESTS:
        return RuleMatch("tap.point", kind, Level.SUMMARY, point.key) if kind else None
    return RuleMatch("tap.point", kind, Level.SUMMARY, point.key, point.location, point.name)


def _kind(fields: dict[str, str], context: Context) -> FailureKind | None:
    exc = fields.get("name") or fields.get("type") or ""
    if fields.get("failureType") == "testTimeoutFailure":
        return FailureKind.TIMEOUT
    if "No tests were" in fields.get("message", ""):
        return FailureKind.NO_TESTS
    if fields.get("code") == "ERR_ASSERTION" or is_assertion(exc):
        return FailureKind.TEST_FAILURE
    if exc.endswith(("Error", "Exception")):
        return exception_kind(exc, fields.get("error", ""), context.repo, loading=False)
    return None if fields.get("operator", "fail") in {"error", "fail", ""} else FailureKind.TEST_FAILURE
