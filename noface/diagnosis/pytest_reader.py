"""Reads pytest's own format: its sections, its blocks, its short summary, its last line.

Each failing test is a block that ends with `file:line: Type`; that type is what failed, whatever the block quotes
above it or the test printed. Captured output and warnings are owned here and seen by no other rule.
"""

import re
from dataclasses import dataclass

from noface.data import Patterns
from noface.diagnosis.context import Context
from noface.diagnosis.evidence import Counts, Finding, Reading
from noface.diagnosis.exceptions import exception_kind
from noface.diagnosis.places import is_own, place_of, places
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_PYTEST = Patterns("pytest")

_PAIR = re.compile(r"(\d+) (\w+)")
_WORDS_OF_PYTEST = {"passed", "failed", "error", "errors", "skipped", "deselected", "xfailed", "xpassed"}
MARKS = (
    " FAILURES =",
    " ERRORS =",
    "short test summary info",
    "test session starts",
    "INTERNALERROR> ",
    "no tests ran in ",
)


def pytest_span(log: Log) -> tuple[int, int]:
    """Return the stream that pytest wrote to: stdout, unless the gate sent it to stderr."""
    head = log.text[: log.starts[log.err]] if log.err < len(log.starts) else log.text
    if any(mark in head for mark in MARKS) or not any(mark in log.text for mark in MARKS):
        return 0, log.err
    return log.err, len(log.lines)


def pytest_counts(log: Log) -> list[Counts]:
    """Return what pytest's summary lines count, the last first."""
    counts = []
    first, stop = pytest_span(log)
    for number in range(stop - 1, first - 1, -1):
        match = _PYTEST["last_line"].match(log.get(number))
        if not match:
            continue
        sums = {word: int(count) for count, word in _PAIR.findall(match["body"])}
        if not match["body"].startswith("no tests") and not sums.keys() & _WORDS_OF_PYTEST:
            continue
        counts.append(
            Counts(
                line=number,
                passed=sums.get("passed", 0) + sums.get("xpassed", 0) + sums.get("xfailed", 0),
                failed=sums.get("failed", 0),
                errors=sums.get("error", 0) + sums.get("errors", 0),
                skipped=sums.get("skipped", 0) + sums.get("deselected", 0),
                runner="pytest",
            )
        )
    return counts


_INTERNAL = "INTERNALERROR> "
_TITLES = ("FAILURES", "ERRORS")


@dataclass(frozen=True, slots=True)
class _Block:
    title: str
    start: int
    end: int
    section: str


def _blocks(log: Log) -> tuple[list[_Block], list[tuple[int, int]]]:
    blocks: list[_Block] = []
    owned: list[tuple[int, int]] = []
    section, opened, title = "", -1, ""
    section_start = -1
    first, stop = pytest_span(log)
    for number in range(first, stop + 1):
        line = log.get(number) if number < stop else "= end ="
        mark = _PYTEST["section"].match(line)
        inner = _PYTEST["block"].match(line) if section in _TITLES and not mark else None
        if not mark and not inner:
            continue
        if opened >= 0:
            blocks.append(_Block(title, opened, number, section))
            opened = -1
        if inner:
            opened, title = number, inner["title"] or inner["title2"] or ""
            continue
        if (
            section in _TITLES
            or section in {"warnings summary", "PASSES", "XFAILURES", "XPASSES", "short test summary info"}
            or "coverage" in section
        ):
            owned.append((section_start, number))
        section, section_start = (mark["title"] if mark else ""), number
    return blocks, owned


def _quoted_from(log: Log, block: _Block) -> int:
    for number in range(block.start + 1, block.end):
        if _PYTEST["subsection"].match(log.get(number)):
            return number
    return block.end


def _judge(log: Log, block: _Block, context: Context) -> Finding:
    end = _quoted_from(log, block)
    head = next((n for n in range(end - 1, block.start, -1) if _PYTEST["ends"].match(log.get(n))), None)
    e_lines = [n for n in range(block.start + 1, end) if log.get(n).startswith("E  ")]
    test = (
        None
        if block.title.startswith("ERROR collecting")
        else block.title.removeprefix("ERROR at setup of ").removeprefix("ERROR at teardown of ")
    )
    loading = "collecting" in block.title or block.title.startswith("ERROR")
    matches = [(n, match) for n in e_lines if (match := _PYTEST["e_line"].match(log.get(n)))]
    exc, msg = "", ""
    first = next((n for n in range(block.start + 1, end) if not log.get(n).startswith("[gw")), block.start)
    key = e_lines[0] if e_lines else min(first, end - 1)
    ends = _PYTEST["ends"].match(log.get(head)) if head is not None else None
    if ends:
        exc, msg = ends["exc"], ends["msg"] or ""
    typed = [(n, m) for n, m in matches if m["exc"] == exc or m["exc"].endswith("." + exc)] if exc else matches[-1:]
    if typed:
        key, msg, exc = typed[-1][0], typed[-1][1]["msg"] or msg, typed[-1][1]["exc"]
    location = _location(log, block, end, ends, context, exc)
    kind = _kind(log, block, exc, msg, key, context, loading=loading)
    return Finding("pytest.block", kind, Level.SUMMARY, key, location, test)


