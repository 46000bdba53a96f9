"""Workspaces: a folder outside the repository, and beside it a private git dir that no agent can write (law 4).

The private git dir ("hub") holds index and configuration; objects go straight into the repository. An agent's
slot also gets a throw-away `.git` of its own, so that `git diff` and `git log` work there; nothing in it is ever
read by noface's git.
"""

import os
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from noface.errors import GitError
from noface.git.command import Git, failed
from noface.git.repo import Repository, scratch_branch
from noface.system.files import write_atomic

_ATTRIBUTES = "* !filter !working-tree-encoding\n"
_AGENT_DEBRIS = ".aider*\n"


@dataclass(frozen=True, slots=True)
class Slot:
    """One workspace: `path` is the folder, `hub` its private git dir, `keep` what survives cleaning."""

    repository: Repository
    name: str
    path: Path
    hub: Path
    keep: tuple[str, ...] = ()

    def git(self) -> Git:
        """Return the sealed git of this slot."""
        return Git.sealed(
            str(self.hub),
            work_tree=str(self.path),
            objects=str(self.repository.objects),
            identity=self.repository.identity,
        )

    @property
    def setup_stamp(self) -> Path:
        """The file that remembers for which inputs `[project] setup` ran here."""
        return self.hub / "setup-stamp"


def open_slot(repository: Repository, folder: Path, name: str, keep: tuple[str, ...]) -> Slot:
    """Make the slot's folder and hub where they are missing; both survive between attempts."""
    slot = Slot(repository, name, folder / name, repository.state_dir / "hubs" / name, keep)
    slot.path.mkdir(parents=True, exist_ok=True)
    (slot.hub / "refs").mkdir(parents=True, exist_ok=True)
    (slot.hub / "info").mkdir(exist_ok=True)
    _write(slot.hub / "HEAD", "ref: refs/heads/none\n")
    _write(slot.hub / "config", _config(repository, bare=False))
    _write(slot.hub / "info" / "attributes", _ATTRIBUTES)
    kept = "".join(f"/{path.strip('/')}\n" for path in keep)
    _write(slot.hub / "info" / "exclude", repository.excludes + "\n" + _AGENT_DEBRIS + kept)
    _copy_shallow(repository, slot.hub)
    return slot


def checkout(slot: Slot, tree: str) -> None:
    """Make the folder hold exactly `tree` and, of the rest, only what is kept. Repeatable after any crash."""
    if slot.path.is_symlink() or not slot.path.is_dir():
        _remove(slot.path)
        slot.path.mkdir(parents=True)
    _remove(slot.path / ".git")
    (slot.hub / "index.lock").unlink(missing_ok=True)  # only the holder of the repository's lock comes here
    try:
        _read_and_clean(slot, tree)
    except GitError:
        # Whatever is wrong (permissions taken away, a damaged index, an odd file): an empty folder mends it.
        _empty(slot)
        _read_and_clean(slot, tree)


def give_git(slot: Slot, issue_id: str, commit: str) -> None:
    """Give the agent a `.git` of its own at `commit`, on the issue's branch: alternates, no remote, no hooks."""
    git_dir = slot.path / ".git"
    branch = scratch_branch(issue_id)
    (git_dir / "objects" / "info").mkdir(parents=True)
    (git_dir / branch).parent.mkdir(parents=True)
    (git_dir / "info").mkdir()
    who = slot.repository.identity
    config = _config(slot.repository, bare=False)
    config += f"[user]\n\tname = {_quoted(who.name)}\n\temail = {_quoted(who.email)}\n"
    _write(git_dir / "HEAD", f"ref: {branch}\n")
    _write(git_dir / branch, f"{commit}\n")
    _write(git_dir / "config", config)
    _write(git_dir / "objects" / "info" / "alternates", f"{slot.repository.objects}\n")
    shutil.copyfile(slot.hub / "info" / "exclude", git_dir / "info" / "exclude")
    shutil.copyfile(slot.hub / "index", git_dir / "index")
    _copy_shallow(slot.repository, git_dir)


def discard(slot: Slot) -> None:
    """Remove the folder and the hub. The caller has made sure that nothing in them is needed."""
    _remove(slot.path)
    _remove(slot.hub)


def _read_and_clean(slot: Slot, tree: str) -> None:
    git = slot.git()
    git.ask("read-tree", "-u", "--reset", tree)
    kept = [part for path in slot.keep for part in ("-e", f"/{path.strip('/')}")]
    output = git.run("clean", "-ffdxq", *kept)
    if output.code != 0:
        raise failed(("clean",), output)


def _empty(slot: Slot) -> None:
    _remove(slot.path)
    slot.path.mkdir(parents=True)
    for name in ("index", "index.lock", "setup-stamp"):
        (slot.hub / name).unlink(missing_ok=True)


def _remove(path: Path) -> None:
    """Remove a file or folder, also where an agent has taken the permissions away."""

    def allow(function: object, name: str, _error: object) -> None:
        os.chmod(os.path.dirname(name), stat.S_IRWXU)  # noqa: PTH101, PTH120 - rmtree hands over a plain string
        if not os.path.islink(name):  # noqa: PTH114 - as above
            os.chmod(name, stat.S_IRWXU)  # noqa: PTH101 - as above
        if callable(function):
            function(name)

    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path, onerror=allow)
    elif path.exists():
        path.unlink()


def _config(repository: Repository, *, bare: bool) -> str:
    sha1 = repository.object_format == "sha1"
    text = f"[core]\n\trepositoryformatversion = {0 if sha1 else 1}\n\tfilemode = true\n\tbare = {str(bare).lower()}\n"
    text += "[gc]\n\tauto = 0\n"
    return text if sha1 else text + f"[extensions]\n\tobjectformat = {repository.object_format}\n"


def _quoted(text: str) -> str:
    flat = text.replace("\n", " ").replace("\\", "\\\\")
    return '"' + flat.replace('"', '\\"') + '"'


def _copy_shallow(repository: Repository, git_dir: Path) -> None:
    if repository.shallow:
        shutil.copyfile(repository.common_dir / "shallow", git_dir / "shallow")


def _write(path: Path, text: str) -> None:
    try:
        if path.read_text() == text:
            return
    except OSError:
        pass
    write_atomic(path, text, durable=False)
