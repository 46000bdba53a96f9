"""Has a change judged by main's versions of the tools that judge (law 11): runners, plug-ins, linters, their needs.

What a change has setup install stays as far as its product uses it; the rest of the environment is main's. Both are
made in the gate slot: setup on the change, which is put aside; setup on main; and of the first what is the product's.
Only a change of setup's inputs that brings other versions of tools is asked, once.
"""

import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from noface.attempt.copied_setup import beside
from noface.attempt.prepare import Preparation, check_out
from noface.gates.packages import environments, names_in, packages_in
from noface.git.plumbing import Plumbing
from noface.git.removal import remove, remove_below
from noface.integrity.asked_for import words_of
from noface.integrity.judges import Part, part_of
from noface.integrity.lexing import TEXT_CHARS_MAX
from noface.integrity.tampering import is_code
from noface.integrity.tools import Package, Packages, entry_points, other_tools, products, words_used
from noface.model.attempt import REGULAR
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.process.files import read_regular, write_atomic
from noface.process.moved_copy import Relocation, copy_moved

_FILES_MAX = 5_000
_ENTRIES_BYTES_MAX = 1 << 20
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools that judge in other versions, and the packages that are the product's; both by what is installed."""

    other: tuple[str, ...] = ()
    product: frozenset[Key] = frozenset()


def tools_of(plumbing: Plumbing, trees: tuple[str, str], issue: Issue, main: Packages, now: Packages) -> Tools:
    """Return which tools the second of the trees has in other versions than the first, which is main's.

    Those that the issue names are its work. `main` and `now` are what setup installs there.
    """
    used_on_main, used = (_words(plumbing, tree) for tree in trees)
    named = {key for key in {*main, *now} if _names(issue, key[1])}
    other = tuple(words for key, words in other_tools(main, now, used_on_main, used).items() if key not in named)
    return Tools(other, frozenset(products(main, now, used_on_main, used) | named))


def _names(issue: Issue, package: str) -> bool:
    word = re.compile(rf"(?<![\w@/-]){re.escape(package)}(?![\w/-])", re.IGNORECASE)
    return any(word.search(text) for text in words_of(issue))


def _words(plumbing: Plumbing, commit: str) -> set[str]:
    """Return the names by which the code of the product may use packages."""
    paths = [path for path in plumbing.paths(commit) if is_code(path) and part_of(path) is Part.PRODUCT]
    words: set[str] = set()
    with plumbing.blobs() as blobs:
        for mode, oid in plumbing.entries(commit, tuple(paths[:_FILES_MAX])).values():
            if mode in REGULAR:
                words |= words_used(blobs.text(oid, TEXT_CHARS_MAX))
    return words


def prepare_with_main_tools(
    preparation: Preparation, commit: str, main: str, product: frozenset[Key]
) -> Failure | None:
    """Check `commit` out for gates, in main's environment with the change's versions of the `product`'s packages."""
    slot, failure = preparation.slot, preparation.prepare_for_gates(commit, main)
    if failure is not None:
        return failure
    aside = beside(slot.path, "change")
    remove(aside)
    try:
        for path in slot.keep:
            _move(slot.path, aside, path.strip("/"))
        failure = preparation.prepare_for_gates(main, main) or check_out(preparation.scope.env, slot, commit)
        for path in slot.keep if failure is None else ():
            combine(aside, slot.path, path.strip("/"), product)
    finally:
        remove(aside)
    slot.setup_stamp.unlink(missing_ok=True)  # the next use sets it up from main again
    return failure


def _move(source: Path, target: Path, path: str) -> None:
    if os.path.lexists(source / path) and _inside(source, path):
        remove_below(target, path)
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).rename(target / path)


def _inside(top: Path, path: str) -> bool:
    """True if no link on the way to a path leads out of the folder: noface may read more than what made it."""
    folder = os.path.realpath(top)
    return f"{os.path.realpath((top / path).parent)}/".startswith(f"{folder}/")


def combine(change: Path, slot: Path, place: str, product: frozenset[Key]) -> None:
    """Bring the product's packages of the change into main's environment; all of what is none, or of another Python.

    A file of a tool stays main's, and so does a folder with one in it, which a package may name as its file.
    """
    kinds = environments(slot, place)
    if not kinds or kinds != environments(change, place):
        if os.path.lexists(change / place):
            remove_below(slot, place)
            _move(change, slot, place)
        return
    main = {each.key: each for each in packages_in(slot, (place,))}
    now = {each.key: each for each in packages_in(change, (place,))}
    tools = {name for at, name in main if (at, name) not in product}
    taken = {file for key, each in main.items() if key not in product for file in each.files}
    taken |= {str(folder) for file in taken for folder in Path(file).parents}
    for key in sorted(product & (main.keys() | now.keys())):
        before, after = main.get(key), now.get(key)
        if before != after or (after is not None and after.own):
            _exchange(change, slot, before, after, tools, taken)
    if kinds == (place,):
        _add_links(change, slot, place)


def _add_links(change: Path, slot: Path, place: str) -> None:
    """Add what node_modules lead to and main's have not: stores of pnpm and npm below it, packages of the workspace."""
    for folder in (place, f"{place}/.pnpm", f"{place}/.store"):
        entries = names_in(change / folder) if _inside(change, f"{folder}/.") else ()
        for path in (f"{folder}/{name}" for name in entries):
            missing = not os.path.lexists(slot / path) and _inside(slot, path)
            entry = change / path
            leads_out = entry.is_symlink() and "node_modules" not in str(entry.readlink())
            if missing and (folder != place or leads_out):
                copy_moved(entry, slot / path, Relocation(()))


def _exchange(
    change: Path, slot: Path, before: Package | None, after: Package | None, tools: Collection[str], taken: set[str]
) -> None:
    """Put the change's version of a package in the place of main's; a file of a tool stays the tool's."""
    had = ""
    for file in before.files if before is not None else ():
        if file.endswith("/entry_points.txt"):
            had = _text(slot / file)
        if file not in taken:
            remove_below(slot, file)
    for file in after.files if after is not None else ():
        if file in taken or not os.path.lexists(change / file) or not _inside(change, file) or not _inside(slot, file):
            continue
        remove_below(slot, file)
        (slot / file).parent.mkdir(parents=True, exist_ok=True)
        copy_moved(change / file, slot / file, Relocation(()))
        if file.endswith(".dist-info/entry_points.txt"):
            write_atomic(slot / file, entry_points(_text(slot / file), had, tools))


def _text(path: Path) -> str:
    return (read_regular(path, _ENTRIES_BYTES_MAX) or b"").decode("utf-8", "replace")
