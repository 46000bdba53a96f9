"""Reads the names of tests out of what a gate printed, where names are printed: cargo, nextest, go, ctest, TAP.

Standard output is what the code under test writes to as well: a name here is worth less than one that a reporter of
noface's wrote, though the code must know what to print for each test. TAP may be flat or nested: prove -v, bats, tape,
node --test and kin print it.
"""

import json
import re
from collections.abc import Iterable

from noface.diagnosis.context import context_of
from noface.diagnosis.evidence import GateEvidence
from noface.diagnosis.readers import READERS
from noface.diagnosis.readers.counts import find_counts
from noface.diagnosis.text import read_log
from noface.integrity.inventory import Inventory, Outcome, inventory

_VERSION = re.compile(r"^TAP version 1[34]$")
_PLAN = re.compile(r"^(?P<indent> *)1\.\.(?P<n>\d+)\b")
_POINT = re.compile(r"^(?P<indent> *)(?P<bad>not )?ok\b(?: +(?P<n>\d+))?(?: +-)? *(?P<name>.*)$")
_DIRECTIVE = re.compile(r"(?<!\\)\s# ?(?P<word>skip|todo|time=|in \d)\S*.*$", re.IGNORECASE)
_FILE = re.compile(r"^(?P<name>\S+\.(?:t|bats|sh|pl)) \.+ *$")
_BAIL = re.compile(r"^Bail out!")


def _nest(tests: list[tuple[int, str, Outcome]], begun: int, indent: int, name: str) -> None:
    """Name a point before its children: the deeper ones just before it, since `begun`."""
    at = len(tests) - 1
    while at >= begun and tests[at][0] > indent:
        tests[at] = (indent, f"{name} > {tests[at][1]}", tests[at][2])
        at -= 1


def read_tap_tests(lines: list[str]) -> Inventory | None:
    """Return the points of TAP by name, None if the lines are no TAP or name nothing.

    Each stream states how many points it has, before or after them; where that is not so, it was cut off.
    """
    plans = [int(plan["n"]) for line in lines if (plan := _PLAN.match(line)) and not plan["indent"]]
    if not plans and not any(_VERSION.match(line) for line in lines):
        return None
    tests: list[tuple[int, str, Outcome]] = []
    file, begun, at_top = "", 0, 0
    for line in lines:
        if header := _FILE.match(line):
            file, begun = f"{header['name']}::", len(tests)
        elif (point := _POINT.match(line)) and (point["n"] or point["name"]):
            directive = _DIRECTIVE.search(f" {point['name']}")
            left_out = directive is not None and directive["word"].lower() in {"skip", "todo"}
            name = _DIRECTIVE.sub("", f" {point['name']}").strip() or f"point {point['n']}"
            outcome = Outcome.SKIPPED if left_out else Outcome.FAILED if point["bad"] else Outcome.PASSED
            indent = len(point["indent"])
            _nest(tests, begun, indent, file + name)
            tests.append((indent, file + name, outcome))
            at_top += indent == 0
    if not tests:
        return None
    whole = sum(plans) == at_top and not any(_BAIL.match(line) for line in lines)
    return inventory(((name, outcome) for _, name, outcome in tests), "tap", complete=whole)


_PASSED, _FAILED, _SKIPPED = Outcome.PASSED, Outcome.FAILED, Outcome.SKIPPED
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_Tests = list[tuple[str, Outcome]]


def named_tests(stdout: str, stderr: str = "", *, taps: bool = True) -> list[Inventory]:
    out, err = _ANSI.sub("", stdout).splitlines(), _ANSI.sub("", stderr).splitlines()
    tests = [_cargo(out, err), _nextest([*out, *err]), _go(out), _ctest(out), read_tap_tests(out) if taps else None]
    return [run for run in tests if run is not None]


def counted_tests(stdout: str, stderr: str, command: str) -> Inventory | None:
    passed = summary_counts(stdout, stderr, command)
    return inventory((), "counts", count=max(0, *passed)) if passed else None


