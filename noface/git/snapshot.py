"""Turns what a worker left in its slot into commits (law 2), and puts protected paths back to main's (law 11)."""

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from noface.core.attempt import FileChange, Snapshot
from noface.core.protection import Protection
from noface.errors import GitError
from noface.git.command import Git, failed
from noface.git.look_over import Findings, look_over, shown
from noface.git.plumbing import Plumbing
from noface.git.removal import remove
from noface.git.restore import restored
from noface.git.slots import Slot, ensure_folder, in_use

_GITLINK = "160000"
_NOTES_MAX = 20
_FROM_STDIN = ("--pathspec-from-file=-", "--pathspec-file-nul")
_DEBRIS = (":(exclude,top,glob)**/.aider*", ":(exclude,top,glob)**/.aider*/**")


@dataclass(frozen=True, slots=True)
class Limits:
    """What a workspace may hold: bytes of one file, number of files."""

    file_bytes_max: int
    files_max: int


@dataclass(frozen=True, slots=True)
class Taken:
    """A snapshot, the patch against main for people and prompts, and whether the worker changed anything.

    `undone` is the patch of what was taken back in protected files.
    """

    snapshot: Snapshot
    patch: bytes
    patch_hash: str
    changed: bool
    undone: bytes = b""


@dataclass(frozen=True, slots=True)
class _Added:
    """What git said of the files it could not add, and how many new ones were too many to be added."""

    notes: list[str]
    left_out: int


def take(
    plumbing: Plumbing,
    slot: Slot,
    *,
    start: str,
    main: str,
    message: str,
    protection: Protection,
    limits: Limits,
) -> Taken:
    """Commit the slot's files on top of `start`.

    `main` is what protected paths are restored from and the diff is taken against; what was undone comes back as a
    patch. The caller has ended every process of the attempt. Raises GitError where git itself fails.
    """
    with in_use(slot) as git:
        notes = [] if ensure_folder(slot) else ["the workspace folder itself was removed or replaced"]
        findings = look_over(slot.path, slot.keep, file_bytes_max=limits.file_bytes_max, files_max=limits.files_max)
        notes += findings.notes
        added = _add_safely(slot, git, findings, limits, start)
        notes += added.notes
        oversized = _left_out(git, findings.oversized) if findings.oversized else ()
        tree = git.ask("write-tree")
        diff = plumbing.diff(main, tree)
        tree, diff_stale = _without_new_gitlinks(git, tree, diff.changes, notes)
        guarded = tuple(c for c in diff.changes if protection.covers(c.path, c.new_mode))
        candidate_tree = restored(git, guarded) if guarded else tree
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
        oversized=oversized,
        notes=tuple(notes[:_NOTES_MAX]),
        left_out=added.left_out,
    )
    changed = bool(diff.changes) if start == main else candidate_tree != plumbing.tree(start)
    undone = plumbing.diff(candidate_tree, tree).patch if guarded else b""
    return Taken(snapshot, diff.patch, diff.hash, changed=changed, undone=undone)


def forget_index(slot: Slot) -> None:
    """Remove the index of a slot's private git dir, so that the next snapshot makes every object of it anew."""
    remove(slot.hub / "index")


def _add_safely(slot: Slot, git: Git, findings: Findings, limits: Limits, start: str) -> _Added:
    """Add the files, on a new index where the present one is missing or damaged: the work must not be lost."""
    if (slot.hub / "index").exists():
        try:
            return _add(git, slot, findings, limits)
        except GitError:
            remove(slot.hub / "index")
    git.ask("read-tree", start)
    return _add(git, slot, findings, limits)


def _add(git: Git, slot: Slot, findings: Findings, limits: Limits) -> _Added:
    """Bring the index up to the files.

    What must stay out is named here once more: an agent's own .gitignore overrides the ignore rules of the hub.
    """
    kept = (path for path in slot.keep if not _beyond_link(slot.path, path))
    left_out = [f":(exclude,top,literal){path.strip('/')}" for path in (*findings.oversized, *findings.mounted, *kept)]
    feed = "\0".join((":/", *_DEBRIS, *left_out)).encode("utf-8", "surrogateescape")
    notes = []
    everything, too_many = "-A", 0
    if findings.too_many:
        new = git.run("ls-files", "--others", "--exclude-standard", "-z").stdout.count(b"\0")
        if new > limits.files_max:
            everything, too_many = "-u", new
            notes = [f"{new} new files, more than {limits.files_max}: only changes of tracked files were taken"]
    output = git.run("add", everything, "--ignore-errors", *_FROM_STDIN, stdin=feed)
    if output.code not in (0, 1):
        raise failed(("add", everything), output)
    if output.code == 1:
        notes += [shown(line) for line in output.stderr.splitlines() if line][:_NOTES_MAX]
    return _Added(notes, too_many)


def _left_out(git: Git, oversized: tuple[str, ...]) -> tuple[str, ...]:
    """Return those of the files above the limit that would be committed otherwise.

    What is ignored would not, and what stands in the index as it is has been there before the worker.
    """
    feed = "".join(f"{path}\0" for path in oversized).encode("utf-8", "surrogateescape")
    ignored = _paths(git.run("check-ignore", "-z", "--stdin", stdin=feed).stdout)
    git.run("update-index", "-q", "--refresh")  # a time that changed is no change
    tracked = _paths(git.run("ls-files", "-z").stdout)
    changed = _paths(git.run("diff-files", "--name-only", "-z", "--no-renames").stdout)
    unchanged = tracked - changed
    return tuple(path for path in oversized if path not in ignored and path not in unchanged)


def _paths(output: bytes) -> set[str]:
    return {path for path in output.decode("utf-8", "surrogateescape").split("\0") if path}


def _beyond_link(top: Path, path: str) -> bool:
    """Tell whether a folder on the way to `path` is a link now: git refuses to hear of what lies behind one."""
    return any((top / parent).is_symlink() for parent in list(PurePosixPath(path.strip("/")).parents)[:-1])


def _without_new_gitlinks(git: Git, tree: str, changes: tuple[FileChange, ...], notes: list[str]) -> tuple[str, bool]:
    """Take links to other repositories back: their content is in no object store noface knows."""
    links = [c for c in changes if c.new_mode == _GITLINK]
    if not links:
        return tree, False
    notes.extend(f"{shown(link.path)}: a link to another repository was undone" for link in links)
    return restored(git, tuple(links)), True
