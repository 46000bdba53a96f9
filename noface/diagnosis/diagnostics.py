"""Reads compilers' and linters' diagnostics by their form: `file:line:col: error: …` and its relatives.

Form alone does not tell a compile error (the code is broken: SYNTAX_ERROR) from a finding (LINT_FAILURE); what
printed it does, and where a linter did, whether the message says that the file does not parse. A header, package or
crate that is missing is the environment's fault where it is not the project's own.
"""

# ruff: noqa: E501 - a pattern is kept in one piece

import re

from noface.diagnosis.context import Context, known_tools
from noface.diagnosis.evidence import Finding, Reading
from noface.diagnosis.exceptions import is_own_module
from noface.diagnosis.places import place_of
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_PREFIX = (
    r"^\s{0,8}(?:\[(?:ERROR|error|ERR)\] |error: |ERROR: |ERROR in |\* |e: |E +|→ |❌ |×? ?#\d+ [\d.]+ )?(?:file://)?"
)
_FILE = r"(?P<file>(?:[A-Za-z]:)?[\w.@+~\-/\\()\[\]$]{0,300}?[\w\]]\.\w{1,12}|[\w./-]*(?:Makefile|Dockerfile|Rakefile|Gemfile))"
_SEVERITY = (
    r"(?P<sev>(?:fatal |internal |parser |syntax |compile |compilation |type |parse |Syntax |Parse |Type |lexical |name |semantic )?(?:error|Error|ERROR)s?|fatal|Fatal|FATAL"
    r"|erreur(?: fatale)?|Fehler|Schwerwiegender Fehler|errore|erro|ошибка|ошибка компиляции|błąd|fout|fel|virhe|chyba|hata|错误|致命错误|エラー"
    r"|warning|Warning|WARNING|Warnung|avertissement|note|hint|info|style|performance|portability|convention|refactor|[FEWCRNI])"
)
_CODE = r"(?P<code>\[[\w.:-]+\]| ?[A-Z]{1,6}\d{2,5}| \(\w+\))?"
_COLON = re.compile(
    rf"{_PREFIX}{_FILE}:(?P<line>\d+)(?:[:.,-](?P<col>\d+))?(?:-\d+(?:[:.]\d+)?)?(?::\d+)*(?:[: ]|: ?| - | +)\s*{_SEVERITY}{_CODE}(?:\s*[:\-–]\s*|\s+|$)(?P<msg>.*)$"
)
_PAREN = re.compile(
    rf"{_PREFIX}{_FILE}\((?P<line>\d+)(?:[,.:](?P<col>\d+))?(?:[-,]\d+)*\) ?[: ] ?{_SEVERITY}{_CODE}(?:\s*:\s*|\s+)(?P<msg>\S.*)$"
)
_MAVEN = re.compile(
    r"^\[ERROR\] (?P<file>/?[^\s:\[\]]+\.\w+):\[(?P<line>\d+),(?P<col>\d+)\] (?:error: )?(?P<msg>\S.*)$"
)
_KOTLIN = re.compile(
    r"^(?:\[ERROR\] )?e: (?:file://)?(?P<file>\S+?\.kts?):? ?\(?(?P<line>\d+)[:,] ?(?P<col>\d+)\)?:? (?P<msg>\S.*)$"
)
_SBT = re.compile(
    r"^\[error\] (?:-- (?:\[E\d+\] )?(?P<title>.*?Error): )?(?P<file>\S+?\.(?:scala|sbt|java)):(?P<line>\d+)(?::(?P<col>\d+))?:?\s*(?P<msg>.*)$"
)
_SCALA3 = re.compile(
    r"^(?:\[error\] )?-- (?:\[E\d+\] )?(?P<title>[\w ]*Error): (?P<file>\S+?\.(?:scala|sbt|sc)):(?P<line>\d+):\d+\s*-*$"
)
_CODED = re.compile(
    rf"^{_FILE}:(?P<line>\d+):(?P<col>\d+):? +(?P<code>[A-Z]{{1,5}}\d{{2,5}}|invalid-syntax|[A-Z]\d{{4}}: )\b:?\s*(?P<msg>.*)$"
)
_OCAML = re.compile(r'^File "(?P<file>[^"]+)", lines? (?P<line>\d+)(?:-\d+)?(?:, characters? [\d-]+)?:')
_OCAML_ERROR = re.compile(r"^(?:Error|Fehler|Erreur)(?: \([^)]*\))?: ?(?P<msg>.*)$")
_HEADED = re.compile(r"^\s*(?:error|Error|ERROR)(?P<code>\[[\w:-]+\])?: (?P<msg>\S.*)$")
_ARROW = re.compile(
    r"^\s*(?:-->|:::|╭─+\[|┌─+|╭▸|--\[|@|→|at|In) ?(?P<file>[^\s:\]]+\.\w+):(?P<line>\d+)(?::(?P<col>\d+))?"
)

