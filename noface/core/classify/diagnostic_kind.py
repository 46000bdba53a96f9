"""What kind of failure a diagnostic is: what printed it, and what its message says.

A compiler's error is a broken build (SYNTAX_ERROR); a linter's is a finding (LINT_FAILURE), unless the file does not
parse. A header, package or crate that is missing is the environment's fault where it is not the project's own.
"""

# ruff: noqa: E501 - a pattern is kept in one piece

import re

from noface.core.classify.context import Context
from noface.core.classify.dependency import is_own_module
from noface.core.classify.text import Log
from noface.core.classify.tools import COMPILERS
from noface.core.taxonomy import FailureKind

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
    by_linter = context.lints and (not context.tools & COMPILERS or bool(_FORMATTED.search(line)))
    if (
        not by_linter
        and _FORMATTED.search(line)
        and "[-W" not in line
        and any(log.may_hold(mark) and mark in log.text for mark in _LINT_MARKS)
    ):
        by_linter = not context.tools & COMPILERS
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
