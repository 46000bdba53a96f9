"""Reads the formats of Python's test runners: pytest, unittest (also of tox, Django, nose2, green), doctest."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from noface.data import Patterns
from noface.diagnosis.context import Context
from noface.diagnosis.evidence import Counts, Reading, RuleMatch
from noface.diagnosis.places import exception_kind, is_own, place_above, place_of, places
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_PYTEST = Patterns("pytest")

_PAIR = re.compile(r"(\d+) (\w+)")
_WORDS_OF_PYTEST = {"passed", "failed", "error", "errors", "skipped", "deselected", "xfailed", "xpassed"}
_WORDS_OF_OTHERS = {"passes", "failures", "failure", "successes", "examples", "tests"}
_MARKS = (" FAILURES =", " ERRORS =", "short test summary info", "test session starts", "INTERNALERROR> ",
          "no tests ran in ")  # fmt: skip


def _pytest_span(log: Log) -> tuple[int, int]:
    head = log.text[: log.starts[log.err]] if log.err < len(log.starts) else log.text
    if any(mark in head for mark in _MARKS) or not any(mark in log.text for mark in _MARKS):
        return 0, log.err
    return log.err, len(log.lines)


def _pytest_counts(log: Log) -> list[Counts]:
    counts = []
    first, stop = _pytest_span(log)
    for number in range(stop - 1, first - 1, -1):
        match = _PYTEST["last_line"].match(log.get(number))
        if not match:
            continue
        sums = {word: int(count) for count, word in _PAIR.findall(match["body"])}
        none = match["body"].startswith("no tests")
        # Other runners count in this form, too: riot's "1 passes, 0 failures, 0 errors in 0.00 seconds".
        if not none and (not sums.keys() & _WORDS_OF_PYTEST or sums.keys() & _WORDS_OF_OTHERS):
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
_EXPLAINED = (*_TITLES, "warnings summary", "PASSES", "XFAILURES", "XPASSES", "short test summary info")
"""Sections that no other rule looks at."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A failing test's lines, from its title up to the next block or section."""

    title: str
    start: int
    end: int


def _pytest_blocks(log: Log) -> tuple[list[_Block], list[tuple[int, int]]]:
    blocks: list[_Block] = []
    owned: list[tuple[int, int]] = []
    section, opened, title = "", -1, ""
    section_start = -1
    first, stop = _pytest_span(log)
    for number in range(first, stop + 1):
        line = log.get(number) if number < stop else "= end ="
        mark = _PYTEST["section"].match(line)
        inner = _PYTEST["block"].match(line) if section in _TITLES and not mark else None
        if not mark and not inner:
            continue
        if opened >= 0:
            blocks.append(_Block(title, opened, number))
            opened = -1
        if inner:
            opened, title = number, inner["title"] or inner["title2"] or ""
            continue
        if section in _EXPLAINED or "coverage" in section:
            owned.append((section_start, number))
        section, section_start = (mark["title"] if mark else ""), number
    return blocks, owned


def _judge_block(log: Log, block: _Block, context: Context) -> RuleMatch:
    quoted = (n for n in range(block.start + 1, block.end) if _PYTEST["subsection"].match(log.get(n)))
    end = next(quoted, block.end)
    head = next((n for n in range(end - 1, block.start, -1) if _PYTEST["ends"].match(log.get(n))), None)
    e_lines = [n for n in range(block.start + 1, end) if log.get(n).startswith("E  ")]
    test = None if block.title.startswith("ERROR collecting") else _test_of(block)
    loading = "collecting" in block.title or block.title.startswith("ERROR")
    matches = [(n, match) for n in e_lines if (match := _PYTEST["e_line"].match(log.get(n)))]
    exc, msg = "", ""
    # "[gw0] linux" says which process of xdist ran the test, and nothing of the failure.
    first = next((n for n in range(block.start + 1, end) if not log.get(n).startswith("[gw")), block.start)
    key = e_lines[0] if e_lines else min(first, end - 1)
    ends = _PYTEST["ends"].match(log.get(head)) if head is not None else None
    if ends:
        exc, msg = ends["exc"], ends["msg"] or ""
    typed = [(n, m) for n, m in matches if m["exc"] == exc or m["exc"].endswith("." + exc)] if exc else matches[-1:]
    if typed:
        key, msg, exc = typed[-1][0], typed[-1][1]["msg"] or msg, typed[-1][1]["exc"]
    location = _block_location(log, block, end, ends, context, exc)
    kind = _block_kind(log, block, exc, msg, key, context, loading=loading)
    return RuleMatch("pytest.block", kind, Level.SUMMARY, key, location, test)


