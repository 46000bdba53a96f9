"""What a worker left and no snapshot holds: files that git ignores, and files that are left out as rubbish."""

import re
from collections.abc import Iterable
from dataclasses import replace
from posixpath import basename, dirname

from noface.data import pattern
from noface.integrity.rubbish import is_generated
from noface.model.attempt import NotTaken
from noface.model.failure import Failure, PriorFailure
from noface.model.patterns import matches_any
from noface.model.quoting import some
from noface.model.taxonomy import Category, FailureKind

NOT_TAKEN = "not-taken"
"""The rule of a worker whose change is nothing but files that are not taken."""
_NO_PART = "no part of the change"
"""What messages about such files say, before they name them."""
_SHOWN_MAX = 3
_NAMED_CHARS_MAX = 300
_LINES_MAX = 400
_LINE_MAX = 1_000
_NAME_CHARS_MIN = 3
_EMPTY_STEMS = frozenset({"__init__", "index", "mod", "lib", "main"})
_TOKEN = re.compile(r"[\w$@-]+(?:(?:[./\\]|::)+[\w$@-]+)*")


def is_source(path: str) -> bool:
    written = pattern("rubbish", "ignored", "sources").search(path)
    return bool(written) and not pattern("rubbish", "ignored", "never").search(path) and not is_generated(path)


def only_these(files: tuple[NotTaken, ...], commit: str | None, paths: tuple[str, ...]) -> Failure:
    """Return the failure of a worker that left nothing else; `paths` are those that its issue may touch."""
    return Failure(
        FailureKind.NO_DIFF,
        f"what the worker left is {_NO_PART}: {_named(files)}. {_ways(files, commit, paths)}",
        rule=NOT_TAKEN,
        signature=f"{NOT_TAKEN}:{files[0].path}",
        evidence=tuple(f"{one.path}: {one.why}" for one in files[:_LINES_MAX]),
    )


def with_missing(
    failure: Failure, files: tuple[NotTaken, ...], commit: str | None, paths: tuple[str, ...]
) -> Failure | None:
    """Return a gate's failure as the worker's, with the files that it misses and that are not taken, None of none."""
    missing = tuple(one for one in files if _is_missed(one.path, failure))
    if not missing:
        return None
    environment = failure.category is Category.ENVIRONMENT
    return replace(
        failure,
        kind=FailureKind.RUNTIME_ERROR if environment else failure.kind,
        charged=failure.charged or environment,
        message=f"{failure.message}; it misses what is {_NO_PART}: {_named(missing)}. {_ways(missing, commit, paths)}",
        evidence=(*failure.evidence, *(f"{one.path}: {one.why}" for one in missing[:_SHOWN_MAX])),
    )


def earlier_notes(earlier: Iterable[PriorFailure]) -> str:
    return "\n".join(left for one in earlier if (left := named_in(one.message)))


def named_in(message: str) -> str:
    return message.partition(_NO_PART)[2].lstrip(": ")


def _named(files: tuple[NotTaken, ...]) -> str:
    return some(tuple(f"{one.path} is {one.why}" for one in files), _SHOWN_MAX, _NAMED_CHARS_MAX)


def _ways(files: tuple[NotTaken, ...], commit: str | None, paths: tuple[str, ...]) -> str:
    ways = []
    sources = sorted({one.source for one in files if one.source})
    if any(one.ignored for one in files):
        allowed = sources and (not paths or all(matches_any(source, paths) for source in sources))
        change = f"change {some(tuple(sources), _SHOWN_MAX)} so that it is not ignored, or " if allowed else ""
        ways.append(f"To have it in the change, {change}put it elsewhere, or report why that cannot be")
    if not all(one.ignored for one in files):
        ways.append("What is left out and belongs to the change is taken if it is left again")
    if commit is not None:
        ways.append(f"Its contents: git show {commit[:12]}:{files[0].path}")
    return ". ".join(ways)


def _is_missed(path: str, failure: Failure) -> bool:
    name, absent = basename(path), pattern("rubbish", "ignored", "missing")
    names = {name, name.rpartition(".")[0], basename(dirname(path))}
    wanted = {each for each in names if len(each) >= _NAME_CHARS_MIN and each not in _EMPTY_STEMS}
    lines = "\n".join((failure.message, *failure.evidence, failure.excerpt)).splitlines()[:_LINES_MAX]
    tokens = (token for line in lines if absent.search(line[:_LINE_MAX]) for token in _TOKEN.findall(line[:_LINE_MAX]))
    last = (re.split(r"[/\\]|::", token)[-1] for token in tokens)
    return any(not wanted.isdisjoint((name, name.rpartition(".")[0], name.rpartition(".")[2])) for name in last)
