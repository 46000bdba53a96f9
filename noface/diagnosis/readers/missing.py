"""Reads what a tool says of a file, task or target that the gate's own command names and the project does not have."""

import re

from noface.data import Patterns, table
from noface.diagnosis.context import Context, Repo
from noface.diagnosis.evidence import Reading, RuleMatch
from noface.diagnosis.rules import Level
from noface.diagnosis.text import Log
from noface.model.taxonomy import FailureKind

_MISSING = Patterns("missing")

_LINE_MAX = 400
_COMMAND_MAX = 4_000
_WORD_MIN = 3
_FOUND_MAX = 20
_PATH = re.compile(r"[/.]")


def read_missing(log: Log, context: Context) -> Reading | None:
    """Return the lines that say of a word of the gate's command that there is no such thing."""
    if not context.repo.known or not context.exit_code:
        return None
    words = table("patterns")["words"]["missing"]
    short = {n: log.get(n)[:_LINE_MAX] for n in sorted({n for word in words for n in log.lines_with(word)})}
    reports = [n for n, line in short.items() if _MISSING["phrase"].search(line) and not _MISSING["code"].search(line)]
    asked = _asked_for(context) if reports else frozenset()
    asked_for = [
        n
        for n in reports
        if any(
            _same(token, word) for token in _tokens(short[n]) for word in asked if token == word or _PATH.search(token)
        )
    ]
    findings = [
        RuleMatch("gate.names-missing", FailureKind.ENVIRONMENT, Level.DIAGNOSTIC, number)
        for number in asked_for[:_FOUND_MAX]
    ]
    return Reading("missing", findings=tuple(findings)) if findings else None


def _clean(word: str) -> str:
    return word.removeprefix("file://").removeprefix("./").rstrip("/")


def _asked_for(context: Context) -> frozenset[str]:
    words = {_clean(word) for word in _MISSING["word"].findall(context.command[:_COMMAND_MAX])}
    # Second words stand for a program and its subcommand: "make test" tells of `test`, too.
    arguments = {tool.split(" ", 1)[1] for tool in context.tools if " " in tool}
    programs = {name for tool in context.tools for name in (tool, tool.rsplit("/", 1)[-1])} - arguments
    there = _files_and_folders(context.repo)
    return frozenset(
        word
        for word in words
        if len(word) >= _WORD_MIN
        and word not in programs
        and not any(_same(word, path) for path in there.get(word.rsplit("/", 1)[-1], ()))
    )


def _files_and_folders(repo: Repo) -> dict[str, set[str]]:
    there: dict[str, set[str]] = {}
    for file in repo.files:
        parts = file.split("/")
        for length in range(len(parts), 0, -1):
            path = "/".join(parts[:length])
            known = there.setdefault(parts[length - 1], set())
            if path in known:
                break
            known.add(path)
    return there


def _same(word: str, path: str) -> bool:
    return word == path or word.endswith("/" + path) or path.endswith("/" + word)


def _tokens(line: str) -> list[str]:
    tokens = [match for groups in _MISSING["token"].findall(line) for match in groups if match]
    return [_clean(re.sub(r"(?::\d{1,9}){0,4}:?$", "", token.strip("'\"`‘’“”.,;:()"))) for token in tokens]
