"""Turns what a worker left in its slot into commits (law 2), and puts protected paths back to main's (law 11)."""

from dataclasses import dataclass

from noface.core.model import FileChange, Snapshot
from noface.core.patterns import matches_any
from noface.git.command import Git, failed
from noface.git.look_over import Findings, look_over
from noface.git.repo import Plumbing
from noface.git.slots import Slot

_GITLINK = "160000"
_ABSENT = "000000"
_NOTES_MAX = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What a workspace may hold: bytes of one file, number of files."""

    file_bytes_max: int
    files_max: int


@dataclass(frozen=True, slots=True)
class Taken:
    """A snapshot, the patch against main for people and prompts, and whether the worker changed anything."""

    snapshot: Snapshot
    patch: bytes
    patch_hash: str
    changed: bool


def take(
    plumbing: Plumbing,
    slot: Slot,
    *,
    start: str,
    main: str,
    message: str,
    protected: tuple[str, ...],
    limits: Limits,
) -> Taken:
    """Commit the slot's files on top of `start`.

    `main` is what protected paths are restored from and the diff is taken against. The caller has ended every
    process of the attempt. Raises GitError where git itself fails.
    """
    findings = look_over(slot.path, slot.keep, file_bytes_max=limits.file_bytes_max, files_max=limits.files_max)
    git = slot.git()
    notes = [*findings.notes, *_add(git, findings)]
    tree = git.ask("write-tree")
    diff = plumbing.diff(main, tree)
    tree, diff_stale = _without_new_gitlinks(git, tree, diff.changes, notes)
    guarded = tuple(c for c in diff.changes if matches_any(c.path, protected))
    candidate_tree = _restored(git, guarded) if guarded else tree
    if guarded or diff_stale:
        diff = plumbing.diff(main, candidate_tree)
    commit = plumbing.commit_tree(tree, (start,), message)
    candidate = commit if candidate_tree == tree else plumbing.commit_tree(candidate_tree, (commit,), message)
    snapshot = Snapshot(
        commit=commit,
        tree=tree,
        candidate=candidate,
        candidate_tree=candidate_tree,
        changes=diff.changes,
        protected_edits=tuple(c.path for c in guarded),
        oversized=findings.oversized,
        notes=tuple(notes[:_NOTES_MAX]),
    )
    changed = bool(diff.changes) if start == main else candidate_tree != plumbing.tree(start)
    return Taken(snapshot, diff.patch, diff.hash, changed=changed)


def _add(git: Git, findings: Findings) -> list[str]:
    if findings.too_many:
        git.ask("add", "-u", "--", ":/")
        return [f"more than {findings.files - 1} files in the workspace: only changes of tracked files were taken"]
    left_out = [f":(exclude,top,literal){path}" for path in findings.oversized]
    output = git.run("add", "-A", "--ignore-errors", "--", ":/", *left_out)
    if output.code not in (0, 1):
        raise failed(("add", "-A"), output)
    return [] if output.code == 0 else [line for line in output.stderr.splitlines() if line][:_NOTES_MAX]


def _without_new_gitlinks(git: Git, tree: str, changes: tuple[FileChange, ...], notes: list[str]) -> tuple[str, bool]:
    """Take links to other repositories back: their content is in no object store noface knows."""
    links = [c for c in changes if c.new_mode == _GITLINK]
    if not links:
        return tree, False
    notes.extend(f"{link.path}: a link to another repository was undone" for link in links)
    return _restored(git, tuple(links)), True


def _restored(git: Git, changes: tuple[FileChange, ...]) -> str:
    lines = []
    for change in changes:
        if change.old_mode == _ABSENT:
            lines.append(f"0 {'0' * len(change.new_oid)}\t{change.path}")
        else:
            lines.append(f"{change.old_mode} {change.old_oid}\t{change.path}")
    feed = "".join(line + "\0" for line in lines).encode("utf-8", "surrogateescape")
    git.ask("update-index", "-z", "--index-info", stdin=feed)
    return git.ask("write-tree")
