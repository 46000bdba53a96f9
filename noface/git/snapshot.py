"""Turns what a worker left in its slot into commits (law 2), and puts protected paths back to main's (law 11)."""

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from noface.errors import GitError
from noface.git.command import Git
from noface.git.filtered import as_kept, as_written, record_of, release
from noface.git.guarded import PROTECTED, guarded
from noface.git.left_in_git import left_in_git
from noface.git.plumbing import Plumbing, entries_before, write_entries
from noface.git.removal import remove, remove_below
from noface.git.scan_worktree import display_path, scan_worktree
from noface.git.set_aside import set_aside
from noface.git.stored import LINK_MODE
from noface.git.submodules import Submodule, changed_files, git_of, holds, links_in, stands_at
from noface.git.workspace import Slot, ensure_folder, in_use, submodules_in
from noface.integrity.not_taken import is_source
from noface.integrity.rubbish import HEAD_BYTES, RubbishRules, rubbish_in
from noface.model.attempt import NotTaken, Snapshot
from noface.model.protection import Protection
from noface.process.files import is_folder

Paths = tuple[str, ...]
_NOTES_MAX = 20
_PLACES_MAX = 5
_NEW = ("--others", "--exclude-standard")
_FROM_STDIN = ("--pathspec-from-file=-", "--pathspec-file-nul")


@dataclass(frozen=True, slots=True)
class SlotLimits:
    """What a workspace may hold: bytes of one file, beyond which none lands, and files; and what is no rubbish."""

    file_bytes_max: int = 50_000_000
    files_max: int = 10_000
    wanted: RubbishRules = field(default_factory=RubbishRules)


@dataclass(frozen=True, slots=True)
class SlotSnapshot:
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
    protection: Protection,
    limits: SlotLimits,
    since: float = 0.0,
    replaced: bool = False,
) -> SlotSnapshot:
    """Commit the slot's files on top of `start`, without rubbish. Of ignored files those newer than `since` are told.

    `main` is what protected paths are restored from and the diff is taken against. `replaced`: the folder is not the
    one the worker began in. The caller has ended every process of the attempt. Raises GitError if git itself fails.
    """
    with in_use(slot) as git:
        lost = _is_lost(slot, plumbing, start, replaced=replaced)
        notes = [] if ensure_folder(slot) else ["the workspace folder itself was removed or replaced"]
        inner = submodules_in(slot, git, start)
        stand = {one.path: stands_at(slot.path / one.path) for one in inner}
        for one in inner:
            # It was read as files above; git would go in, and read settings that an agent wrote (law 4).
            remove_below(slot.path, f"{one.path}/.git")
        scan = scan_worktree(
            slot.path,
            slot.keep,
            file_bytes_max=limits.file_bytes_max,
            tracked=lambda folder: bool(plumbing.entries(start, (folder,))),
        )
        # git complains of excluded paths that it ignores anyway.
        ignored = _ignored(git, scan.apart) if scan.apart else frozenset()
        out = (*scan.oversized, *scan.mounted, *(place for place in scan.apart if place not in ignored))
        extent = (limits.files_max if scan.files > limits.files_max else None, not lost)
        add_notes, left_out, refuses = _add_safely(slot, git, out, extent, start)
        if refuses and not left_out:
            add_notes += _refused(slot, git, out, extent)
        # A dependency with its `.git` is ignored and no place where a worker works; but a linked worktree is nobody's
        # dependency.
        places = tuple(at for at, linked in scan.apart.items() if linked or at not in ignored)
        elsewhere = tuple(map(display_path, places))
        notes += [
            f"{place}: a git repository of its own was left out; it stays in the workspace until the next attempt"
            for place in elsewhere[:_PLACES_MAX]
        ]
        notes += (*scan.notes, *add_notes)
        oversized = _left_out(git, scan.oversized) if scan.oversized else ()
        new = git.run("ls-files", *_NEW, "--directory", "-z").parts[:_PLACES_MAX] if left_out else ()
        if start != main:
            _drop_ignored(git, plumbing, start, main)
        within = tuple(_in_submodules(slot, git, inner, stand))
        tree = git.ask("write-tree")
        diff = plumbing.diff(main, tree)
        if kept := as_kept(slot.private_git_dir, slot.path, diff.changes):
            tree = write_entries(git, kept, plumbing.repository.null_id)
            diff = plumbing.diff(main, tree)
        rules, newer = limits.wanted, None if scan.names <= slot.tracked() else since
        not_taken, aside, suspects, told = set_aside(plumbing, git, slot, start, main, diff, rules, newer, within)
        if aside is not None or told:
            tree = git.ask("write-tree")
            diff = plumbing.diff(main, tree)
        on_main = plumbing.whole(main).paths if oversized else frozenset[str]()
        looks = rubbish_in(oversized, on_main, limits.wanted, head=lambda path: _beginning(slot.path / path))
        big = {path: one.what for path, one in looks.items() if one.proven}  # programs write such by the way
        put_back = guarded(plumbing, main, diff.changes, protection)
        notes += (f"{display_path(c.path)} was put back: {why}" for c, why in put_back.items() if why != PROTECTED)
        null_id = plumbing.repository.null_id
        candidate_tree = write_entries(git, entries_before(put_back), null_id) if put_back else tree
        in_git, problem = _in_git(plumbing, slot, git, (start, tree), places, limits)
        notes += problem
    if put_back:
        diff = plumbing.diff(main, candidate_tree)
    commit = plumbing.commit_tree(tree, (start,), message)
    candidate = commit if candidate_tree == tree else plumbing.commit_tree(candidate_tree, (commit,), message)
    snapshot = Snapshot(
        commit=commit,
        tree=tree,
        candidate=candidate,
        candidate_tree=candidate_tree,
        changes=diff.changes,
        protected_edits=tuple(c.path for c in put_back),
        oversized=tuple(path for path in oversized if path not in big),
        notes=(*told, *(f"not taken: {path}: {what}" for path, what in big.items()), *notes)[:_NOTES_MAX],
        left_out=left_out,
        elsewhere=elsewhere,
        in_git=in_git,
        crowded=tuple(map(display_path, new)),
        not_taken=not_taken,
        aside=aside,
        suspects=suspects,
        lost=lost,
    )
    changed = bool(diff.changes) if start == main else candidate_tree != plumbing.tree(start)
    return SlotSnapshot(snapshot, diff.patch, diff.hash, changed=changed)