def summary_counts(stdout: str, stderr: str, command: str) -> tuple[int, ...]:
    """Return how many tests passed by each summary of a runner's, in order."""
    log = read_log(stdout, stderr)
    context = context_of(GateEvidence(command, None, stdout, stderr), log)
    readings = [reading for read in READERS if (reading := read(log, context)) is not None]
    owned = frozenset(n for reading in readings for start, end in reading.owned for n in range(start, end))
    counts = [count for reading in readings for count in reading.counts] or find_counts(log, owned)
    return tuple(c.passed if c.passed is not None else c.ran - c.failed - c.errors for c in counts)


_RUNNING = re.compile(r"^running (?P<n>\d+) tests?$")
_CARGO_TEST = re.compile(r"^test (?P<name>\S.*?)(?: - should panic)? \.\.\. (?P<end>.*)$")
_CARGO_END = re.compile(r"(?P<end>ok|FAILED|ignored(?:, .*)?)(?: <[\d.]+s>)?$")
_CARGO_RESULT = re.compile(r"^test result: ")
_CARGO_BINARY = re.compile(
    r"^\s+Running (?:unittests )?(?P<source>\S+) \((?:\S*/)?(?P<binary>[^/\s]+?)(?:-[0-9a-f]{8,})?(?:\.exe)?\)$"
)
_CARGO_FAILED = re.compile(r"^error: test failed, to rerun pass ")
_CARGO_ON = re.compile(r"^\s+(?:Running|Doc-tests) |^error: (?:doctest failed|\d+ targets? failed)")
_DOC_LINE = re.compile(r" \(line \d+\)")


def _cargo(out: list[str], err: list[str]) -> Inventory | None:
    """Read libtest's own words; which binary is which stands in cargo's, on standard error unless it is redirected.

    Cargo runs all binaries one after the other and the tests in documentation last, which name their file themselves.
    """
    if not any(_RUNNING.match(line) for line in out):
        return None
    binaries = [f"{match['binary']} {match['source']}" for line in (*out, *err) if (match := _CARGO_BINARY.match(line))]
    tests: _Tests = []
    complete, inside, block, awaited = True, False, -1, 0
    unended = ""
    for line in out:
        if running := _RUNNING.match(line):
            complete = complete and not inside
            inside, block, awaited, unended = True, block + 1, int(running["n"]), ""
        elif _CARGO_RESULT.match(line):
            complete = complete and inside and awaited <= 0
            inside, unended = False, ""
        elif inside and (test := _CARGO_TEST.match(line)):
            name, awaited = _cargo_name(test["name"], binaries, block), awaited - 1
            end = _CARGO_END.match(test["end"])
            unended = "" if end else name
            tests.append((name, _cargo_outcome(end["end"]) if end else _FAILED))
        elif unended and (end := _CARGO_END.search(line)):  # uncaptured output stands between a test and its end
            tests[-1] = (unended, _cargo_outcome(end["end"]))
    # Cargo ended at a binary that failed; with --no-fail-fast it counts those that failed at the end.
    ends = ([line for line in lines if _CARGO_FAILED.match(line) or _CARGO_ON.match(line)][-1:] for lines in (out, err))
    whole = complete and not inside and not any(map(_CARGO_FAILED.match, (line for last in ends for line in last)))
    return inventory(tests, "cargo test", complete=whole)


def _cargo_name(name: str, binaries: list[str], block: int) -> str:
    if " - " in name and _DOC_LINE.search(name):
        return f"doc::{_DOC_LINE.sub('', name)}"
    return f"{binaries[block]}::{name}" if block < len(binaries) else name


def _cargo_outcome(end: str) -> Outcome:
    return _PASSED if end == "ok" else _SKIPPED if end.startswith("ignored") else _FAILED


