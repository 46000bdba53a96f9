"""What gates leave in their slot: told apart from what was there before, and taken back.

Content is not read; what the file system says of a file tells whether it was written. ctime cannot be set back.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from noface.git.removal import remove_below
from noface.git.workspace import Slot, in_use

Files = Mapping[str, tuple[int, ...]]
"""What was in a slot, but for its `.git` and the kept paths, by path relative to it."""


def files_in(slot: Slot) -> Files:
    """Return what lies in the slot now. Folders count by their mode, links by themselves."""
    top = os.fspath(slot.path)
    beside = {f"{top}/.git", *(f"{top}/{path.strip('/')}" for path in slot.keep)}
    found: dict[str, tuple[int, ...]] = {}
    pending = [top]
    while pending:
        folder = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            found[os.path.relpath(folder, top)] = ()  # closed, or gone meanwhile: it is not as it was
            continue
        for entry in entries:
            if entry.path in beside:
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                found[entry.path[len(top) + 1 :]] = (status.st_mode,)
                pending.append(entry.path)
                continue
            found[entry.path[len(top) + 1 :]] = (
                status.st_mode,
                status.st_ino,
                status.st_size,
                status.st_mtime_ns,
                status.st_ctime_ns,
            )
    return found


def changed(before: Files, now: Files) -> frozenset[str]:
    """Return the paths of `before` that are other, or gone, now."""
    return frozenset(path for path, entry in before.items() if now.get(path) != entry)


def remove_new(slot: Slot, before: Files, now: Files) -> None:
    """Remove what is there now and was not before."""
    new = now.keys() - before.keys()
    for path in new:
        if str(Path(path).parent) not in new:
            remove_below(slot.path, path)


def restore_tracked(slot: Slot, tree: str, paths: Iterable[str]) -> None:
    """Give these files of `tree` back as they are in it; what is not of the tree is left."""
    for path in paths:
        for place in (*reversed([str(parent) for parent in Path(path).parents][:-1]), path):
            here = slot.path / place
            if here.is_symlink() or (place != path and os.path.lexists(here) and not here.is_dir()):
                remove_below(slot.path, place)  # git would take what lies behind a link for the tree's files
                break
        else:
            if (slot.path / path).is_dir():
                remove_below(slot.path, path)
    with in_use(slot) as git:
        git.ask("read-tree", "-u", "--reset", tree)