def _block_kind(
    log: Log, block: _Block, exc: str, msg: str, key: int, context: Context, *, loading: bool
) -> FailureKind:
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
        files = re.findall(r'^E +File "(.)', window, re.MULTILINE)  # "<": of eval, exec and their kin
        return FailureKind.RUNTIME_ERROR if not files or "<" in files else FailureKind.SYNTAX_ERROR
    return exception_kind(exc, msg, context.repo, loading=loading)


def _block_location(
    log: Log, block: _Block, end: int, ends: re.Match[str] | None, context: Context, exc: str
) -> str | None:
    if exc.endswith(("SyntaxError", "IndentationError", "TabError")):
        for number in range(end - 1, block.start, -1):
            if log.get(number).startswith("E  ") and 'File "' in log.get(number):
                own = places(log.get(number), context.repo)
                if own:
                    return own[-1]
    if ends and is_own(ends["file"], context.repo):
        return place_of(ends["file"], ends["line"], context.repo)
    return place_above(log, end, context.repo, limit=end - block.start - 1)


def read_pytest(log: Log, context: Context) -> Reading | None:
    """Return what a pytest run says about itself; None if the log is not pytest's."""
    counts = _pytest_counts(log)
    if not counts and not any(mark in log.text for mark in _MARKS):
        return None
    blocks, owned = _pytest_blocks(log)
    findings = [_judge_block(log, block, context) for block in blocks]
    names = [match["test"].partition(" - ")[0] for _, match in _summary(log) if "::" in match["test"]]
    if not names:
        names = [_test_of(block) for block in blocks if not block.title.startswith("ERROR collecting")]
    failing = list(dict.fromkeys(names))
    if not blocks:
        findings.extend(_from_summary(log, context))
    findings.extend(_internal(log, context))
    return Reading("pytest", tuple(counts), tuple(findings), tuple(failing), tuple(owned))


def _test_of(block: _Block) -> str:
    return re.sub(r"^ERROR at (?:setup|teardown) of ", "", block.title)


def _summary(log: Log) -> Iterator[tuple[int, re.Match[str]]]:
    for number in range(*_pytest_span(log)):
        line = log.get(number)
        if line.startswith(("FAILED ", "ERROR ")) and not line.startswith("ERROR    "):
            match = _PYTEST["summary"].match(line)
            if match:
                yield number, match


def _from_summary(log: Log, context: Context) -> list[RuleMatch]:
    findings = []
    for number, match in _summary(log):
        exc = match["exc"]
        if not exc:
            continue
        kind = exception_kind(exc, match["msg"] or "", context.repo, loading="::" not in match["test"])
        kind = FailureKind.TEST_FAILURE if exc in {"assert", "Failed"} else kind
        findings.append(RuleMatch("pytest.short-summary", kind, Level.SUMMARY, number, None, match["test"]))
    return findings


def _internal(log: Log, context: Context) -> list[RuleMatch]:
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
    return [RuleMatch("pytest.internal-error", kind, Level.SUMMARY, key, location)]


_UNITTEST = Patterns("unittest")

_RULE = "=" * 70
_THIN = "-" * 70
_STARS = "*" * 70
_PARTS = re.compile(r"(failures|errors|skipped|skips|expected failures|unexpected successes)=(\d+)")


