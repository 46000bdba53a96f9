"""Tells of new files in a workspace which are no part of the change: what programs leave, and what was made for a try.

A name alone is not enough. What main keeps such files for, what the issue names, what tests have as data and what the
rest of the change speaks of is wanted; the table says of each kind what of this counts (data/rubbish.toml).
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from posixpath import basename, dirname, splitext
from typing import Any

from noface.data import pattern, table
from noface.model.attempt import FileChange
from noface.model.issue import Issue
from noface.model.patch import changed_lines, decoded
from noface.model.patterns import matches_any

_NAME_CHARS_MIN = 5


@dataclass(frozen=True, slots=True)
class RubbishRules:
    """What is rubbish here, and what is none: globs of noface.toml, and what is said of files in the issue."""

    not_files: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    words: str = ""

    def by(self, issue: Issue, more: str = "") -> "RubbishRules":
        """Return what is wanted for an issue; `more` is another text that names files."""
        words = (issue.title, issue.body, *issue.paths, *issue.may_change, *issue.accept, more)
        return replace(self, words="\n".join(words))


@dataclass(frozen=True, slots=True)
class Rubbish:
    """What a file is; `remind`: its worker hears of it, else it is left out; `worthless`: a program makes it anew.

    `unless` are words: where the rest of the change holds one, the file is part of it.
    """

    what: str
    remind: bool = False
    worthless: bool = False
    unless: tuple[str, ...] = ()


@cache
def _kinds() -> tuple[tuple[re.Pattern[str], dict[str, Any]], ...]:
    return tuple((re.compile("|".join(kind["paths"])), kind) for kind in table("rubbish")["files"])


@lru_cache(maxsize=10_000)
def kind_of(path: str) -> str:
    """Return what a path is by its name alone, "" for what people write."""
    return next((kind["what"] for paths, kind in _kinds() if not kind.get("told") and paths.search(path)), "")


def rewritten(changes: Iterable[FileChange]) -> list[FileChange]:
    """Return the changes that any run of a program makes to files that main keeps of it."""
    anew = [paths for paths, kind in _kinds() if kind.get("anew")]
    return [each for each in changes if each.status == "M" and any(paths.search(each.path) for paths in anew)]


def above(path: str) -> list[str]:
    """Return the folders above a path, the outermost first."""
    return [path[:at] for at, sign in enumerate(path) if sign == "/"]


def marked_folders(paths: Collection[str], on_main: Collection[str]) -> set[str]:
    """Return the folders with a mark of the program that fills them, and no file of main.

    One at the top of the project marks nothing: people work there.
    """
    marks = tuple(f"/{mark}" for mark in table("integrity")["generated"]["marks"])
    marked = {path.removesuffix(mark) for path in paths if path.endswith(marks) for mark in marks}
    marked.difference_update(paths)
    return marked - {folder for path in on_main for folder in above(path)} if marked else marked


def rubbish_in(
    new: Collection[str], on_main: Collection[str], wanted: RubbishRules, statuses: Mapping[str, str], patch: str = ""
) -> dict[str, Rubbish]:
    """Return which of the `new` files are rubbish; `statuses` are all changed paths with git's letters."""
    result = dict(_by_name(new, on_main, wanted)) | _locks(new, on_main, wanted, statuses)
    result = {path: one for path, one in result.items() if not matches_any(path, wanted.files)}
    if not any(one.unless for one in result.values()):
        return result
    apart = {decoded(path) for path in result}
    lines = (line for line in changed_lines(patch) if not line.removed and line.path not in apart)
    text = "\n".join(line.text for line in lines)
    return {path: one for path, one in result.items() if not any(_says(text, word) for word in one.unless)}


_ASKED = r"(^(\S*/)?|(?i:(?<!not )(?<!never )(?<!n't )\b(commit|check\w* in|track|ship|publish)\w*\b[^.\n]{0,60}[\s`]))"
"""Before the name of a folder in an issue: a text that only mentions it, as what a build writes, asks for nothing."""
_FILLED: tuple[re.Pattern[str], dict[str, Any]] = (
    re.compile("(?!)"),
    {"what": "in a folder that a program fills", "kept_by": ["tests"]},
)


def _by_name(new: Collection[str], on_main: Collection[str], wanted: RubbishRules) -> Iterator[tuple[str, Rubbish]]:
    marked = marked_folders(new, on_main)
    of_main: dict[re.Pattern[str], list[str]] = {}
    for path in new:
        if matches_any(path, wanted.not_files):
            yield path, Rubbish("[limits] rubbish")
            continue
        filled = None if marked.isdisjoint(above(path)) else _FILLED
        first = next((each for each in _kinds() if each[0].search(path)), filled)
        if first is None or (
            "tests" in first[1]["kept_by"] and pattern("integrity", "judges", "test_folder").search(path)
        ):
            continue
        paths, kind = first
        if paths not in of_main:
            of_main[paths] = [other for other in on_main if paths.search(other)]
        if not _is_kept(path, paths.search(path), of_main[paths], wanted.words):
            unless = (path, basename(path)) if "mention" in kind["kept_by"] else ()
            yield path, Rubbish(kind["what"], kind.get("told", False), not kind["kept_by"], unless)


def _is_kept(path: str, match: re.Match[str] | None, of_main: list[str], words: str) -> bool:
    """True if the issue names such a file, or main keeps some: in such a folder, of that name, or beside it."""
    if match is None or _says(words, path):
        return _says(words, path)
    folder = match[0].strip("/") if match.end() < len(path) else ""
    place = (dirname(path), splitext(path)[1])
    by_kind = rf"{_ASKED}{re.escape(folder)}(/|`|\s|$)" if folder else rf"\*{re.escape(place[1] or path)}(?!\w)"
    if (not folder and _says(words, basename(path))) or re.search(by_kind, words, re.MULTILINE):
        return True
    return any(
        f"/{folder}/" in f"/{other}"
        if folder
        else basename(other) == basename(path) or (dirname(other), splitext(other)[1]) == place
        for other in of_main
    )


def _locks(
    new: Collection[str], on_main: Collection[str], wanted: RubbishRules, statuses: Mapping[str, str]
) -> dict[str, Rubbish]:
    """Return the new lock files of another package manager than main's, or of one that nobody asked for."""
    result: dict[str, Rubbish] = {}
    for system in table("rubbish")["locks"].values():
        files, manifests = system["files"], system["manifests"]
        added = [path for path in new if basename(path) in files]
        changed = {basename(path) for path in statuses if path not in new} if added else set()
        there = {basename(path) for path in on_main} if added else set()
        kept, declared = sorted(there.intersection(files)), sorted(there.intersection(manifests))
        what = f"the lock file of another package manager; main has {kept[0]}" if kept else ""
        if not kept and declared and changed.isdisjoint(manifests):
            what = f"a lock file; main has {declared[0]} and none"
        for path in added if what and changed.isdisjoint(files) else ():
            words = (basename(path), *files[basename(path)])
            if basename(path) not in kept and not any(_says(wanted.words.lower(), word.lower()) for word in words):
                result[path] = Rubbish(what, unless=words)
    return result


def _says(text: str, word: str) -> bool:
    """True if a text holds a file's name, or a word, as a whole; a short name may mean anything."""
    short = "." in word and "/" not in word and len(word) < _NAME_CHARS_MIN
    return word in text and not short and re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", text) is not None
