"""Fills the folders of submodules in a workspace, from the objects of them that are on this machine.

Nothing is fetched, and nothing of a submodule's own configuration is read (law 4): `.gitmodules` and the pointer in the
person's checkout tell where its objects lie. Only the commit that it stands at can be part of a change.
"""

import hashlib
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from noface.errors import GitError
from noface.git.command import Git
from noface.git.locate import git_dir_of
from noface.git.private_git_dir import config_text, copy_shallow, write_text
from noface.git.removal import remove_below
from noface.git.repository import Repository
from noface.git.stored import LINK_MODE
from noface.process.files import is_folder, read_regular

_MODE_IN_INDEX = int(LINK_MODE, 8).to_bytes(4, "big")
_DEPTH_MAX = 8
_HEAD_BYTES_MAX = 4_096
_CONFIG_BYTES_MAX = 1 << 20
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"ref: (refs/heads/[\w./-]+)")
_PATH_KEY, _KEY_START = ".path", "submodule."


@dataclass(frozen=True, slots=True)
class Submodule:
    """One submodule of a tree, at a path relative to the workspace, and the commit that the tree names.

    `git_dir` is where its objects are on this machine, None if it was never fetched. `whole`: the commit is there.
    """

    path: str
    commit: str
    git_dir: Path | None
    whole: bool

    @property
    def objects(self) -> Path:
        if self.git_dir is None:
            raise GitError(f"the submodule {self.path} is not on this machine")
        return self.git_dir / "objects"

    def index(self, private_git_dir: Path) -> Path:
        return private_git_dir / f"sub-{hashlib.sha256(self.path.encode('utf-8', 'surrogateescape')).hexdigest()[:16]}"


def links_in(git: Git, index: Path) -> dict[str, str]:
    """Return the submodules that an index holds, by path, with their commits. Most have none, and git is not asked."""
    try:
        # These bytes may stand there by chance: then git is asked in vain, and nothing worse.
        if _MODE_IN_INDEX not in index.read_bytes():
            return {}
    except OSError:
        return {}
    entries = (entry.partition("\t") for entry in git.run("ls-files", "--stage", "-z").parts)
    return {path: meta.split(" ")[1] for meta, _, path in entries if meta.startswith(f"{LINK_MODE} ")}


def submodules(repository: Repository, tree: str) -> tuple[Submodule, ...]:
    known = _known(repository, tree)
    if not all(one.whole for one in known):
        _known.cache_clear()  # a person may fetch what is missing
    return known


@lru_cache(maxsize=16)
def _known(repository: Repository, tree: str) -> tuple[Submodule, ...]:
    return tuple(_below(repository, tree, repository.common_dir, "", _DEPTH_MAX))


def _below(repository: Repository, tree: str, git_dir: Path, prefix: str, depth: int) -> Iterator[Submodule]:
    git = _reader(repository, git_dir)
    entries = (entry.partition("\t") for entry in git.answer("ls-tree", "-r", "-z", tree).parts)
    links = [(path, meta.split(" ")[2]) for meta, _, path in entries if meta.startswith(f"{LINK_MODE} ")]
    names = _names(git, tree) if links else {}
    for path, commit in links:
        place = f"{prefix}{path}"
        candidates = [git_dir / "modules" / names[path]] if path in names else []
        checked_out = git_dir_of(repository.root / place)
        candidates += [checked_out] if checked_out is not None else []
        here = [each for each in candidates if is_folder(each / "objects")]
        whole = next((each for each in here if holds(repository, each, commit)), None)
        yield Submodule(place, commit, whole or next(iter(here), None), whole is not None)
        if whole is not None and depth > 1:
            yield from _below(repository, commit, whole, f"{place}/", depth - 1)


def _names(git: Git, tree: str) -> dict[str, str]:
    """Return the names of a tree's submodules by path. A name that would lead elsewhere is left out, as git does."""
    listed = git.run("config", "-z", "--blob", f"{tree}:.gitmodules", "--get-regexp", r"^submodule\..*\.path$").parts
    names = {}
    for entry in listed:
        key, _, path = entry.partition("\n")
        name = key.removeprefix(_KEY_START).removesuffix(_PATH_KEY)
        if name and not name.startswith("/") and ".." not in PurePosixPath(name).parts:
            names[path] = name
    return names


