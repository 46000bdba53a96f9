"""Reads the test report that a gate left behind, JUnit XML (by junitparser) or TAP, if the gate's own run wrote it."""

import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from noface.diagnosis.context import context_of
from noface.diagnosis.evidence import GateEvidence, ReportCase, TestReport
from noface.diagnosis.readers.tap import read_tap
from noface.diagnosis.text import read_log
from noface.secrets.masking import Masker

BYTES_MAX = 50_000_000
CASES_MAX = 2_000
TEXT_MAX = 4_000
_SNIFF = 4_096


def read_report(
    path: Path, started_at: float | None = None, root: Path | None = None, masker: Masker | None = None
) -> tuple[TestReport | None, str]:
    """Return the report at `path`, or None with the reason, a sentence for a person.

    One older than `started_at` (epoch seconds) is left over. Below the folder `root` no link is followed.
    """
    try:
        status = path.lstat()
        top = root or path.parent
        if not stat.S_ISREG(status.st_mode) or path.parent.resolve() != top.resolve() / path.parent.relative_to(top):
            return None, f"{path.name} is not a file: no report was read"
        if started_at is not None and status.st_mtime < started_at:
            age = started_at - status.st_mtime
            return None, f"{path.name} is {age:.1f} s older than the gate's start: left over, ignored"
        if status.st_size > BYTES_MAX:
            return None, f"{path.name} has {status.st_size:,} bytes, more than {BYTES_MAX:,}: ignored"
        data = path.read_bytes()
    except FileNotFoundError:
        return None, f"the gate wrote no {path.name}"
    except OSError as error:
        return None, f"{path.name} cannot be read: {error.strerror}"
    return parse_report(data if masker is None else masker.masked(data), path.name)


def parse_report(data: bytes, name: str = "report") -> tuple[TestReport | None, str]:
    """Parse the bytes of a JUnit XML or TAP report."""
    head = data[:_SNIFF].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b"<"):
        from junitparser import JUnitXml

        # Entities that hold entities fill the memory of a parser.
        if b"<!DOCTYPE" in data[:_SNIFF] or b"<!ENTITY" in data:
            return None, f"{name} declares entities or a document type, which no test report needs: ignored"
        try:
            return _report(list(_cases(JUnitXml.fromstring(data)))), ""
        except Exception as error:  # noqa: BLE001 - the parser may be lxml or ElementTree, each with errors of its own
            return None, f"{name} is not JUnit XML ({str(error)[:120]}): ignored"
    text = data.decode("utf-8", "replace")
    log = read_log(text, "")
    reading = read_tap(log, context_of(GateEvidence("", 0, text, ""), log))
    if reading is None or not reading.counts:
        return None, f"{name} is neither JUnit XML nor TAP: ignored"
    counts = reading.counts[0]
    cases = tuple(ReportCase(test, failed=True) for test in reading.failing[:CASES_MAX])
    report = TestReport(counts.ran + counts.skipped, counts.failed, 0, counts.skipped, reading.failing, cases)
    return report, ""


def _cases(node: Any) -> Iterator[Any]:
    from junitparser import TestCase

    for child in node:
        if isinstance(child, TestCase):
            yield child
        else:
            yield from _cases(child)


def _report(cases: list[Any]) -> TestReport:
    from junitparser import Error, Failure, Skipped

    failures = errors = skipped = 0
    bad: list[ReportCase] = []
    for case in cases:
        results = list(case.result)
        worst = next((r for kind in (Error, Failure) for r in results if isinstance(r, kind)), None)
        if worst is None:
            skipped += any(isinstance(result, Skipped) for result in results)
            continue
        failed = isinstance(worst, Failure)
        failures, errors = failures + failed, errors + (not failed)
        test, suite = str(case.name or ""), str(case.classname or "")
        test = test if not suite or suite == test or test.startswith(f"{suite}.") else f"{suite}.{test}"
        message, text = (str(part or "")[:TEXT_MAX] for part in (worst.message, worst.text))
        bad.append(ReportCase(test, failed, str(worst.type or ""), message, text))
    names = tuple(dict.fromkeys(case.name for case in bad))
    return TestReport(len(cases), failures, errors, skipped, names, tuple(bad[:CASES_MAX]))
