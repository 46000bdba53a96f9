"""Holds a change against main for what nobody asked for: what can be put right is, the rest is told or asked."""

import getpass
import os
from collections.abc import Mapping
from pathlib import Path

from noface.attempt.attempt import Judging
from noface.git.plumbing import store_text
from noface.git.stored import LINK_MODE, Entry
from noface.integrity.unasked.chapters import find_unasked
from noface.integrity.unasked.finding import Changed, Ground, Held, Unasked
from noface.model.attempt import ABSENT, UNASKED, FileChange
from noface.model.patch import decoded
from noface.model.quoting import one_line, some

_FILE_BYTES_MAX = 2_000_000
_TOTAL_BYTES_MAX = 64_000_000
_SHOWN_MAX = 5
_LINE_CHARS_MAX = 200


def unasked_in(attempt: Judging) -> tuple[Unasked, ...]:
    """Return what the change does beyond what its issue asks for."""
    plumbing, main, left = attempt.plumbing, attempt.order.main, _TOTAL_BYTES_MAX
    with plumbing.blobs() as blobs:

        def held(mode: str, oid: str) -> bytes | None:
            nonlocal left
            if mode in (ABSENT, LINK_MODE):
                return oid.encode() if mode == LINK_MODE else None
            data = blobs.read(oid, min(_FILE_BYTES_MAX, left))
            left -= len(data or b"")
            return data

        def content(path: str) -> Held | None:
            entry = plumbing.entries(main, (path,)).get(path)
            data = held(*entry) if entry is not None else None
            return (entry[0], data) if entry is not None and data is not None else None

        files = [
            Changed(c.path, held(c.old_mode, c.old_oid), held(c.new_mode, c.new_oid), c.old_mode, c.new_mode)
            for c in attempt.change.files
        ]
        ground = Ground(
            attempt.issue,
            plumbing.whole(main).paths,
            lambda texts: plumbing.files_with(main, texts),
            content,
            _machine(attempt),
        )
        return find_unasked(files, ground)


def _machine(attempt: Judging) -> tuple[str, ...]:
    slots = str(attempt.env.slots_dir)
    return tuple(dict.fromkeys((slots, os.path.realpath(slots), str(Path.home()), getpass.getuser())))


def put_right(attempt: Judging) -> tuple[tuple[Unasked, ...], Mapping[str, Entry | None]]:
    """Return what can be put right now, and how: what has a mend of its own, and again what is as well left out.

    Nothing, if nothing of the work were left: then it is what the worker meant.
    """
    by_path = {change.path: change for change in attempt.change.files}
    entries: dict[str, Entry | None] = {}
    done: list[Unasked] = []
    for one in attempt.unasked:
        again = one.then == "left-out" and attempt.reminded is not None and one.path in by_path
        if one.right:
            entries |= {path: _stored(attempt, held) for path, held in one.right.items()}
        elif again:
            entries[one.path] = _before(by_path[one.path])
        if one.right or again:
            done.append(one)
    if not done:
        return (), {}
    plumbing, main = attempt.plumbing, attempt.order.main
    tree = plumbing.tree_with(attempt.snapshot.candidate_tree, entries)
    return (tuple(done), entries) if tree != plumbing.tree(main) else ((), {})


def _before(change: FileChange) -> Entry | None:
    return None if change.old_mode == ABSENT else (change.old_mode, change.old_oid)


def _stored(attempt: Judging, held: Held | None) -> Entry | None:
    if held is None:
        return None
    mode, data = held
    return mode, data.decode() if mode == LINK_MODE else store_text(attempt.plumbing, data)


def doubts_of(attempt: Judging) -> tuple[str, ...]:
    """Return what a person has to say yes to before the work lands."""
    asked = (one for one in attempt.unasked if one.then != "tell")
    return tuple(f"{UNASKED}: {told(one)}" for one in asked)[:_SHOWN_MAX]


def told(one: Unasked) -> str:
    lines = some(tuple(one_line(line, _LINE_CHARS_MAX) for line in one.lines), _SHOWN_MAX)
    return f"{decoded(one.path)}: {one.what}{f' ({lines})' if lines else ''}"