def _kind(log: Log, block: _Block, exc: str, msg: str, key: int, context: Context, *, loading: bool) -> FailureKind:
    if exc == "Failed":
        if msg.startswith("Timeout"):
            return FailureKind.TIMEOUT
        return FailureKind.RUNTIME_ERROR if "async def" in msg else FailureKind.TEST_FAILURE
    if not exc:
        body = "\n".join(log.lines[block.start + 1 : min(block.end, block.start + 12)])
        if "Timeout" in body and "+++" in body:
            return FailureKind.TIMEOUT
        if key < block.end and _PYTEST["e_bare"].match(log.get(key)) and "fixture '" not in log.get(key):
            return FailureKind.TEST_FAILURE
        return FailureKind.RUNTIME_ERROR
    if not loading and exc.rsplit(".", 1)[-1] in {"SyntaxError", "IndentationError", "TabError"}:
        window = "\n".join(log.lines[block.start : key])
        evaluated = re.search(r'^E +File "<', window, re.MULTILINE) or not re.search(
            r'^E +File "', window, re.MULTILINE
        )
        return FailureKind.RUNTIME_ERROR if evaluated else FailureKind.SYNTAX_ERROR
    return exception_kind(exc, msg, context.repo, loading=loading)


def _location(log: Log, block: _Block, end: int, ends: re.Match[str] | None, context: Context, exc: str) -> str | None:
    if exc.endswith(("SyntaxError", "IndentationError", "TabError")):
        for number in range(end - 1, block.start, -1):
            if log.get(number).startswith("E  ") and 'File "' in log.get(number):
                own = places(log.get(number), context.repo)
                if own:
                    return own[-1]
    if ends and is_own(ends["file"], context.repo):
        return place_of(ends["file"], ends["line"], context.repo)
    for number in range(end - 1, block.start, -1):
        own = places(log.get(number), context.repo)
        if own:
            return own[-1]
    return None


def read_pytest(log: Log, context: Context) -> Reading | None:
    """Return what a pytest run says about itself; None where the log is not pytest's."""
    counts = pytest_counts(log)
    if not counts and not any(mark in log.text for mark in MARKS):
        return None
    blocks, owned = _blocks(log)
    findings = [_judge(log, block, context) for block in blocks]
    failing = _failing(log, blocks)
    if not blocks:
        findings.extend(_from_summary(log, context))
    findings.extend(_internal(log, context))
    return Reading("pytest", tuple(counts), tuple(findings), tuple(failing), tuple(owned))


def _failing(log: Log, blocks: list[_Block]) -> list[str]:
    names: list[str] = []
    for number in range(*pytest_span(log)):
        line = log.get(number)
        if not line.startswith(("FAILED ", "ERROR ")):
            continue
        match = _PYTEST["summary"].match(line)
        if match and ("::" in match["test"]) and not line.startswith("ERROR    "):
            names.append(match["test"].partition(" - ")[0])
    if not names:
        for block in blocks:
            if not block.title.startswith("ERROR collecting"):
                title = re.sub(r"^ERROR at (?:setup|teardown) of ", "", block.title)
                names.append(title)
    return list(dict.fromkeys(names))


def _from_summary(log: Log, context: Context) -> list[Finding]:
    findings = []
    for number in range(*pytest_span(log)):
        line = log.get(number)
        if not line.startswith(("FAILED ", "ERROR ")) or line.startswith("ERROR    "):
            continue
        match = _PYTEST["summary"].match(line)
        if not match or not match["exc"]:
            continue
        exc = match["exc"]
        kind = (
            FailureKind.TEST_FAILURE
            if exc in {"assert", "Failed"}
            else exception_kind(exc, match["msg"] or "", context.repo, loading="::" not in match["test"])
        )
        findings.append(Finding("pytest.short-summary", kind, Level.SUMMARY, number, None, match["test"]))
    return findings


def _internal(log: Log, context: Context) -> list[Finding]:
    last = -1
    for number in log.lines_with(_INTERNAL):
        last = number if log.get(number).startswith(_INTERNAL) else last
    if last < 0:
        return []
    location, key = None, last
    for number in range(last, log.stream_start(last) - 1, -1):
        if not log.get(number).startswith("INTERNALERROR>"):
            break
        own = places(log.get(number), context.repo)
        if own:
            location, key = own[-1], min(number + 1, last)
            break
    match = re.match(r"^(?P<exc>[A-Za-z_][\w.]*)(?:: (?P<msg>.*))?$", log.get(last).removeprefix(_INTERNAL))
    kind = FailureKind.RUNTIME_ERROR
    if match:
        kind = exception_kind(match["exc"], match["msg"] or "", context.repo)
    return [Finding("pytest.internal-error", kind, Level.SUMMARY, key, location, even_in_tests=True)]
