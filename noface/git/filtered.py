"""Files that git keeps in another form than a checkout holds: git-lfs, git-crypt, other encodings.

noface's own git runs no filters (law 4). What a workspace begins with is written by the person's git, as it writes
their checkout, and only if it is what main has: no filter runs on what a worker wrote. The index of the workspace then
leaves these files alone. One that a worker changes is taken as it lies there, and refused (`changed_form`), since main
would hold another form of it than of all the others.

The same holds for a submodule (`inner`), with the filters of its own git dir. If git-lfs has not fetched contents,
noface does not fetch them either: there is no workspace before a person has.
"""

import hashlib
import json
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from noface.git.command import Git
from noface.git.plumbing import Plumbing, write_entries
from noface.git.private_git_dir import passing_git_dir
from noface.git.repository import Repository
from noface.git.submodules import Submodule
from noface.model.attempt import FileChange
from noface.process.files import read_regular, write_atomic

_RECORD_BYTES_MAX = 64 << 20
_ATTRIBUTES_BYTES_MAX = 1 << 20
_POINTER = b"version https://git-lfs.github.com/spec/"
"""So begins what git-lfs keeps in the place of contents."""
_WORDS_MAX = 300
_SAMPLES = 3
_PLAIN = frozenset({"unspecified", "unset", "set", ""})
_UTF8 = frozenset({"utf-8", "utf8"})


@dataclass(frozen=True, slots=True)
class Filtered:
    """A file of a tree that git keeps in another form; `by` is the filter or the encoding.

    `configured`: this machine has the filter, so the person's checkout holds what it makes of the file.
    """

    path: str
    oid: str
    by: str
    configured: bool


@lru_cache(maxsize=64)
def filtered(plumbing: Plumbing, commit: str, inner: Submodule | None = None) -> tuple[Filtered, ...]:
    if inner is None and not _are_mentioned(plumbing, commit):
        return ()
    with _index_of(plumbing.repository, commit, inner) as (own, persons):
        return tuple(_kept_otherwise(persons, _files(own)))


def unfetched(plumbing: Plumbing, commit: str, inner: Submodule | None = None) -> tuple[str, ...]:
    """Return the files of a commit in whose place the checkout holds what git-lfs keeps of them."""
    root, files = (
        plumbing.repository.root / (inner.path if inner is not None else ""),
        filtered(plumbing, commit, inner),
    )
    return tuple(one.path for one in files if one.configured and _is_pointer(root, one.path))


def changed_form(plumbing: Plumbing, main: str, changes: Iterable[FileChange]) -> tuple[Filtered, ...]:
    """Return the changed files that git would keep in another form than they have, unless main has them so."""
    files = {change.path: (change.new_mode, change.new_oid) for change in changes if change.new_mode.startswith("100")}
    spoken = any(path.endswith(".gitattributes") for path in files)
    if not files or not (spoken or _are_mentioned(plumbing, main)):
        return ()
    known = {one.oid for one in filtered(plumbing, main)}
    with _index_of(plumbing.repository, main, None) as (own, persons):
        write_entries(own, files, plumbing.repository.null_id)
        otherwise = tuple(_kept_otherwise(persons, {path: oid for path, (_, oid) in files.items() if oid not in known}))
    return tuple(one for one in otherwise if one.configured and _changes_form(plumbing, main, one.by))


@lru_cache(maxsize=64)
def _changes_form(plumbing: Plumbing, main: str, by: str) -> bool:
    """True if a checkout holds something else than main keeps; some filters only take things out."""
    samples = [one for one in filtered(plumbing, main) if one.by == by][:_SAMPLES]
    persons = Git.user(str(plumbing.repository.root))
    for one in samples:
        smudged = persons.run("cat-file", "--filters", f"--path={one.path}", one.oid)
        if smudged.code != 0 or smudged.stdout != plumbing.git.run("cat-file", "blob", one.oid).stdout:
            return True
    return not samples


def _persons(repository: Repository, inner: Submodule | None, extra: Mapping[str, str]) -> Git:
    if inner is None:
        return Git.user(str(repository.root), extra=extra)
    git_dir = str(inner.objects.parent)
    return Git.user(git_dir, extra={"GIT_DIR": git_dir, "GIT_WORK_TREE": git_dir, **extra})


@lru_cache(maxsize=64)
def _outside_the_tree(repository: Repository) -> tuple[Path, Path]:
    named = Git.user(str(repository.root)).run("config", "--path", "--get", "core.attributesFile").text
    return repository.common_dir / "info" / "attributes", Path(named or "~/.config/git/attributes").expanduser()


def _are_mentioned(plumbing: Plumbing, commit: str) -> bool:
    """True if anything speaks of a filter: most projects have none, and are asked nothing more."""
    within = tuple(path for path in plumbing.whole(commit).paths if path.endswith(".gitattributes"))
    texts = list(plumbing.texts(commit, within, _ATTRIBUTES_BYTES_MAX).values())
    files = (read_regular(file, _ATTRIBUTES_BYTES_MAX) or b"" for file in _outside_the_tree(plumbing.repository))
    texts += [file.decode("utf-8", "replace") for file in files]
    return any("filter=" in text or "working-tree-encoding=" in text for text in texts)


@contextmanager
def _index_of(repository: Repository, commit: str, inner: Submodule | None) -> Iterator[tuple[Git, Git]]:
    with passing_git_dir(repository) as git_dir:
        objects = repository.object_variables if inner is None else {"GIT_OBJECT_DIRECTORY": str(inner.objects)}
        extra = {"GIT_INDEX_FILE": str(git_dir / "index"), **objects}
        own = Git.sealed(str(git_dir), extra=extra)
        own.ask("read-tree", commit)
        yield own, _persons(repository, inner, extra)