def _beginning(file: Path) -> bytes:
    with suppress(OSError), file.open("rb") as opened:
        return opened.read(HEAD_BYTES)
    return b""


def _in_submodules(slot: Slot, git: Git, inner: tuple[Submodule, ...], stand: Mapping[str, str]) -> Iterator[NotTaken]:
    """Yield what a worker changed in submodules; at another commit that is here one comes into the index instead."""
    top = links_in(git, slot.private_git_dir / "index")
    for one in inner:
        if not one.whole or _beyond_link(slot.path, f"{one.path}/_") or not is_folder(slot.path / one.path):
            continue
        commit, head = top.get(one.path, one.commit), stand.get(one.path, "")
        if head not in ("", commit) and one.path in top:
            if holds(slot.repository, one.objects.parent, head):
                write_entries(git, {one.path: (LINK_MODE, head)}, slot.repository.null_id)
                commit = head
            else:
                yield NotTaken(one.path, f"at commit {head[:12]}, which only the workspace has", ignored=True)
        changed, new = changed_files(git_of(slot.repository, one, slot.private_git_dir, slot.path), commit)
        written = as_written(record_of(slot.private_git_dir, one), slot.path / one.path) if changed else set()
        for path in (*(path for path in changed if path not in written), *filter(is_source, new)):
            place = display_path(f"{one.path}/{path}")
            yield NotTaken(
                place, f"in the submodule {display_path(one.path)}, which is another repository", ignored=True
            )


def _in_git(
    plumbing: Plumbing, slot: Slot, git: Git, known: tuple[str, str], places: Paths, limits: SlotLimits
) -> tuple[tuple[tuple[str, str], ...], list[str]]:
    """Return what the git of a slot and the repositories at `places` in it hold beside two `known` trees, and notes."""
    start, trees = known[0], {plumbing.tree(each) for each in known}
    commits, problem = left_in_git(plumbing, slot.path, places, start)
    # A third parent holds the new files of a stash.
    commits = tuple(one for one in commits if plumbing.tree(one[1]) not in trees or plumbing.resolve(f"{one[1]}^3"))
    trees |= {"", *(plumbing.tree(each) for _, each in commits)}
    for place in places[:_PLACES_MAX]:
        if (made := _files_at(slot, git, place, start, limits)) not in trees:
            name = display_path(place)
            commits = ((name, plumbing.commit_tree(made, (start,), f"What lay in {name}\n")), *commits)
    return commits, [f"not all that the worker's own git holds could be kept: {problem}"] if problem else []


def _files_at(slot: Slot, git: Git, place: str, start: str, limits: SlotLimits) -> str:
    """Return a tree of what lies in a folder of a slot that is a repository of its own, "" if git cannot take it."""
    folder, index = replace(slot, path=slot.path / place, keep=()), slot.private_git_dir / "sub-0000000000000000"
    extra = (("GIT_WORK_TREE", str(folder.path)), ("GIT_INDEX_FILE", str(index)))
    inner, out = replace(git, cwd=str(folder.path), environment=(*git.environment, *extra)), list[str]()
    with suppress(OSError, GitError):
        for at, folders, names in os.walk(folder.path):
            here = os.path.relpath(at, folder.path)
            if ".git" in (*folders, *names) and here != ".":
                out.append(here)
                folders.clear()
            big = (name for name in names if Path(at, name).lstat().st_size > limits.file_bytes_max)
            out += (os.path.normpath(f"{here}/{name}") for name in big)
        inner.ask("read-tree", start)
        _add(inner, folder, tuple(out), (limits.files_max, True))
        return inner.ask("write-tree")
    return ""


