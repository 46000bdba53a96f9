"""Finds which changes of protected files are undone (law 11): all but those by which shared fixtures only grow."""

from collections.abc import Iterable

from noface.git.plumbing import Plumbing, entries_before
from noface.integrity.grown import asked_for, growth, may_be_new
from noface.integrity.tampering import is_test_file
from noface.model.attempt import ABSENT, REGULAR, FileChange
from noface.model.protection import Protection

_BYTES_MAX = 1_000_000
PROTECTED = "it is protected"
"""Why a change is undone that no file of shared fixtures only gains."""


def guarded(
    plumbing: Plumbing, main: str, changes: Iterable[FileChange], protection: Protection
) -> dict[FileChange, str]:
    covered = tuple(change for change in changes if protection.covers(change.path, change.new_mode))
    why = {change: _why(plumbing, main, change, protection) for change in covered}
    return {change: reason for change, reason in why.items() if reason}


def with_files_of(plumbing: Plumbing, main: str, commit: str, protection: Protection) -> str:
    """Return `commit`, or a commit on top of it, in which the protected files are those of `main`."""
    changes = guarded(plumbing, main, plumbing.diff(main, commit).changes, protection)
    if not changes:
        return commit
    tree = plumbing.tree_with(commit, entries_before(changes))
    return plumbing.commit_tree(tree, (commit,), "Take protected files from main\n")


def _why(plumbing: Plumbing, main: str, change: FileChange, protection: Protection) -> str:
    in_place = change.old_mode in REGULAR or (change.old_mode == ABSENT and may_be_new(change.path))
    if not in_place or change.new_mode not in REGULAR or not protection.may_grow(change.path):
        return PROTECTED
    with plumbing.blobs() as blobs:
        old, now = (blobs.read(oid, _BYTES_MAX) for oid in (change.old_oid, change.new_oid))
        if now is None or (old is None and change.old_mode != ABSENT):
            return PROTECTED
        grown = growth((old or b"").decode("utf-8", "replace"), now.decode("utf-8", "replace"))
        if isinstance(grown, str):
            return grown
        paths = filter(is_test_file, plumbing.files_with(main, tuple(grown), "*.py"))
        for path, (_, oid) in plumbing.entries(main, tuple(paths)).items():
            if names := asked_for(blobs.text(oid, _BYTES_MAX), grown):
                return f"{path} names `{min(names)}` already"
    return ""