def _files(git: Git) -> dict[str, str]:
    entries = (entry.partition("\t") for entry in git.answer("ls-files", "--stage", "-z").parts)
    return {path: meta.split(" ")[1] for meta, _, path in entries if meta.startswith("100")}


def _kept_otherwise(persons: Git, oids: Mapping[str, str]) -> Iterator[Filtered]:
    asked = ("check-attr", "--cached", "-z", "--stdin", "filter", "working-tree-encoding")
    values = persons.answer(*asked, stdin=_fed(oids)).stdout.decode("utf-8", "surrogateescape").split("\0")
    keys = persons.run("config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(smudge|process)$").parts
    configured = {key.removeprefix("filter.").rpartition(".")[0] for key in keys}
    for path, attribute, value in zip(values[::3], values[1::3], values[2::3], strict=False):
        if value in _PLAIN or (attribute != "filter" and value.lower() in _UTF8):
            continue
        yield Filtered(path, oids[path], value, configured=attribute != "filter" or value in configured)


def write_filtered(
    plumbing: Plumbing, main: str, git: Git, private_git_dir: Path, workspace: Path, inner: Submodule | None = None
) -> str:
    """Give the files of a workspace that are as on `main` the form that a checkout has; return why that failed.

    `git` is the workspace's. Those that an earlier call wrote, and that nobody has changed since, stay. Of a submodule
    (`inner`) `git` and `workspace` are those of its files, and `main` is its commit on main.
    """
    wanted = {one.path: one.oid for one in filtered(plumbing, main, inner) if one.configured}
    if not wanted:
        return ""
    here, file = _files(git), record_of(private_git_dir, inner)
    kept = {
        path: [oid, digest]
        for path, (oid, digest) in _read(file).items()
        if here.get(path) == wanted.get(path) == oid and _digest(workspace / path) == digest
    }
    due = sorted(path for path, oid in wanted.items() if here.get(path) == oid and path not in kept)
    if not due:
        return ""
    if left := set(due).intersection(unfetched(plumbing, main, inner)):
        return f"`git lfs pull` has to fetch {min(left)}, as your checkout lacks it"
    with _index_of(plumbing.repository, main, inner) as (_, persons):
        done = persons.run("checkout-index", "-f", "-q", "-z", "--stdin", f"--prefix={workspace}/", stdin=_fed(due))
    if done.code != 0:
        return f"git cannot write {due[0]} as your checkout holds it: {' '.join(done.stderr.split())[-_WORDS_MAX:]}"
    if skipped := [path for path in due if _is_pointer(workspace, path)]:
        return f"git-lfs leaves out the contents of {skipped[0]}: `git lfs install --force` has it write them"
    written = {path: [wanted[path], _digest(workspace / path)] for path in due}
    write_atomic(file, json.dumps(kept | written).encode(), durable=False)
    # noface's git runs no filter, and would take each of these files for changed.
    git.ask("update-index", "--skip-worktree", "-z", "--stdin", stdin=_fed(due))
    return ""


def _is_pointer(folder: Path, path: str) -> bool:
    return read_regular(folder / path, len(_POINTER)) == _POINTER


def record_of(private_git_dir: Path, inner: Submodule | None = None) -> Path:
    return private_git_dir / "filtered" if inner is None else Path(f"{inner.index(private_git_dir)}.filtered")


def release(git: Git, record_file: Path, workspace: Path, tree: str = "") -> None:
    """Have git look again at the files written so that hold something else by now, or are others in `tree`."""
    record = _read(record_file)
    if not record:
        return
    entries = (entry.partition("\t") for entry in git.answer("ls-tree", "-r", "-z", tree).parts) if tree else ()
    oids = {path: meta.split(" ")[2] for meta, _, path in entries}
    touched = {path for path, (oid, _) in record.items() if tree and oids.get(path) != oid}
    touched |= record.keys() - as_written(record_file, workspace)
    if tracked := touched.intersection(git.answer("ls-files", "-z").parts):
        git.ask("update-index", "--no-skip-worktree", "-z", "--stdin", stdin=_fed(tracked))


def as_written(record_file: Path, workspace: Path) -> set[str]:
    """Return the files written so that hold what they held then."""
    return {path for path, (_, digest) in _read(record_file).items() if _digest(workspace / path) == digest}


def as_kept(private_git_dir: Path, workspace: Path, changes: Iterable[FileChange]) -> dict[str, tuple[str, str]]:
    known = {digest: oid for oid, digest in _read(record_of(private_git_dir)).values()}
    files = [change for change in changes if known and change.new_mode.startswith("100")]
    kept = {change: known.get(_digest(workspace / change.path), change.new_oid) for change in files}
    return {change.path: (change.new_mode, oid) for change, oid in kept.items() if oid != change.new_oid}


def _fed(paths: Iterable[str]) -> str:
    return "".join(f"{path}\0" for path in paths)


def _read(record_file: Path) -> dict[str, list[str]]:
    """Return object and digest of each file; an unreadable record is none, and everything is written anew."""
    try:
        record = json.loads(read_regular(record_file, _RECORD_BYTES_MAX) or "{}")
        return {str(path): [str(oid), str(digest)] for path, (oid, digest) in record.items()}
    except (ValueError, TypeError, AttributeError):
        return {}


def _digest(file: Path) -> str:
    try:
        status = file.lstat()
        known = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
        return _digest_of(file, known) if stat.S_ISREG(status.st_mode) else ""
    except OSError:
        return ""


@lru_cache(maxsize=4096)
def _digest_of(file: Path, _status: tuple[int, ...]) -> str:
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
