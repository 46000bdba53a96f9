"""Reads compilers' and linters' diagnostics by their form: `file:line:col: error: …` and its relatives.

What printed it tells a compile error from a finding, and what is missing whether it is the project's own.
"""

import re

from noface.data import Patterns, table
from noface.diagnosis.context import Context, known_tools
from noface.diagnosis.evidence import Reading, RuleMatch
from noface.diagnosis.places import is_own_module, place_of
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_DIAGNOSTIC = Patterns("diagnostic")

_LINES_MAX = 400
_LENGTH_MIN, _LENGTH_MAX = 8, 1_500
_ARROW_LOOK, _OCAML_LOOK = 4, 12
_PARSE_CODES = ("E9", "E0001", "invalid-syntax", "SC1")
_OF_COMPILERS = (
    ("diagnostic.maven", "maven"),
    ("diagnostic.kotlin", "kotlin"),
    ("diagnostic.scala", "scala3"),
    ("diagnostic.sbt", "sbt"),
)


def read_diagnostics(log: Log, context: Context) -> Reading | None:
    """Read every diagnostic line of a known form."""
    findings: list[RuleMatch] = []
    for number, line in enumerate(log.lines):
        if not _LENGTH_MIN <= len(line) <= _LENGTH_MAX:
            continue
        finding = _diagnostic(log, number, line, context)
        if finding:
            findings.append(finding)
            if len(findings) >= _LINES_MAX:
                break
    return Reading("diagnostics", findings=tuple(findings)) if findings else None


def _diagnostic(log: Log, number: int, line: str, context: Context) -> RuleMatch | None:
    if ":" not in line and "(" not in line:
        return None
    for rule, pattern in _OF_COMPILERS:
        if match := _DIAGNOSTIC[pattern].match(line):
            message = match.groupdict().get("msg") or ""
            return _finding(rule, compile_kind(log, number, message, context), match, number, context)
    if match := _DIAGNOSTIC["colon"].match(line) or _DIAGNOSTIC["paren"].match(line):
        return _severe(log, number, match, context)
    if match := _DIAGNOSTIC["coded"].match(line):
        broken = match["code"].startswith(_PARSE_CODES) and not match["code"].startswith("E90")
        kind = FailureKind.SYNTAX_ERROR if broken or "SyntaxError" in match["msg"] else FailureKind.LINT_FAILURE
        return _finding("diagnostic.coded", kind, match, number, context)
    if match := _DIAGNOSTIC["ocaml"].match(line):
        return _ocaml(log, number, match, context)
    if match := _DIAGNOSTIC["headed"].match(line):
        return _arrow(log, number, match, context)
    return None


def _ocaml(log: Log, number: int, match: re.Match[str], context: Context) -> RuleMatch | None:
    for below in range(number + 1, min(log.stream_end(number), number + _OCAML_LOOK)):
        if error := _DIAGNOSTIC["ocaml_error"].match(log.get(below)):
            kind = compile_kind(log, below, error["msg"], context)
            return _finding("diagnostic.ocaml", kind, match, below, context)
        if log.get(below).startswith("File "):
            return None
    return None


def _arrow(log: Log, number: int, match: re.Match[str], context: Context) -> RuleMatch | None:
    for below in range(number + 1, min(log.stream_end(number), number + _ARROW_LOOK)):
        if arrow := _DIAGNOSTIC["arrow"].match(log.get(below)):
            # A stack trace of JavaScript has "at" where a compiler has its arrow, and in several lines.
            if all(log.get(at).lstrip().startswith("at ") for at in (below, below + 1)):
                return None
            # Clippy's findings have the form of the compiler's errors, but for the name of the lint below them.
            lint = not match["code"] and _is_clippy(log, number)
            message = match["msg"]
            kind = FailureKind.LINT_FAILURE if lint else context_kind(log, number, message, match.string, context)
            return _finding("diagnostic.arrow", kind, arrow, number, context)
    return None