_NEXTEST = re.compile(
    r"^\s*(?:TRY \d+ )?(?P<end>PASS|FLAKY \d+/\d+|LEAK|SKIP|FAIL|LEAK-FAIL|SIG\w+|ABORT|TIMEOUT|EXECFAIL)"
    r" \[[^\]]*\](?: +\([ \d]+/\d+\))?\s+(?P<binary>\S+) +(?P<name>\S.*)$"
)
_NEXTEST_SUMMARY = re.compile(r"^\s*Summary \[[^\]]*\]\s+(?:(?P<ran>\d+)/)?(?P<total>\d+) tests? run: ", re.IGNORECASE)


def _nextest(lines: list[str]) -> Inventory | None:
    tests: dict[str, Outcome] = {}
    summary = None
    for line in lines:
        if summary is None and (test := _NEXTEST.match(line)):
            end = test["end"].split()[0]
            good = _PASSED if end in {"PASS", "FLAKY", "LEAK"} else _SKIPPED if end == "SKIP" else _FAILED
            tests[f"{test['binary']}::{test['name']}"] = good  # a test that is tried again: the last try
        summary = summary or _NEXTEST_SUMMARY.match(line)
    if not tests:
        return None
    return inventory(tests.items(), "cargo nextest", complete=summary is not None and summary["ran"] is None)


_GO_END = re.compile(r"^\s*--- (?P<end>PASS|FAIL|SKIP): (?P<name>\S+) \(")
_GO_RUN = re.compile(r"^=== RUN\s+(?P<name>\S+)$")
_GO_PACKAGE = re.compile(r"^(?P<end>ok  |FAIL|---)\t(?P<package>\S+)(?:\t.*| \[.*\])?$")
_GO_OUTCOMES = {"PASS": _PASSED, "FAIL": _FAILED, "SKIP": _SKIPPED}
_GO_JSON = {"pass": _PASSED, "fail": _FAILED, "skip": _SKIPPED}


def _go(out: list[str]) -> Inventory | None:
    tests: _Tests = []
    package: dict[str, Outcome | None] = {}
    complete = True
    for line in out:
        if run := _GO_RUN.match(line):
            package.setdefault(run["name"], None)
        elif end := _GO_END.match(line):
            package[end["name"]] = _GO_OUTCOMES[end["end"]]
        elif (closing := _GO_PACKAGE.match(line)) and package:
            complete = complete and None not in package.values()
            tests += [(f"{closing['package']}::{name}", ended or _FAILED) for name, ended in package.items()]
            package = {}
    tests += [(name, ended or _FAILED) for name, ended in package.items()]
    tests += _go_events(out)
    return inventory(tests, "go test", complete=complete and not package) if tests else None


def _go_events(out: list[str]) -> Iterable[tuple[str, Outcome]]:
    for line in out:
        if not line.startswith('{"') or '"Action":"' not in line or '"Test":"' not in line:
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and str(event.get("Action")) in _GO_JSON:
            yield f"{event.get('Package')}::{event.get('Test')}", _GO_JSON[str(event["Action"])]


_CTEST = re.compile(
    r"^\s*\d+/\d+ Test +#\d+: (?P<name>.+?) \.{2,}+[. ]*+(?P<end>Passed|\*\*\*\S.*?|Not Run.*?)\s*(?:[\d.]+ sec.*)?$"
)
_CTEST_SUMMARY = re.compile(r"^\d+% tests passed, \d+ tests? failed out of (?P<total>\d+)")


def _ctest(out: list[str]) -> Inventory | None:
    tests: _Tests = []
    total = counted = 0
    for line in out:
        if test := _CTEST.match(line):
            end = test["end"]
            disabled = end.startswith("***Not Run (Disabled)")
            left_out = disabled or end.startswith("***Skipped")
            counted += not disabled
            tests.append((test["name"], _PASSED if end == "Passed" else _SKIPPED if left_out else _FAILED))
        elif summary := _CTEST_SUMMARY.match(line):
            total += int(summary["total"])
    return inventory(tests, "ctest", complete=counted == total) if tests else None
