"""What of a change judges it (law 11): tests, what steers test runners and linters, and what gates call.

A manifest judges and describes at once, so it is made anew of main's judging sections and the change's dependencies.
"""

import configparser
import io
import json
import posixpath
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from noface.data import pattern, table
from noface.integrity.inner_tests import HOLDERS
from noface.integrity.tampering import is_test_file
from noface.model.attempt import ABSENT, FileChange
from noface.model.issue import Issue
from noface.model.patterns import matches_any


class Part(StrEnum):
    """What a changed file is to the gates.

    TEST and CONFIG judge the product. A MANIFEST judges in some of its sections. SOFT may: it builds or configures the
    product as well. All else is the PRODUCT.
    """

    TEST = "test"
    CONFIG = "config"
    MANIFEST = "manifest"
    SOFT = "soft"
    PRODUCT = "product"


_COMPILED = (".c", ".cc", ".cpp", ".cxx", ".rs", ".go", ".java", ".kt", ".cs", ".swift", ".zig", ".hs")
_WORD = re.compile(r"[\w./$(){}:=+-]+")
MANIFESTS = ("pyproject.toml", "setup.cfg", "tox.ini", "package.json", "Cargo.toml")


@dataclass(frozen=True, slots=True)
class Touched:
    """The files of a change that judge it, unless the issue may change them; `sources` may hold tests of their own."""

    tests: tuple[FileChange, ...] = ()
    config: tuple[FileChange, ...] = ()
    manifests: tuple[FileChange, ...] = ()
    soft: tuple[FileChange, ...] = ()
    sources: tuple[FileChange, ...] = ()


def _names(key: str) -> re.Pattern[str]:
    return pattern("integrity", "judges", key)


def part_of(path: str, reached: Collection[str] = ()) -> Part:
    """Tell what a file is to the gates; `reached` are files that the gates' commands and scripts call."""
    if path.rpartition("/")[2] in MANIFESTS:
        return Part.MANIFEST
    if _names("test_folder").search(path) or is_test_file(path):
        return Part.TEST
    if _names("dependencies").search(path):
        return Part.PRODUCT
    if path in reached or _names("config").search(path) or is_hidden(path):
        return Part.CONFIG
    return Part.SOFT if _names("soft").search(path) else Part.PRODUCT


def is_hidden(path: str) -> bool:
    return path.startswith(".") or "/." in path


def steers_by_name(path: str) -> bool:
    """True if tools look for a file by its name, whoever else uses it; of what may steer, only data is apart."""
    looked_for = _names("config").search(path) or _names("by_itself").search(path) or builds(path)
    return bool(looked_for) or (part_of(path) is Part.SOFT and not _names("made").search(path))


def is_compiled(path: str) -> bool:
    return posixpath.splitext(path)[1] in _COMPILED


def only_lists(old: str, new: str, added: Collection[str], removed: Collection[str]) -> bool:
    """True if all that differs in what builds a project is that it names files which the change adds, or removes."""
    was, now = (Counter(_WORD.findall(text)) for text in (old, new))
    stems, gone = ({posixpath.basename(path).partition(".")[0] for path in paths} for paths in (added, removed))
    gained, lost = ({word.partition(".")[0].rpartition("/")[2] for word in words} for words in (now - was, was - now))
    return bool(gained | lost) and gained <= stems and lost <= gone


def builds(path: str) -> bool:
    return _names("builds").search(path) is not None


def may_be_made(path: str, reached: Collection[str] = ()) -> bool:
    """True if a gate may make a file of the work: the product, or text and data that judge by no name of theirs."""
    made = part_of(path) in (Part.PRODUCT, Part.SOFT) and _names("made").search(path) is not None
    return made or part_of(path, reached) is Part.PRODUCT


def touched(changes: Iterable[FileChange], issue: Issue, part_in: Callable[[str], Part] = part_of) -> Touched:
    """Return which files of a change judge it, as `part_in` tells what a path is; what the issue names is its work."""
    parts: dict[Part, list[FileChange]] = {part: [] for part in Part}
    for change in changes:
        part = part_in(change.path)
        if part is Part.PRODUCT or not lifted(change.path, issue):
            parts[part].append(change)
    sources = tuple(
        c
        for c in (*parts[Part.PRODUCT], *parts[Part.SOFT])
        if c.path.endswith(HOLDERS)
        and ABSENT not in (c.old_mode, c.new_mode)
        and not matches_any(c.path, issue.may_change)
    )
    tests, config, manifests = (tuple(parts[part]) for part in (Part.TEST, Part.CONFIG, Part.MANIFEST))
    return Touched(tests, config, manifests, tuple(parts[Part.SOFT]), sources)