def _reader(repository: Repository, git_dir: Path) -> Git:
    if git_dir == repository.common_dir:
        return repository.git()
    return Git.sealed(str(repository.common_dir), objects=str(git_dir / "objects"))


def holds(repository: Repository, git_dir: Path, commit: str) -> bool:
    """True if a commit is among the objects of a submodule, with its files: a partial clone has not all."""
    git = _reader(repository, git_dir)
    if git.run("cat-file", "-e", f"{commit}^{{tree}}").code != 0:
        return False
    if b"promisor" not in (read_regular(git_dir / "config", _CONFIG_BYTES_MAX) or b""):
        return True
    return b"\n?" not in git.run("rev-list", "--objects", "--missing=print", f"{commit}^{{tree}}").stdout


def git_of(repository: Repository, one: Submodule, private_git_dir: Path, workspace: Path) -> Git:
    """Return the sealed git of a submodule's files in a workspace."""
    return Git.sealed(
        str(private_git_dir),
        work_tree=str(workspace / one.path),
        objects=str(one.objects),
        identity=repository.identity,
        extra={"GIT_INDEX_FILE": str(one.index(private_git_dir))},
    )


def fill(repository: Repository, one: Submodule, private_git_dir: Path, workspace: Path, keep: tuple[str, ...]) -> None:
    """Make a submodule's folder hold its commit, if it is here, and what `keep` names, with a throw-away `.git`."""
    folder = workspace / one.path
    if not one.whole or not is_folder(folder):
        remove_below(workspace, one.path)
        folder.mkdir(parents=True)
    if not one.whole:
        return
    git = git_of(repository, one, private_git_dir, workspace)
    git.ask("clean", "-ffdxq", *(part for line in keep for part in ("-e", line)))
    git.ask("read-tree", "-u", "--reset", one.commit)
    _give_git(repository, one, folder, one.index(private_git_dir))


def _give_git(repository: Repository, one: Submodule, folder: Path, index: Path) -> None:
    git_dir = folder / ".git"
    (git_dir / "objects" / "info").mkdir(parents=True)
    (git_dir / "refs").mkdir()
    write_text(git_dir / "HEAD", f"{one.commit}\n")
    write_text(git_dir / "config", config_text(repository))
    write_text(git_dir / "objects" / "info" / "alternates", f"{one.objects}\n")
    shutil.copyfile(index, git_dir / "index")
    copy_shallow(one.objects.parent, git_dir)


def stands_at(folder: Path) -> str:
    """Return the commit that a worker has checked out in a folder, "" if unknown; no git runs there (law 4)."""
    text = _line_of(folder / ".git" / "HEAD")
    branch = _REF.fullmatch(text)
    # A HEAD of an agent's may name any path: one with ".." would have a file outside read.
    commit = _line_of(folder / ".git" / branch[1]) if branch and ".." not in branch[1] else text
    return commit if _COMMIT.fullmatch(commit) else ""


def _line_of(file: Path) -> str:
    return (read_regular(file, _HEAD_BYTES_MAX) or b"").decode("utf-8", "replace").strip()


def changed_files(git: Git, commit: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the tracked files of a submodule's folder that differ from a commit, and the new ones."""
    git.ask("read-tree", commit)
    git.run("update-index", "-q", "--refresh")
    changed = git.run("diff-files", "--name-only", "-z", "--no-renames", "--ignore-submodules=all").parts
    return tuple(changed), tuple(git.run("ls-files", "--others", "--exclude-standard", "-z").parts)


def unasked(inner: Iterable[Submodule], asked: Callable[[str], bool]) -> tuple[Submodule, ...]:
    """Return the submodules that nobody has `asked` to change; an outer one comes first, and asks for those in it."""
    open_ones: tuple[str, ...] = ()
    closed = []
    for one in inner:
        if one.path.startswith(open_ones) or asked(one.path):
            open_ones += (f"{one.path}/",)
        else:
            closed.append(one)
    return tuple(closed)
