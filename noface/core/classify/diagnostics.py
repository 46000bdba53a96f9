"""Reads compilers' and linters' diagnostics by their form: `file:line:col: error: …` and its relatives.

Form alone does not tell a compile error (the code is broken: SYNTAX_ERROR) from a finding (LINT_FAILURE); what
printed it does, and where a linter did, whether the message says that the file does not parse.
"""

# ruff: noqa: E501 - a pattern is kept in one piece

import re

from noface.core.classify.context import Context
from noface.core.classify.diagnostic_kind import compile_kind, context_kind
from noface.core.classify.places import place_of
from noface.core.classify.rules import Finding, Level, Reading
from noface.core.classify.text import Log
from noface.core.taxonomy import FailureKind

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
_ARROW_LOOK = 4


def read_diagnostics(log: Log, context: Context) -> Reading | None:
    """Every diagnostic line of a known form."""
    findings: list[Finding] = []
    for number, line in enumerate(log.lines):
        if not _LENGTH_MIN <= len(line) <= _LENGTH_MAX:
            continue
        finding = _one(log, number, line, context)
        if finding:
            findings.append(finding)
            if len(findings) >= _LINES_MAX:
                break
    return Reading("diagnostics", findings=tuple(findings)) if findings else None


def _one(log: Log, number: int, line: str, context: Context) -> Finding | None:
    if ":" not in line and "(" not in line:
        return None
    for name, pattern in (("maven", _MAVEN), ("kotlin", _KOTLIN), ("scala", _SCALA3), ("sbt", _SBT)):
        match = pattern.match(line)
        if match:
            return _made(
                f"diagnostic.{name}",
                compile_kind(log, number, match["msg"] if "msg" in match.groupdict() else "", context),
                match,
                number,
                context,
            )
    match = _COLON.match(line) or _PAREN.match(line)
    if match:
        return _severe(log, number, match, context)
    match = _CODED.match(line)
    if match:
        broken = match["code"].startswith(("E9", "E0001", "invalid-syntax", "SC1")) and not match["code"].startswith(
            "E90"
        )
        kind = FailureKind.SYNTAX_ERROR if broken or "SyntaxError" in match["msg"] else FailureKind.LINT_FAILURE
        return _made("diagnostic.coded", kind, match, number, context)
    return _two_lines(log, number, line, context)


def _two_lines(log: Log, number: int, line: str, context: Context) -> Finding | None:
    if line.startswith("File "):
        match = _OCAML.match(line)
        if not match:
            return None
        for below in range(number + 1, min(log.stream_end(number), number + 12)):
            error = _OCAML_ERROR.match(log.get(below))
            if error:
                return _made("diagnostic.ocaml", compile_kind(log, below, error["msg"], context), match, below, context)
            if log.get(below).startswith("File "):
                return None
        return None
    match = _HEADED.match(line)
    if match:
        for below in range(number + 1, min(log.stream_end(number), number + _ARROW_LOOK)):
            arrow = _ARROW.match(log.get(below))
            if arrow:
                lint = not match["code"] and _is_clippy(log, number)
                kind = FailureKind.LINT_FAILURE if lint else context_kind(log, number, match["msg"], line, context)
                return _made("diagnostic.arrow", kind, arrow, number, context)
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
    severe = bool(_ERROR.search(match["sev"]))
    if not severe:
        if not context.lints or match["sev"] in {"note", "hint", "info"}:
            return None
        return _made("diagnostic.warning", FailureKind.LINT_FAILURE, match, number, context)
    return _made(
        "diagnostic.error", context_kind(log, number, match["msg"], match.string, context), match, number, context
    )


def _made(rule: str, kind: FailureKind, match: re.Match[str], number: int, context: Context) -> Finding:
    return Finding(rule, kind, Level.DIAGNOSTIC, number, place_of(match["file"], match["line"], context.repo))
