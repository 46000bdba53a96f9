"""Workspaces: a folder outside the repository, and a private git dir that no agent can write, with index and settings.

An agent's slot also gets a throw-away `.git`, which noface's git never reads (law 4).
"""

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from noface.errors import GitError
from noface.git.command import Git
from noface.git.filtered import record_of, release, write_filtered
from noface.git.plumbing import Plumbing
from noface.git.private_git_dir import config_text, copy_shallow, make_private_git_dir, quoted, write_text
from noface.git.refs import exclusive_lock, hold_ref, scratch_branch
from noface.git.removal import mount_points, remove, remove_below
from noface.git.repository import Repository
from noface.git.scan_worktree import clear_hazards, names_in
from noface.git.submodules import Submodule, fill, git_of, links_in, submodules
from noface.model.scratch import IN_GIT
from noface.process.files import ordinary_folder

_FETCH = "fetch = +refs/heads/*:refs/remotes/origin/*"


@dataclass(frozen=True, slots=True)
class Slot:
    """One workspace: `path` is the folder, `private_git_dir` noface's own, `keep` what survives cleaning."""

    repository: Repository
    name: str
    path: Path
    private_git_dir: Path
    keep: tuple[str, ...] = ()

    def git(self) -> Git:
        return Git.sealed(
            str(self.private_git_dir),
            work_tree=str(self.path),
            identity=self.repository.identity,
            extra=self.repository.object_variables,
        )

    def tracked(self) -> frozenset[str]:
        return names_in(self.private_git_dir / "index", len(self.repository.null_id) // 2)

    @property
    def setup_stamp(self) -> Path:
        """The file that remembers for which inputs `[project] setup` ran here."""
        return self.private_git_dir / "setup-stamp"

    @property
    def kept_stamp(self) -> Path:
        """The file that remembers what `[project] setup` left in the kept paths of a gate slot."""
        return self.private_git_dir / "kept-stamp"


def open_slot(repository: Repository, folder: Path, name: str, keep: tuple[str, ...]) -> Slot:
    """Make the slot's private git dir, or bring it up to date; it and the folder survive between attempts."""
    slot = Slot(repository, name, slot_path(repository, folder, name), repository.private_git_dirs / name, keep)
    folder.mkdir(parents=True, exist_ok=True)
    ordinary_folder(slot.path.parent)  # a worker may have put something there
    _renew_git_dir(slot)
    return slot


def slot_path(repository: Repository, folder: Path, name: str) -> Path:
    """Return the folder of a workspace: it is called as the project's, which tools take for its name."""
    return folder / name / (repository.root.name or "project")


def _renew_git_dir(slot: Slot) -> None:
    kept = "".join(f"{line}\n" for line in _kept(slot.keep))
    make_private_git_dir(slot.repository, slot.private_git_dir, f"{slot.repository.excludes}\n{kept}")


@contextmanager
def in_use(slot: Slot) -> Iterator[Git]:
    """Yield the slot's git, once no git of an earlier noface works there; mend what that one left. Raises GitError."""
    _renew_git_dir(slot)  # a worker may have written there since
    with exclusive_lock(slot.private_git_dir / "guard") as descriptor:
        (slot.private_git_dir / "index.lock").unlink(missing_ok=True)
        yield replace(slot.git(), inherit=(descriptor,))


def checkout(slot: Slot, tree: str) -> None:
    """Make the folder hold exactly `tree` and what is kept. One past mending is made anew, without that."""
    with in_use(slot) as git:
        ensure_folder(slot)
        try:
            _clean_and_read(slot, git, tree)
        except (GitError, OSError):
            # Whatever is wrong (permissions taken away, a damaged index, an odd file): an empty folder mends it.
            _empty(slot)
            _clean_and_read(slot, git, tree)


def ensure_folder(slot: Slot) -> bool:
    """Make the slot's folder an ordinary one if it is missing or something else; tell whether it was one."""
    if slot.path.is_dir() and not slot.path.is_symlink():
        return True
    remove(slot.path)
    slot.path.mkdir(parents=True)
    return False


def give_git(slot: Slot, issue_id: str, commit: str) -> None:
    """Give a workspace a `.git` at `commit`, on the issue's branch: alternates, tags and `origin`, no hooks."""
    git_dir = slot.path / ".git"
    remove_below(slot.path, ".git")
    branch = scratch_branch(issue_id)
    (git_dir / "objects" / "info").mkdir(parents=True)
    (git_dir / branch).parent.mkdir(parents=True)
    who = slot.repository.identity
    config = config_text(slot.repository) + f"[user]\n\tname = {quoted(who.name)}\n\temail = {quoted(who.email)}\n"
    write_text(git_dir / "HEAD", f"ref: {branch}\n")
    write_text(git_dir / branch, f"{commit}\n")
    write_text(git_dir / "config", config + _origin(slot.repository))
    write_text(git_dir / "packed-refs", _packed_refs(slot.repository, hold_ref(issue_id, "")))
    stores = (slot.repository.own_objects, slot.repository.objects)
    write_text(git_dir / "objects" / "info" / "alternates", "".join(f"{store}\n" for store in stores))
    # With noface's index and excludes an agent's `git status` says what a snapshot would take.
    shutil.copytree(slot.private_git_dir / "info", git_dir / "info")
    shutil.copyfile(slot.private_git_dir / "index", git_dir / "index")
    copy_shallow(slot.repository.common_dir, git_dir)


def _origin(repository: Repository) -> str:
    if not repository.origin:
        return ""
    lines = (f"url = {quoted(repository.origin)}", "pushurl = workspaces-do-not-push", _FETCH)
    return "".join(('[remote "origin"]\n', *(f"\t{line}\n" for line in lines)))


def _packed_refs(repository: Repository, own: str) -> str:
    """Return the tags, what earlier workers' git held, and main as the remote's: gates compare a change with it."""
    main = repository.base or repository.main
    refs = repository.references("refs/tags", main, own)
    refs = {ref: oid for ref, oid in refs.items() if not ref.startswith(own) or ref.startswith(f"{own}{IN_GIT}")}
    names = {main: f"refs/remotes/origin/{repository.main_name}"}
    return "".join(f"{oid} {names.get(ref, ref)}\n" for ref, oid in sorted(refs.items(), key=lambda each: each[1]))


def discard(slot: Slot) -> None:
    """Remove the folder and the private git dir. The caller has made sure that nothing in them is needed."""
    remove(slot.path)
    remove(slot.private_git_dir)


def _clean_and_read(slot: Slot, git: Git, tree: str) -> None:
    """Clean, then read: a link put in a folder's place hides from git that the files below are gone."""
    _refuse_mounts(slot)
    remove_below(slot.path, ".git")
    there = clear_hazards(slot.path, slot.keep)
    release(git, record_of(slot.private_git_dir), slot.path, tree)
    before = links_in(git, slot.private_git_dir / "index")
    gone = before.keys() - {one.path for one in submodules(slot.repository, tree)} if before else ()
    for path in gone:
        remove_below(slot.path, path)  # git takes what is in it for the submodule's, so `clean` would leave it
    kept = [part for line in _kept(slot.keep) for part in ("-e", line)]
    if before or not there <= slot.tracked():
        # Twice -f: once, and git leaves folders alone that hold a repository.
        git.ask("clean", "-ffdxq", *kept)
    git.ask("read-tree", "-u", "--reset", tree)
    for one in submodules_in(slot, git, tree):
        if one.whole:
            inner = git_of(slot.repository, one, slot.private_git_dir, slot.path)
            release(inner, record_of(slot.private_git_dir, one), slot.path / one.path, one.commit)
        within = tuple(path.removeprefix(f"{one.path}/") for path in slot.keep if path.startswith(f"{one.path}/"))
        fill(slot.repository, one, slot.private_git_dir, slot.path, _kept(within))


def write_forms(slot: Slot, plumbing: Plumbing, git: Git, tree: str, main: str) -> str:
    """Give the files of a slot that holds `tree` the form that a checkout of main has; return why that failed."""
    repository, private = slot.repository, slot.private_git_dir
    why = write_filtered(plumbing, main, git, private, slot.path)
    inner = submodules_in(slot, git, tree)
    on_main = {one.path: one for one in (submodules(repository, main) if inner else ()) if one.whole}
    for one in inner:
        known, own = on_main.get(one.path), git_of(repository, one, private, slot.path) if one.whole else None
        if why or known is None or own is None:
            continue
        folder = slot.path / one.path
        why = write_filtered(plumbing, known.commit, own, private, folder, known)
        shutil.copyfile(one.index(private), folder / ".git" / "index")
    return why


def submodules_in(slot: Slot, git: Git, tree: str) -> tuple[Submodule, ...]:
    return submodules(slot.repository, tree) if links_in(git, slot.private_git_dir / "index") else ()


def _refuse_mounts(slot: Slot) -> None:
    kept = tuple(f"{path.strip('/')}/" for path in slot.keep)
    mounted = [place for place in mount_points(slot.path) if not f"{place}/".startswith(kept)]
    if mounted:
        raise GitError(
            f"the workspace {slot.path} cannot be cleaned: something is mounted at {mounted[0]}.",
            "Nothing was removed from the mount. Find it with `findmnt` and unmount it.",
        )


def _empty(slot: Slot) -> None:
    remove(slot.path)
    slot.path.mkdir(parents=True)
    for name in ("index", "index.lock", "setup-stamp", "kept-stamp"):
        remove(slot.private_git_dir / name)
    remove(record_of(slot.private_git_dir))
    for index in slot.private_git_dir.glob("sub-*"):
        remove(index)


def _kept(keep: tuple[str, ...]) -> tuple[str, ...]:
    return tuple("/" + re.sub(r"([\\*?\[ ])", r"\\\1", path.strip("/")) for path in keep)