_ERROR = re.compile(
    r"(?i)error|fatal|erreur|fehler|errore|erro\b|ошибка|błąd|fout|fel\b|virhe|chyba|hata|错误|エラー|^[FE]$"
)
_LINES_MAX = 400
_LENGTH_MIN, _LENGTH_MAX = 8, 1_500
_ARROW_LOOK, _OCAML_LOOK = 4, 12
_PARSE_CODES = ("E9", "E0001", "invalid-syntax", "SC1")
_OF_COMPILERS = (
    ("diagnostic.maven", _MAVEN),
    ("diagnostic.kotlin", _KOTLIN),
    ("diagnostic.scala", _SCALA3),
    ("diagnostic.sbt", _SBT),
)


def read_diagnostics(log: Log, context: Context) -> Reading | None:
    """Read every diagnostic line of a known form."""
    findings: list[Finding] = []
    for number, line in enumerate(log.lines):
        if not _LENGTH_MIN <= len(line) <= _LENGTH_MAX:
            continue
        finding = _diagnostic(log, number, line, context)
        if finding:
            findings.append(finding)
            if len(findings) >= _LINES_MAX:
                break
    return Reading("diagnostics", findings=tuple(findings)) if findings else None


def _diagnostic(log: Log, number: int, line: str, context: Context) -> Finding | None:
    if ":" not in line and "(" not in line:
        return None
    for rule, pattern in _OF_COMPILERS:
        if match := pattern.match(line):
            message = match.groupdict().get("msg") or ""
            return _finding(rule, compile_kind(log, number, message, context), match, number, context)
    if match := _COLON.match(line) or _PAREN.match(line):
        return _severe(log, number, match, context)
    if match := _CODED.match(line):
        kind = FailureKind.SYNTAX_ERROR if _does_not_parse(match) else FailureKind.LINT_FAILURE
        return _finding("diagnostic.coded", kind, match, number, context)
    if match := _OCAML.match(line):
        return _ocaml(log, number, match, context)
    if match := _HEADED.match(line):
        return _arrow(log, number, match, context)
    return None


def _does_not_parse(match: re.Match[str]) -> bool:
    """Tell whether a linter's code or message says that the file does not parse."""
    code = match["code"]
    return (code.startswith(_PARSE_CODES) and not code.startswith("E90")) or "SyntaxError" in match["msg"]


def _ocaml(log: Log, number: int, match: re.Match[str], context: Context) -> Finding | None:
    """Read the place on one line, and the error on a line below the quoted source."""
    for below in range(number + 1, min(log.stream_end(number), number + _OCAML_LOOK)):
        if error := _OCAML_ERROR.match(log.get(below)):
            kind = compile_kind(log, below, error["msg"], context)
            return _finding("diagnostic.ocaml", kind, match, below, context)
        if log.get(below).startswith("File "):
            return None
    return None


def _arrow(log: Log, number: int, match: re.Match[str], context: Context) -> Finding | None:
    """Read the error on one line, and the place behind an arrow on a line below it."""
    for below in range(number + 1, min(log.stream_end(number), number + _ARROW_LOOK)):
        if arrow := _ARROW.match(log.get(below)):
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


def _severe(log: Log, number: int, match: re.Match[str], context: Context) -> Finding | None:
    """Judge by the severity: a warning is a finding only of a gate that lints."""
    if _ERROR.search(match["sev"]):
        kind = context_kind(log, number, match["msg"], match.string, context)
        return _finding("diagnostic.error", kind, match, number, context)
    if not context.lints or match["sev"] in {"note", "hint", "info"}:
        return None
    return _finding("diagnostic.warning", FailureKind.LINT_FAILURE, match, number, context)


def _finding(rule: str, kind: FailureKind, match: re.Match[str], number: int, context: Context) -> Finding:
    return Finding(rule, kind, Level.DIAGNOSTIC, number, place_of(match["file"], match["line"], context.repo))


