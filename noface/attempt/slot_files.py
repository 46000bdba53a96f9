"""What lies in a gate slot: what the next gate may rely on, and what the last one left. ctime cannot be set back."""

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

from noface.attempt.prepare import kept_digest
from noface.git.plumbing import Plumbing
from noface.git.removal import remove_below
from noface.git.workspace import Slot, in_use
from noface.process.files import HeldFolder

Files = Mapping[str, tuple[int, ...]]
"""The entries of a slot by relative path, without its `.git` and the kept paths."""


def files_in(slot: Slot) -> Files:
    """Return what lies in the slot now. Of a folder only the mode counts; links are not followed."""
    top = os.fspath(slot.path)
    beside = {".git", *(path.strip("/") for path in slot.keep)}
    files: dict[str, tuple[int, ...]] = {}
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            # By its descriptor: else each file is looked up from the root of the file system, for a third of the time.
            opened = os.open(f"{top}/{prefix}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            files[prefix.rstrip("/") or "."] = ()  # closed, or gone meanwhile: it is not as it was
            continue
        try:
            with os.scandir(opened) as entries:
                pending += _note(files, prefix, (entry for entry in entries if prefix + entry.name not in beside))
        finally:
            os.close(opened)
    return files


def _note(files: dict[str, tuple[int, ...]], prefix: str, entries: Iterable[os.DirEntry[str]]) -> list[str]:
    folders = []
    for entry in entries:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        mode, name = status.st_mode, prefix + entry.name
        if stat.S_ISDIR(mode):
            files[name] = (mode,)
            folders.append(f"{name}/")
        else:
            files[name] = (mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return folders


class SlotFiles:
    """The files of a slot in which `tree` was made ready: those that a gate starts with, and those that it `left`."""

    def __init__(self, slot: Slot, plumbing: Plumbing, tree: str) -> None:
        self._slot, self._plumbing, self._tree = slot, plumbing, tree
        self.rely_on_all()

    def rely_on_all(self) -> None:
        self._folder = HeldFolder(self._slot.path)
        self._files = self.left = files_in(self._slot)
        self._kept = kept_digest(self._slot.path / path for path in self._slot.keep)
        self._keeps = tuple(path for path in self._slot.keep if os.path.lexists(self._slot.path / path))

    def look(self) -> None:
        self.left = files_in(self._slot)

    @property
    def changed(self) -> frozenset[str]:
        return frozenset(path for path, entry in self._files.items() if self.left.get(path) != entry)

    def _tracked(self, paths: frozenset[str]) -> frozenset[str]:
        return paths & set(self._plumbing.paths(self._tree)) if paths else paths

    def lost(self, *, failed: bool) -> bool:
        """True if the folder, its git or kept paths are gone, or files of the tree under a gate that `failed`."""
        there = all(os.path.lexists(self._slot.path / path) for path in (".git/HEAD", *self._keeps))
        missing = failed and self._tracked(frozenset(self._files.keys() - self.left.keys()))
        return not self._folder.stands() or not there or bool(missing)

    def undo_new(self) -> bool:
        """Remove what is there now and was not before; False if anything else has changed."""
        kept = kept_digest(self._slot.path / path for path in self._slot.keep)
        if self.changed or kept != self._kept:
            return False
        new = self.left.keys() - self._files.keys()
        for path in new:
            if str(Path(path).parent) not in new:
                remove_below(self._slot.path, path)
        return True

    def written(self) -> tuple[str, ...]:
        """Return the tree's files that differ from it; git is asked only if the file system shows a write."""
        if not self._tracked(self.changed):
            return ()
        with in_use(self._slot) as git:
            git.run("update-index", "-q", "--refresh")
            names = git.ask("diff-index", "--name-only", "-z", "--no-renames", self._tree)
        return tuple(path for path in names.split("\0") if path)

    def restore_tracked(self) -> None:
        """Restore the tree's files that a gate has changed; all others stay."""
        slot = self._slot
        for path in sorted(self._tracked(self.changed)):
            for place in (*reversed([str(parent) for parent in Path(path).parents][:-1]), path):
                here = slot.path / place
                if here.is_symlink() or (place != path and os.path.lexists(here) and not here.is_dir()):
                    remove_below(slot.path, place)  # git would take what lies behind a link for the tree's files
                    break
            else:
                if (slot.path / path).is_dir():
                    remove_below(slot.path, path)
        if self.changed:
            with in_use(slot) as git:
                git.ask("read-tree", "-u", "--reset", self._tree)
