"""Puts files of a tree back to what they are elsewhere, in the object store alone."""

from collections.abc import Iterable, Sequence

from noface.core.attempt import FileChange
from noface.core.protection import Protection
from noface.git.command import Git
from noface.git.edited import Entry, edited, with_entries
from noface.git.plumbing import Plumbing

_ABSENT = "000000"


def restored(git: Git, changes: Sequence[FileChange]) -> str:
    """Take `changes`, of which there is one at least, back in the index that `git` works with; return its tree."""
    return with_entries(git, as_before(changes), len(changes[0].new_oid))


def as_before(changes: Iterable[FileChange]) -> dict[str, Entry | None]:
    """Return the entries by which a tree loses these changes."""
    return {c.path: None if c.old_mode == _ABSENT else (c.old_mode, c.old_oid) for c in changes}


def with_files_of(plumbing: Plumbing, main: str, commit: str, protection: Protection) -> str:
    """Return `commit`, or a commit on top of it, in which the protected files are those of `main`."""
    changes = tuple(c for c in plumbing.diff(main, commit).changes if protection.covers(c.path, c.new_mode))
    if not changes:
        return commit
    tree = edited(plumbing, commit, as_before(changes))
    return plumbing.commit_tree(tree, (commit,), "Take protected files from main\n")
