"""Reads stack traces: Python's, and those that print "Type: message" above their frames (JVM, JavaScript, .NET …)."""

from noface.data import Patterns
from noface.diagnosis.context import Context
from noface.diagnosis.evidence import Reading, RuleMatch
from noface.diagnosis.places import exception_kind, is_assertion, place_below, places
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_TRACE = Patterns("trace")

_PY_HEAD = "Traceback (most recent call last):"
_PY_LINES_MAX = 400

_HEADS_MAX = 400
_LOOK_DOWN = 8


def read_python_traces(log: Log, context: Context) -> Reading | None:
    """Read Python tracebacks and syntax errors outside of any runner's own format."""
    findings: list[RuleMatch] = []
    owned: list[tuple[int, int]] = []
    if "Traceback (most recent" in log.text:
        last_end = -1
        for number in log.lines_with("Traceback (most recent"):
            if number < last_end or _PY_HEAD not in log.get(number):
                continue
            end = _python_end(log, number)
            last_end = end
            finding = _python_finding(log, number, end, context)
            owned.append((number, end + 1))
            if finding:
                findings.append(finding)
    findings.extend(_bare_syntax(log, context, owned))
    return Reading("python", findings=tuple(findings), owned=tuple(owned)) if findings or owned else None


def _python_end(log: Log, start: int) -> int:
    indent = _indent(log, start)
    prefix = log.get(start)[:indent]
    for number in range(start + 1, min(log.stream_end(start), start + _PY_LINES_MAX)):
        line = log.get(number)
        rest = line[indent:] if line.startswith(prefix) or not line[:indent].strip() else line
        if not rest.startswith((" ", "\t")) and rest.strip() and not rest.startswith("+"):
            return number
    return min(log.stream_end(start), start + _PY_LINES_MAX) - 1


def _indent(log: Log, start: int) -> int:
    indent = log.get(start).index(_PY_HEAD[:9])
    return indent if log.get(start + 1).startswith(log.get(start)[:indent]) else 0


def _python_finding(log: Log, start: int, end: int, context: Context) -> RuleMatch | None:
    match = _TRACE["py_end"].match(log.get(end)[_indent(log, start) :].strip())
    if not match:
        return None
    exc, msg = match["exc"], match["msg"] or ""
    if not msg and end + 1 < log.stream_end(end):
        msg = log.get(end + 1)
    location, loading = None, True
    for number in range(end - 1, start, -1):
        frame = _TRACE["py_file"].match(log.get(number))
        if not frame:
            continue
        if loading and number > end - 5 and frame["file"].startswith("<"):
            loading = False
        own = places(log.get(number), context.repo)
        if own:
            location = own[-1]
            break
    kind = exception_kind(exc, msg, context.repo, loading=loading)
    if exc == "SystemExit" or exc.endswith("KeyboardInterrupt"):
        kind = FailureKind.RUNTIME_ERROR
    return RuleMatch("python.traceback", kind, Level.TRACEBACK, end, location)


def _bare_syntax(log: Log, context: Context, owned: list[tuple[int, int]]) -> list[RuleMatch]:
    """Read the syntax errors that Python prints without a traceback: of a file that it could not even load."""
    findings = []
    for word in ("SyntaxError: ", "IndentationError: ", "TabError: "):
        for number in log.lines_with(word):
            free = _TRACE["py_syntax"].match(log.get(number)) and not any(start <= number < end for start, end in owned)
            # The line shortly above that names a file as a whole, and no frame in it.
            near = range(number - 1, max(log.stream_start(number), number - 6) - 1, -1) if free else ()
            frames = ((at, frame) for at in near if (frame := _TRACE["py_file"].match(log.get(at))))
            named = (at for at, frame in frames if not frame["inside"] and not frame["file"].startswith("<"))
            above = next(named, None)
            if above is not None:
                place = places(log.get(above), context.repo)
                kind, where = FailureKind.SYNTAX_ERROR, place[-1] if place else None
                findings.append(RuleMatch("python.syntax", kind, Level.TRACEBACK, number, where, even_in_tests=True))
    return findings


def read_framed_traces(log: Log, context: Context) -> Reading | None:
    """Read exceptions printed as "Type: message" above indented frames."""
    findings: list[RuleMatch] = []
    for number in _head_lines(log):
        match = _TRACE["head"].match(log.get(number))
        if not match:
            continue
        below = range(number + 1, min(log.stream_end(number), number + _LOOK_DOWN))
        framed = any(_TRACE["at"].match(log.get(at)) for at in below)
        exc, msg = match["exc"], match["msg"] or ""
        if not _TRACE["error_type"].search(exc) and not (framed and msg):
            continue
        finding = _framed_finding(log, number, exc, msg, match["code"] or "", framed=framed, context=context)
        findings.append(finding)
        if len(findings) >= _HEADS_MAX:
            break
    return Reading("trace", findings=tuple(findings)) if findings else None


def _head_lines(log: Log) -> list[int]:
    numbers: set[int] = set()
    for literal in ("Error", "Exception", "Failure", "Rejection", "Fault", "Throwable"):
        numbers.update(log.lines_with(literal))
    for literal in ("    at ", "\tat ", "   at ", " ❯ "):
        for number in log.lines_with(literal):
            above = log.get(number - 1)
            if above and not _TRACE["frame"].match(above):
                numbers.add(number - 1)
    return sorted(numbers)


def _framed_finding(
    log: Log, number: int, exc: str, msg: str, code: str, *, framed: bool, context: Context
) -> RuleMatch:
    loading = True
    if exc.endswith("SyntaxError"):
        below = [log.get(at) for at in range(number + 1, min(log.stream_end(number), number + 4))]
        headed = framed or log.get(number).startswith("SyntaxError")
        loading = headed and not any(_TRACE["js_data"].match(line) for line in below)
    kind = exception_kind(exc, f"{msg} ({code})" if code else msg, context.repo, loading=loading)
    if code == "ERR_ASSERTION" or is_assertion(exc):
        kind = FailureKind.TEST_FAILURE
    location = place_below(log, number, context.repo)
    name, level = ("trace.framed", Level.TRACEBACK) if framed else ("trace.head", Level.WORDS)
    return RuleMatch(name, kind, level, number, location)