def _is_clippy(log: Log, number: int) -> bool:
    for below in range(number + 1, min(log.stream_end(number), number + 30)):
        line = log.get(below)
        if line.startswith("error"):
            return False
        if "clippy::" in line or "rust-clippy" in line:
            return True
    return False


def _severe(log: Log, number: int, match: re.Match[str], context: Context) -> RuleMatch | None:
    """Judge by the severity: a warning is a finding only of a gate that lints."""
    if _DIAGNOSTIC["error"].search(match["sev"]):
        kind = context_kind(log, number, match["msg"], match.string, context)
        return _finding("diagnostic.error", kind, match, number, context)
    if not context.lints or match["sev"] in {"note", "hint", "info"}:
        return None
    return _finding("diagnostic.warning", FailureKind.LINT_FAILURE, match, number, context)


def _finding(rule: str, kind: FailureKind, match: re.Match[str], number: int, context: Context) -> RuleMatch:
    return RuleMatch(rule, kind, Level.DIAGNOSTIC, number, place_of(match["file"], match["line"], context.repo))


def context_kind(log: Log, number: int, msg: str, line: str, context: Context) -> FailureKind:
    """Return the kind of a diagnostic whose line and message are given."""
    typescript = _DIAGNOSTIC["ts"].search(line)
    if typescript:
        return _typescript_kind(typescript, line, log, context)
    if not _by_linter(log, line, context):
        return compile_kind(log, number, line, context)
    broken = _DIAGNOSTIC["parse"].search(msg) and not _DIAGNOSTIC["style"].search(msg)
    return FailureKind.SYNTAX_ERROR if broken else FailureKind.LINT_FAILURE


def _by_linter(log: Log, line: str, context: Context) -> bool:
    """True if a linter printed the line, by the gate's programs, or else by its form and how the output ends."""
    if line.endswith("[clang-diagnostic-error]"):
        return False
    compiles = bool(context.tools & known_tools("compilers"))
    formatted = _DIAGNOSTIC["formatted"].search(line) is not None
    if context.lints and (formatted or not compiles):
        return True
    marks = table("patterns")["words"]["lint"]
    return formatted and not compiles and "[-W" not in line and any(m in log.text for m in marks)


def _typescript_kind(match: re.Match[str], line: str, log: Log, context: Context) -> FailureKind:
    """`tsc --noEmit` is a type check (LINT_FAILURE), any other tsc a build; TS1xxx does not parse in either."""
    code = match["code"]
    missing = re.search(r"Cannot find module '([^']+)'", line)
    if code in {"TS2307", "TS7016", "TS2792"} and missing and not is_own_module(missing[1], context.repo):
        return FailureKind.ENVIRONMENT
    if code in {"TS5057", "TS5058", "TS5083", "TS6053", "TS2688"}:
        return FailureKind.ENVIRONMENT
    checks = "--noEmit" in context.command or bool({"vue-tsc", "tsd"} & context.tools)
    checks = checks or _DIAGNOSTIC["no_emit"].search(log.text[:20_000]) is not None
    finding = checks and not re.fullmatch(r"TS(?:1|5|6|18)\d{3}", code)
    return FailureKind.LINT_FAILURE if finding else FailureKind.SYNTAX_ERROR


def compile_kind(log: Log, number: int, line: str, context: Context) -> FailureKind:
    """Return the kind of a compiler's error: broken code, or a dependency that is not there."""
    match = _DIAGNOSTIC["header"].search(line)
    if not match:
        return FailureKind.SYNTAX_ERROR
    name = next(value for value in match.groups() if value)
    quoted = any(f'#include "{name}"' in log.get(at) for at in range(number + 1, number + 4))
    own = is_own_module(name, context.repo) or quoted
    return FailureKind.SYNTAX_ERROR if own else FailureKind.ENVIRONMENT