_PARSE = re.compile(
    r"(?i)\bsyntax\b|\bpars(?:e|er|ing)\b|unexpected (?:token|end|eof|indent|character|keyword|symbol|identifier|string|input|'|\"|`|‘|\w+ at)"
    r"|unterminated|unclosed|unbalanced|unmatched|was (?:never|not) closed|not terminated|mismatched|invalid (?:syntax|character|token)"
    r"|^expected |\bexpected (?:expression|statement|declaration|indented|identifier|one of|token)|missing (?:closing|end|semicolon|['\"`(]|terminat)"
    r"|illegal start|\beof\b|end of (?:file|input)|indentation|dedent|statements must be separated|cannot format|lexical error|closing delimiter"
)
_STYLE = re.compile(
    r"(?i)expected \d+ (?:blank|space)|indentation (?:of|is|contains|level)|(?:missing|trailing|extra) (?:white)?space|line too long"
)
_HEADER = re.compile(
    r"(?:fatal )?error: ([\w./+-]+): No such file or directory|'([\w./+-]+)' file not found|([\w./+-]+\.(?:h|hh|hpp|mod)): (?:Datei oder|Aucun fichier|No such)"
    r"|package ([\w.]+) does not exist|Could not (?:load|find) module [‘'`]([\w.]+)['’]|Cannot open (?:include|module) file '([\w./]+)'"
    r"|cannot find module (?:providing package )?([\w./-]+)|no required module provides package ([^\s;]+)|can't find crate for [`'](\w+)"
    r"|package ([\w./-]+) is not in (?:GOROOT|std)|unable to read module [`']([\w.]+)|[Nn]o such module '(\w+)'|cannot open file: ([\w./]+)"
    r"|cannot find package \"([^\"]+)\"|Can't find unit (\w+)|file \"([\w.-]+\.ad[sb])\" not found|use of (?:undeclared|unresolved) (?:crate or module|module or unlinked crate) [`'](\w+)"
    r"|Target of URI doesn't exist: '([^']+)'|unresolved import [`'](\w+)|Error when reading '([^']+)'|can't find file '([^']+)'"
)
_FORMATTED = re.compile(r"\s\[[a-z][\w./,-]*\]$|\s\([a-z][\w-]*\)$|\s{2}[\w@/-]+$")
_LINT_MARKS = (
    "(checked ",
    "rated at ",
    " problems (",
    " problem (",
    "errors, 0 warnings, ",
    "golangci",
    "findings",
    "offenses",
    "FOUND ",
)
_TS = re.compile(r"\berror (?P<code>TS\d{4,5}):")
_NO_EMIT = re.compile(r"^> .*\btsc\b.*--noEmit", re.MULTILINE)


def context_kind(log: Log, number: int, msg: str, line: str, context: Context) -> FailureKind:
    """Return the kind of a diagnostic whose line and message are given."""
    typescript = _TS.search(line)
    if typescript:
        return _typescript_kind(typescript, line, log, context)
    by_linter = context.lints and (not context.tools & known_tools().compilers or bool(_FORMATTED.search(line)))
    if (
        not by_linter
        and _FORMATTED.search(line)
        and "[-W" not in line
        and any(log.may_hold(mark) and mark in log.text for mark in _LINT_MARKS)
    ):
        by_linter = not context.tools & known_tools().compilers
    if by_linter:
        return (
            FailureKind.SYNTAX_ERROR if _PARSE.search(f"{msg}") and not _STYLE.search(msg) else FailureKind.LINT_FAILURE
        )
    return compile_kind(log, number, line, context)


def _typescript_kind(match: re.Match[str], line: str, log: Log, context: Context) -> FailureKind:
    """`tsc --noEmit` is a type check (LINT_FAILURE), any other tsc a build; TS1xxx does not parse in either."""
    code = match["code"]
    missing = re.search(r"Cannot find module '([^']+)'", line)
    if code in {"TS2307", "TS7016", "TS2792"} and missing and not is_own_module(missing[1], context.repo):
        return FailureKind.ENVIRONMENT
    if code in {"TS5057", "TS5058", "TS5083", "TS6053", "TS2688"}:
        return FailureKind.ENVIRONMENT
    checks = (
        "--noEmit" in context.command or bool({"vue-tsc", "tsd"} & context.tools) or _NO_EMIT.search(log.text[:20_000])
    )
    return (
        FailureKind.LINT_FAILURE
        if checks and not re.fullmatch(r"TS(?:1|5|6|18)\d{3}", code)
        else FailureKind.SYNTAX_ERROR
    )


def compile_kind(log: Log, number: int, line: str, context: Context) -> FailureKind:
    """Return the kind of a compiler's error: broken code, or a dependency that is not there."""
    match = _HEADER.search(line)
    if not match:
        return FailureKind.SYNTAX_ERROR
    name = next(value for value in match.groups() if value)
    quoted = any(f'#include "{name}"' in log.get(at) for at in range(number + 1, number + 4))
    own = is_own_module(name, context.repo) or quoted
    return FailureKind.SYNTAX_ERROR if own else FailureKind.ENVIRONMENT
