"""Judges the paths that a change adds: git repositories in folders, and names that cannot leave this machine."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from posixpath import dirname, join, normpath, splitext
from shlex import quote

from noface.data import pattern
from noface.integrity.rubbish import above
from noface.model.attempt import ABSENT, FileChange
from noface.model.patch import decoded
from noface.model.patterns import matches_any

_MARKS = (frozenset({"head", "objects", "refs", "config"}), frozenset({"head", "commondir"}))
_RUNS = ("config", "config.worktree", "commondir", "hooks")


def made_repositories(
    changes: tuple[FileChange, ...], on_main: frozenset[str], may_change: tuple[str, ...] = ()
) -> tuple[str, ...]:
    """Return the folders that are a repository after the change, and were none on main or have other settings now.

    Letter case counts for nothing: on a person's file system it may mean nothing. `may_change` lifts a folder all
    of whose written parts it names.
    """
    written = {c.path for c in changes if c.status != "D"}
    unasked = _parts(path for path in written if not matches_any(path, may_change))
    if not unasked:
        return ()
    before, after = _parts(on_main), _parts((on_main - {c.path for c in changes if c.status == "D"}) | written)
    own = {folder for folder, names in before.items() if any(map(names.issuperset, _MARKS))}
    made = {folder for folder, names in after.items() if any(map(names.issuperset, _MARKS))}
    settings = {folder for folder, names in _parts(written).items() if not names.isdisjoint(_RUNS)}
    return tuple(sorted(((made - own) | (made & settings)) & unasked.keys()))


def _parts(paths: Iterable[str]) -> dict[str, set[str]]:
    parts = defaultdict[str, set[str]](set)
    for path in paths:
        names = path.casefold().split("/")
        for at, name in enumerate(names):
            if name in _RUNS or any(name in marks for marks in _MARKS):
                parts["/".join(names[:at])].add(name)
    return parts


_GITLINK = "160000"

# git's core.protectHFS passes these over.
_IGNORABLE = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))
_LOOKED_AT = re.compile(r"\.(git|mailmap|\.?$)|.*~", re.IGNORECASE | re.DOTALL)

_CODE = re.compile(r"`([^`\n]+)`")
_TO_QUOTE = re.compile(r"[^\w@%+=:,./-]")
_ODD = re.compile(r"[<>:\"|?*\\]")


class UnfitRule(StrEnum):
    """Why a path is unfit; the value is the rule's name, whose words stand in `refused.toml`."""

    FSCK = "git-fsck"
    SUBMODULE = "submodule"
    TWIN = "twin-names"
    WINDOWS = "windows-names"
    FILTERED = "filtered-files"
    LINK = "links-outside"


@dataclass(frozen=True, slots=True)
class Unfit:
    """A path that a change adds and that cannot be pushed or checked out everywhere, and why."""

    rule: UnfitRule
    path: str
    why: str


def adds(changes: Iterable[FileChange]) -> bool:
    return any(change.old_mode == ABSENT for change in changes)


def unfit_names(
    changes: tuple[FileChange, ...], on_main: frozenset[str], asked: tuple[str, ...] = (), words: str = ""
) -> tuple[Unfit, ...]:
    """Return the names that a change adds and that cannot leave this machine, and submodules that it adds unasked.

    Names that stand in the `words` of the issue are its work.
    """
    added = [change for change in changes if change.old_mode == ABSENT and change.new_mode != ABSENT]
    unasked = [change for change in added if not (matches_any(change.path, asked) or _spelled(change.path, words))]
    windows_refuses = pattern("integrity", "names", "windows", re.IGNORECASE).search
    bad = [change.path for change in unasked if windows_refuses(change.path)]
    if bad and any(map(windows_refuses, on_main)):  # a project that Windows cannot check out anyway
        bad = []
    windows = (Unfit(UnfitRule.WINDOWS, _visible(path), "no file of Windows is called so") for path in bad)
    return (*_submodules(changes, asked), *windows, *(_twins(changes, unasked, on_main) if unasked else ()))