def forget_index(slot: Slot) -> None:
    remove(slot.private_git_dir / "index")


_Extent = tuple[int | None, bool]
"""What of a workspace is taken: no more than so many new files; true: what is not there was deleted."""


def _is_lost(slot: Slot, plumbing: Plumbing, start: str, *, replaced: bool) -> bool:
    """True if the workspace went away under its worker: the folder was replaced, or its git is gone with most files."""
    if not replaced and os.path.lexists(slot.path / ".git" / "HEAD"):
        return False
    began = plumbing.paths(start)
    gone = sum(not os.path.lexists(slot.path / path) for path in began)
    return gone > (0 if replaced else len(began) // 2)


def _add_safely(slot: Slot, git: Git, out: Paths, extent: _Extent, start: str) -> tuple[list[str], int, bool]:
    """Do what `_add` does, on a new index if the present one is missing or damaged: the work must not be lost."""
    if (slot.private_git_dir / "index").exists():
        try:
            release(git, record_of(slot.private_git_dir), slot.path)
            return _add(git, slot, out, extent)
        except GitError:
            forget_index(slot)
    git.ask("read-tree", start)
    return _add(git, slot, out, extent)


def _add(git: Git, slot: Slot, out: Paths, extent: _Extent) -> tuple[list[str], int, bool]:
    """Bring the index up to the files but those in `out`; of more new files than are to be taken none is added.

    Returns a note if there were too many, how many, and whether git refuses any file. An agent's .gitignore overrides
    noface's, hence `out`.
    """
    kept = (path for path in slot.keep if not _beyond_link(slot.path, path))
    named = [path.strip("/") for path in (*out, *kept)]
    feed = "\0".join((":/", *(f":(exclude,top,literal){path}" for path in named)))
    notes = []
    new_max, gone = extent
    everything, too_many = "-A" if gone else "--ignore-removal", 0
    if new_max is not None:
        # Counted as bytes: there may be millions, and no name is wanted.
        new = git.run("ls-files", *_NEW, "-z").stdout.count(b"\0")
        if new > new_max:
            everything, too_many = "-u", new
            notes = [f"{new} new files, more than {new_max}: only changes of tracked files were taken"]
    added = git.answer("add", everything, "--ignore-errors", *_FROM_STDIN, stdin=feed, codes=(0, 1))
    return notes, too_many, added.code == 1


def _refused(slot: Slot, git: Git, out: Paths, extent: _Extent) -> list[str]:
    """Return notes on the files that git refuses. Raises GitError if git cannot write: that is no fault of a file's."""
    if not _add(git, slot, out, extent)[-1]:
        return []
    names = dict.fromkeys(git.run("ls-files", *_NEW, "--modified", "-z").parts)
    apart = tuple(f"{place.strip('/')}/" for place in (*out, *slot.keep)) or ("\0",)
    left = [path for path in names if not f"{path}/".startswith(apart) and os.path.lexists(slot.path / path)]
    notes = []
    for path in left[:_NOTES_MAX]:
        file, why = slot.path / path, "git takes no file of this name"
        try:
            content = os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes()
            git.ask("hash-object", "-w", "--no-filters", "--stdin", stdin=content)
        except OSError:
            why = "it cannot be read"
        notes.append(f"{display_path(path)}: {why}: it was left out")
    return notes


def _drop_ignored(git: Git, plumbing: Plumbing, start: str, main: str) -> None:
    if git.run("diff-index", "--cached", "--name-only", "-z", start, "--", ":(top,glob)**/.gitignore").parts:
        ignored = git.run("ls-files", "--cached", "--ignored", "--exclude-standard", "-z").parts
        if dropped := set(ignored) - set(plumbing.paths(main)):
            git.ask("update-index", "--force-remove", "-z", "--stdin", stdin="".join(f"{path}\0" for path in dropped))


def _left_out(git: Git, oversized: tuple[str, ...]) -> tuple[str, ...]:
    """Return the files above the limit that would be committed otherwise: they are not ignored, and not as before."""
    ignored = _ignored(git, oversized)
    git.run("update-index", "-q", "--refresh")  # a time that changed is no change
    unchanged = set(git.run("ls-files", "-z").parts) - set(
        git.run("diff-files", "--name-only", "-z", "--no-renames").parts
    )
    return tuple(path for path in oversized if path not in ignored and path not in unchanged)


def _ignored(git: Git, paths: Iterable[str]) -> frozenset[str]:
    return frozenset(git.run("check-ignore", "-z", "--stdin", stdin="".join(f"{path}\0" for path in paths)).parts)


def _beyond_link(top: Path, path: str) -> bool:
    """True if a folder on the way to `path` is a link now: git refuses paths behind one."""
    return any((top / parent).is_symlink() for parent in list(PurePosixPath(path.strip("/")).parents)[:-1])
