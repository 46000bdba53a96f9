"""Tells of new files in a workspace which are no part of the change: what programs leave, and what was made for a try.

Its bytes, the mark in its folder, or that setup or a gate writes it on main, prove what it is: it is left out. A name
proves nothing: its worker is told once. What main keeps, the issue names, or the change uses, is none of it.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
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
_OF_FOLDERS = ("__init__", "index", "mod")
"""Modules that are named by their folder."""
HEAD_BYTES = 4096
"""As much of a file is looked at to see which program wrote it."""


@dataclass(frozen=True, slots=True)
class RubbishRules:
    """What is no rubbish by noface.toml and the issue, and what setup and gates make of main itself (`made`)."""

    files: tuple[str, ...] = ()
    words: str = ""
    made: frozenset[str] = frozenset()

    def by(self, issue: Issue, more: str = "", made: Iterable[str] = ()) -> "RubbishRules":
        """Return what is wanted for an issue; `more` is another text that names files."""
        words = (issue.title, issue.body, *issue.paths, *issue.may_change, *issue.accept, more)
        return replace(self, words="\n".join(words), made=frozenset(made))


@dataclass(frozen=True, slots=True)
class Rubbish:
    """What a file is; `proven`: a program wrote it, and it is left out.

    `worthless`: any run of the program writes it anew. `known`: nobody has to be told that it is left out, as of what a
    gate makes of main, too.
    """

    what: str
    proven: bool = False
    worthless: bool = False
    known: bool = False
    unless: tuple[str, ...] = ()
    """Where the rest of the change holds one of these words, the file is part of it."""


@cache
def _kinds() -> tuple[tuple[re.Pattern[str], dict[str, Any]], ...]:
    return tuple((re.compile("|".join(kind["paths"])), kind) for kind in table("rubbish")["files"])


@lru_cache(maxsize=10_000)
def kind_of(path: str) -> str:
    return next((kind["what"] for paths, kind in _kinds() if not kind.get("written") and paths.search(path)), "")


def rewritten(changes: Iterable[FileChange]) -> list[FileChange]:
    anew = [paths for paths, kind in _kinds() if kind.get("anew")]
    return [each for each in changes if each.status == "M" and any(paths.search(each.path) for paths in anew)]


def above(path: str) -> list[str]:
    return [path[:at] for at, sign in enumerate(path) if sign == "/"]


def marked_folders(paths: Collection[str], on_main: Collection[str]) -> set[str]:
    """Return the folders below the top with a mark of the program that fills them, and no file of main."""
    marks = tuple(f"/{mark}" for mark in table("integrity")["generated"]["marks"])
    marked = {path.removesuffix(mark) for path in paths if path.endswith(marks) for mark in marks}
    marked.difference_update(paths)
    return marked - {folder for path in on_main for folder in above(path)} if marked else marked


def is_generated(path: str) -> bool:
    return bool(pattern("integrity", "generated", "paths").search(path) or kind_of(path))


def generated(paths: Collection[str], on_main: Collection[str] = ()) -> frozenset[str]:
    marked = marked_folders(paths, on_main)
    return frozenset(path for path in paths if is_generated(path) or not marked.isdisjoint(above(path)))


def rubbish_in(
    new: Collection[str],
    on_main: Collection[str],
    wanted: RubbishRules,
    patch: str = "",
    head: Callable[[str], bytes] = lambda _: b"",
) -> dict[str, Rubbish]:
    """Return which of the `new` files are rubbish; `head` gives the first bytes of a file."""
    result = {path: one for path, one in _each(new, on_main, wanted, head) if not matches_any(path, wanted.files)}
    if not any(one.unless for one in result.values()):
        return result
    apart = {decoded(path) for path in result}
    lines = (line for line in changed_lines(patch) if not line.removed and line.path not in apart)
    text = "\n".join(line.text for line in lines)
    return {path: one for path, one in result.items() if not any(says(text, word) for word in one.unless)}


_ASKED = r"(^(\S*/)?|(?i:(?<!not )(?<!never )(?<!n't )\b(commit|check\w* in|track|ship|publish)\w*\b[^.\n]{0,60}[\s`]))"
"""Before the name of a folder in an issue: a text that only mentions it, as what a build writes, asks for nothing."""


def _each(
    new: Collection[str], on_main: Collection[str], wanted: RubbishRules, head: Callable[[str], bytes]
) -> Iterator[tuple[str, Rubbish]]:
    marked, of_main = marked_folders(new, on_main), dict[str, list[str]]()
    for path in new:
        filled = next((folder for folder in above(path) if folder in marked or folder in wanted.made), "")
        made = path in wanted.made or filled in wanted.made
        match, kind = next(((found, kind) for paths, kind in _kinds() if (found := paths.search(path))), (None, {}))
        what, worthless = kind.get("what", ""), bool(kind.get("worthless"))
        in_tests = pattern("integrity", "judges", "test_folder").search(path) is not None
        if (not match and not filled and not made) or (in_tests and not worthless and not made):
            continue
        if match and what not in of_main:
            of_main[what] = [other for other in on_main if match.re.search(other)]
        places = (path, *(folder for folder in above(path) if "/" in folder))
        named = not worthless and any(says(wanted.words, place) for place in places)
        if named or (match and _is_kept(path, match, of_main[what], wanted.words)):
            continue
        what = what or ("made by setup or a gate" if made else "in a folder that a program fills")
        text = head(path).decode("latin-1") if "bytes" in kind and not filled and not made else ""
        by_bytes = any(re.match(each, text, re.DOTALL) for each in kind.get("bytes", ()))
        unless = _names(path, alone=not filled)
        yield path, Rubbish(what, bool(filled or made or by_bytes), worthless, made or worthless, unless)


def _names(path: str, *, alone: bool) -> tuple[str, ...]:
    """Return how a change names a file that it uses: by its path, as a module, and by its name if it is `alone`."""
    stem = splitext(path)[0]
    module = dirname(path) if basename(stem) in _OF_FOLDERS else stem
    modules = [name for name in (stem, *((module, "/".join(module.split("/")[-2:])) * alone)) if "/" in name]
    return (path, *((basename(path),) * alone), *modules, *(name.replace("/", ".") for name in modules))


def _is_kept(path: str, match: re.Match[str], of_main: list[str], words: str) -> bool:
    """True if the issue asks for such files, or main keeps some: in such a folder, of that name, or beside it."""
    if match.end() < len(path):
        folder = match[0].strip("/")
        asked = re.search(rf"{_ASKED}{re.escape(folder)}(/|`|\s|$)", words, re.MULTILINE)
        return bool(asked) or any(f"/{folder}/" in f"/{other}" for other in of_main)
    place = (dirname(path), splitext(path)[1])
    if says(words, basename(path)) or re.search(rf"\*{re.escape(place[1] or path)}(?!\w)", words):
        return True
    return any(basename(path) == basename(other) or place == (dirname(other), splitext(other)[1]) for other in of_main)


def says(text: str, word: str) -> bool:
    """True if a text holds a file's name, or a word, as a whole; a short name may mean anything."""
    short = "." in word and "/" not in word and len(word) < _NAME_CHARS_MIN
    return word in text and not short and re.search(rf"(?<![\w.-]){re.escape(word)}(?![\w-])", text) is not None