def _spelled(path: str, words: str) -> bool:
    """True if words spell a path out, its name, or in code one of its kind: its ending and its odd characters."""
    text, name = decoded(path), decoded(path).rpartition("/")[2]
    if any(re.search(rf"(?<![\w./-]){re.escape(each)}(?![\w/-])", words) for each in (text, name)):
        return True
    alike = (code for code in _CODE.findall(words) if _ODD.search(code) and splitext(code)[1] == splitext(name)[1])
    return any({*_ODD.findall(text)} <= {*_ODD.findall(code)} for code in alike)


def leads_outside(path: str, target: str) -> bool:
    return target.startswith("/") or normpath(join(dirname(path), target)).split("/")[0] == ".."


def leads_in_a_circle(path: str, target: str) -> bool:
    """True if a link at `path` leads to a folder that holds it: who walks through the project never ends."""
    return f"{dirname(path)}/".startswith("" if (to := normpath(join(dirname(path), target))) == "." else f"{to}/")


def may_be_refused(paths: Iterable[str]) -> bool:
    """True if git's checks may have something against what stands at one of the paths; most start no process."""
    parts = (part for path in paths for name in path.split("/") for part in name.split("\\"))
    return any(_LOOKED_AT.match(part.translate(_IGNORABLE)) for part in parts)


def refused_by_servers(path: str, check: str, words: str) -> Unfit:
    return Unfit(UnfitRule.FSCK, _visible(path), f"{check}: {words}")


def _submodules(changes: tuple[FileChange, ...], asked: tuple[str, ...]) -> Iterator[Unfit]:
    for change in changes:
        added = change.new_mode == _GITLINK and change.old_mode != _GITLINK
        if added and not matches_any(change.path, asked):
            yield Unfit(UnfitRule.SUBMODULE, _visible(change.path), f"at commit {change.new_oid[:12]}")


def _twins(changes: tuple[FileChange, ...], added: list[FileChange], on_main: frozenset[str]) -> Iterator[Unfit]:
    gone = {change.path for change in changes if change.new_mode == ABSENT}
    there = _entries(on_main - gone) | _entries(change.path for change in changes if change.new_mode != ABSENT)
    new = _entries(change.path for change in added) - _entries(on_main)
    spelled: dict[str, list[str]] = {_folded(name): [] for name in new}
    for name in sorted(there):
        if (key := _folded(name)) in spelled:
            spelled[key].append(name)
    seen: set[str] = set()
    for name in sorted(new):
        key = _folded(name)
        others = [other for other in spelled[key] if other != name]
        if others and seen.isdisjoint((key, *above(key))):
            seen.add(key)
            yield Unfit(UnfitRule.TWIN, _visible(name), f"{_visible(others[0])} is there")


def _entries(paths: Iterable[str]) -> set[str]:
    names = set(paths)
    return names.union(*(above(folder + "/x") for folder in {name.rpartition("/")[0] for name in names} - {""}))


def _folded(path: str) -> str:
    # One character for one: no file system takes ß for ss.
    plain = (c.casefold() if len(c.casefold()) == 1 else c.lower() for c in unicodedata.normalize("NFD", path))
    return unicodedata.normalize("NFD", "".join(plain))


def _visible(path: str) -> str:
    text = decoded(path)
    apart = not unicodedata.is_normalized("NFC", text)
    hidden = [not c.isprintable() or bool(apart and unicodedata.combining(c)) for c in text]
    if not any(hidden):
        return quote(text) if _TO_QUOTE.search(text) else text
    escaped = (c if c not in "\\'" else f"\\{c}" for c in text)
    shown = zip(text, escaped, hidden, strict=True)
    return "$'" + "".join(f"\\u{ord(c):04x}" if unseen else plain for c, plain, unseen in shown) + "'"