def read_unittest(log: Log, context: Context) -> Reading | None:
    """Return what a unittest run says about itself."""
    counts = _unittest_counts(log)
    heads = [n for n in log.lines_with(_RULE) if _UNITTEST["head"].match(log.get(n + 1))]
    if not counts and not heads:
        return None
    findings, failing, owned = [], [], []
    for number in heads:
        end = _unittest_end(log, number + 2)
        finding, name = _judge_unittest(log, number + 1, end, context)
        findings.append(finding)
        failing.append(name)
        owned.append((number, end))
    return Reading("unittest", tuple(counts), tuple(findings), tuple(dict.fromkeys(failing)), tuple(owned))


def _unittest_end(log: Log, start: int) -> int:
    stop = log.stream_end(start)
    for number in range(start + 1, stop):
        line = log.get(number)
        if line.startswith(_RULE):
            return number
        if line.startswith(_THIN) and any(_UNITTEST["ran"].match(log.get(number + step)) for step in (1, 2)):
            return number
    return stop


def _judge_unittest(log: Log, head: int, end: int, context: Context) -> tuple[RuleMatch, str]:
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
        typed = None if line.startswith((" ", "-")) or "Traceback" in line else _UNITTEST["exc"].match(line)
        if typed and (typed["msg"] is not None or typed["exc"].endswith(("Error", "Exception", "Exit"))) and not exc:
            key, exc, msg = number, typed["exc"], typed["msg"] or ""
        # The error of the last traceback counts: "ImportError: Failed to import test module" only comes before it.
        if "Traceback (most recent" in line:
            exc = ""
    kind = FailureKind.TEST_FAILURE if word in {"FAIL", "UNEXPECTED SUCCESS"} else FailureKind.RUNTIME_ERROR
    if word == "ERROR" and exc:
        body = "\n".join(log.lines[max(head, key - 6) : key])
        loading = "_FailedTest" in log.get(head) or 'File "<' not in body
        kind = exception_kind(exc, msg, context.repo, loading=loading)
        if kind is FailureKind.TEST_FAILURE:
            kind = FailureKind.RUNTIME_ERROR
    return RuleMatch("unittest.block", kind, Level.SUMMARY, key, location, name), name


def _unittest_counts(log: Log) -> list[Counts]:
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
                parts = {word: int(n) for word, n in _PARTS.findall(end["what"] or "")}
                line = below
                break
        failed = parts.get("failures", 0) + parts.get("unexpected successes", 0)
        errors, skipped = parts.get("errors", 0), parts.get("skipped", 0) + parts.get("skips", 0)
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
        where, stop = _UNITTEST["doc_where"].match(log.get(number - 1)), log.stream_end(number)
        end = next((n for n in range(number, stop) if log.get(n).startswith(_STARS)), stop)
        place = places(log.get(number - 1), context.repo)
        answers = {"Expected:", "Expected nothing", "Exception raised:"}
        key = next((n for n in range(number, end) if log.get(n) in answers), number)
        kind = FailureKind.TEST_FAILURE
        if log.get(key) == "Exception raised:":
            last = next((n for n in range(end - 1, key, -1) if log.get(n).strip()), key)
            raised = _UNITTEST["exc"].match(log.get(last).strip())
            kind, key = FailureKind.RUNTIME_ERROR, last
            if raised:
                kind = exception_kind(raised["exc"], raised["msg"] or "", context.repo)
        findings.append(RuleMatch("doctest.example", kind, Level.SUMMARY, key, place[0] if place else None))
        if where and where["test"]:
            failing.append(where["test"])
        owned.append((number, end))
    if not findings:
        return None
    counts = Counts(line=findings[-1].line, failed=len(findings), runner="doctest")
    return Reading("doctest", (counts,), tuple(findings), tuple(dict.fromkeys(failing)), tuple(owned))