def lifted(path: str, issue: Issue) -> bool:
    """True if an issue is about a file that judges: `may_change` or its `paths` name it; a glob names only tests.

    A part of a breakdown has its paths from a model, so they lift nothing.
    """
    if matches_any(path, issue.may_change):
        return True
    if issue.parent is not None:
        return False
    named = (p for p in issue.paths if _names("names_tests").search(p) or path == p.strip("/"))
    return matches_any(path, tuple(named))


def with_main_judging(path: str, main: str, change: str) -> str | None:
    """Return the manifest at `path` as the change has it, but judging as `main` does; None if it cannot be read."""
    import tomli_w

    describing = table("integrity")["sections"]
    try:
        match path.rpartition("/")[2]:
            case "pyproject.toml":
                old, new = tomllib.loads(main), tomllib.loads(change)
                before = _table(old.get("tool"))
                tools = _joined(before, _table(new.get("tool")), describing["build_tools"])
                return tomli_w.dumps({**new, "tool": _with_tasks(tools, before, describing["task_tables"])})
            case "Cargo.toml":
                return tomli_w.dumps(_joined(tomllib.loads(main), tomllib.loads(change), describing["cargo"]))
            case "package.json":
                old, new = _table(json.loads(main or "{}")), _table(json.loads(change))
                return json.dumps(_joined(old, new, describing["package_json"]), indent=2)
            case "tox.ini":
                return main
            case _:
                return _ini(main, change, tuple(describing["ini"]))
    except (ValueError, TypeError, RecursionError, configparser.Error):
        return None


def _joined(main: Mapping[str, Any], change: Mapping[str, Any], describing: Collection[str]) -> dict[str, Any]:
    judges = {name: value for name, value in main.items() if name not in describing}
    return judges | {name: value for name, value in change.items() if name in describing}


def _with_tasks(tools: Mapping[str, Any], main: Mapping[str, Any], places: Collection[str]) -> dict[str, Any]:
    """Return the tables of tools with main's commands, if main has such: scripts, tasks, those of environments."""
    made = dict(tools)
    for tool, key in (place.split(".") for place in places):
        old, new = _table(_table(main.get(tool)).get(key)), _table(_table(tools.get(tool)).get(key))
        if not old:
            continue
        if key == "envs":
            old = {
                name: {**_table(new.get(name)), **{k: v for k, v in _table(env).items() if k == "scripts"}}
                for name, env in old.items()
            }
        made[tool] = {**_table(tools.get(tool)), key: {**new, **old}}
    return made


def _ini(main: str, change: str, describing: tuple[str, ...]) -> str:
    made = configparser.RawConfigParser()
    for given, from_change in ((main, False), (change, True)):
        parser = configparser.RawConfigParser(strict=False)
        parser.read_string(given)
        for name in parser.sections():
            if name.partition(".")[0].startswith(describing) == from_change and not made.has_section(name):
                made.read_dict({name: dict(parser[name])})
    text = io.StringIO()
    made.write(text)
    return text.getvalue()


def _table(value: object) -> dict[str, Any]:
    if not isinstance(value, dict | None):
        raise TypeError("not a table")
    return value or {}


BROKEN = "noface canary: this file is broken on purpose )]}\n"
_BROKEN_PHP = f"<?php {BROKEN}"


def sources(paths: Iterable[str], but_not: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of a tree's files are the product's sources; `but_not` are globs of what gates and setup go by."""
    return tuple(
        sorted(
            path
            for path in paths
            if pattern("integrity", "canary", "source").search(path)
            and not pattern("integrity", "canary", "not_source", re.IGNORECASE).search(path)
            and not is_test_file(path)
            and not matches_any(path, but_not)
        )
    )


def broken(path: str) -> str:
    return _BROKEN_PHP if path.endswith(".php") else BROKEN
