"""Files that git keeps in another form than a checkout holds: git-lfs, git-crypt, other encodings.

noface's own git runs no filters (law 4). What a workspace begins with is written by the person's git, as it writes
their checkout, and only if it is what main has: no filter runs on what a worker wrote. The index of the workspace then
leaves these files alone. One that a worker changes is taken as it lies there, and refused (`raw`), since main would
hold another form of it than of all the others.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from noface.git.command import Git
from noface.git.plumbing import write_entries
from noface.git.private_git_dir import make_private_git_dir
from noface.git.repository import Repository
from noface.model.attempt import FileChange
from noface.process.files import read_regular, write_atomic

RECORD = "filtered"
"""The file of a private git dir that tells which files of its workspace were written so, and how they were then."""
_RECORD_BYTES_MAX = 64 << 20
_ATTRIBUTES = r"(^|[[:space:]])(filter|working-tree-encoding)="
_WORDS_MAX = 300
_FACTS = 3
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


@lru_cache(maxsize=16)
def filtered(repository: Repository, commit: str) -> tuple[Filtered, ...]:
    """Return the files of a commit that git keeps in another form."""
    if not _mentioned(repository, commit):
        return ()
    with _index_of(repository, commit) as (own, persons):
        entries = (entry.partition("\t") for entry in own.answer("ls-files", "--stage", "-z").parts)
        oids = {path: meta.split(" ")[1] for meta, _, path in entries if meta.startswith("100")}
        return tuple(_kept_otherwise(persons, oids))


def raw(repository: Repository, main: str, changes: Iterable[FileChange]) -> tuple[Filtered, ...]:
    """Return the changed files that git would keep in another form than they have, unless main has them so."""
    files = {change.path: (change.new_mode, change.new_oid) for change in changes if change.new_mode.startswith("100")}
    spoken = any(path.endswith(".gitattributes") for path in files) or _mentioned(repository, main)
    if not files or not spoken:
        return ()
    known = {one.oid for one in filtered(repository, main)}
    with _index_of(repository, main) as (own, persons):
        write_entries(own, files, repository.null_id)
        found = tuple(_kept_otherwise(persons, {path: oid for path, (_, oid) in files.items() if oid not in known}))
    return tuple(one for one in found if one.configured and _changes_form(repository, main, one.by))


@lru_cache(maxsize=64)
def _changes_form(repository: Repository, main: str, by: str) -> bool:
    """Tell whether a checkout holds something else than main keeps; some filters only take things out."""
    samples = [one for one in filtered(repository, main) if one.by == by][:_SAMPLES]
    persons = Git.user(str(repository.root))
    for one in samples:
        shown = persons.run("cat-file", "--filters", f"--path={one.path}", one.oid)
        if shown.code != 0 or shown.stdout != repository.git().run("cat-file", "blob", one.oid).stdout:
            return True
    return not samples


def _mentioned(repository: Repository, commit: str) -> bool:
    """Tell whether anything speaks of a filter: most projects have none, and are asked nothing more."""
    places = (":(top,glob)**/.gitattributes", ":(top).gitattributes")
    if repository.git().run("grep", "-q", "-E", _ATTRIBUTES, commit, "--", *places).code == 0:
        return True
    named = Git.user(str(repository.root)).run("config", "--path", "--get", "core.attributesFile").text
    files = (repository.common_dir / "info" / "attributes", Path(named or "~/.config/git/attributes").expanduser())
    return any(b"filter=" in (read_regular(file, _RECORD_BYTES_MAX) or b"") for file in files)


@contextmanager
def _index_of(repository: Repository, commit: str) -> Iterator[tuple[Git, Git]]:
    """Yield noface's git and the person's, both with an index that holds the commit."""
    git_dir = make_private_git_dir(repository, repository.private_git_dirs / "merge")
    index = git_dir / f"index-{os.urandom(8).hex()}"
    extra = {"GIT_INDEX_FILE": str(index)}
    own = Git.sealed(str(git_dir), objects=str(repository.objects), extra=extra)
    try:
        own.ask("read-tree", commit)
        yield own, Git.user(str(repository.root), extra=extra)
    finally:
        index.unlink(missing_ok=True)


def _kept_otherwise(persons: Git, oids: Mapping[str, str]) -> Iterator[Filtered]:
    feed = "".join(f"{path}\0" for path in oids)
    fields = persons.answer("check-attr", "--cached", "-z", "--stdin", "filter", "working-tree-encoding", stdin=feed)
    values = fields.stdout.decode("utf-8", "surrogateescape").split("\0")
    drivers = persons.run("config", "-z", "--get-regexp", r"^filter\..*\.(smudge|process)$").parts
    configured = {each.partition("\n")[0].removeprefix("filter.").rpartition(".")[0] for each in drivers}
    for path, attribute, value in zip(values[::3], values[1::3], values[2::3], strict=False):
        if value in _PLAIN or (attribute != "filter" and value.lower() in _UTF8):
            continue
        yield Filtered(path, oids[path], value, configured=attribute != "filter" or value in configured)


def write_filtered(repository: Repository, main: str, git: Git, private_git_dir: Path, workspace: Path) -> str:
    """Give the files of a workspace that are as on `main` the form that a checkout has; return why that failed.

    `git` is the workspace's. Those that an earlier call wrote, and that nobody has touched since, stay.
    """
    wanted = {one.path: one.oid for one in filtered(repository, main) if one.configured}
    if not wanted:
        return ""
    entries = (entry.partition("\t") for entry in git.answer("ls-files", "--stage", "-z").parts)
    here = {path for meta, _, path in entries if wanted.get(path) == meta.split(" ")[1]}
    record = _read(private_git_dir)
    due = sorted(path for path in here if not _is_untouched(workspace, path, record, wanted[path]))
    if not due:
        return ""
    feed = "".join(f"{path}\0" for path in due)
    with _index_of(repository, main) as (_, persons):
        done = persons.run("checkout-index", "-f", "-q", "-z", "--stdin", f"--prefix={workspace}/", stdin=feed)
    if done.code != 0:
        return f"git cannot write {due[0]} as your checkout holds it: {' '.join(done.stderr.split())[-_WORDS_MAX:]}"
    written = {path: _facts(workspace / path, wanted[path]) for path in due}
    kept = {path: facts for path, facts in record.items() if path in here}
    write_atomic(private_git_dir / RECORD, json.dumps({**kept, **written}).encode(), durable=False)
    git.ask("update-index", "--skip-worktree", "-z", "--stdin", stdin=feed)
    return ""


def release(git: Git, private_git_dir: Path, workspace: Path, tree: str) -> None:
    """Have git look again at the files written so that a worker has touched, or that are others in `tree`."""
    record = _read(private_git_dir)
    if not record:
        return
    entries = (entry.partition("\t") for entry in git.answer("ls-tree", "-r", "-z", tree).parts)
    oids = {path: meta.split(" ")[2] for meta, _, path in entries}
    touched = {path for path in record if not _is_untouched(workspace, path, record, oids.get(path))}
    _look_again(git, touched)
    left = {path: facts for path, facts in record.items() if path not in touched}
    write_atomic(private_git_dir / RECORD, json.dumps(left).encode(), durable=False)


def release_changed(git: Git, private_git_dir: Path, workspace: Path) -> None:
    """Have git look again at the files written so that hold something else by now, or are gone."""
    record = _read(private_git_dir)
    _look_again(git, {path for path in record if _digest(workspace / path) != record[path][-1]})


def _look_again(git: Git, paths: set[str]) -> None:
    if not paths:
        return
    tracked = paths.intersection(git.answer("ls-files", "-z").parts)
    git.ask("update-index", "--no-skip-worktree", "-z", "--stdin", stdin="".join(f"{path}\0" for path in tracked))


def as_kept(private_git_dir: Path, workspace: Path, changes: Iterable[FileChange]) -> dict[str, tuple[str, str]]:
    """Return mode and object of the changed files that hold what was written so, under whatever name they lie there."""
    known = {digest: oid for oid, _, digest in _read(private_git_dir).values()}
    files = [change for change in changes if known and change.new_mode.startswith("100")]
    digests = {change.path: _digest(workspace / change.path) for change in files}
    return {
        change.path: (change.new_mode, known[digests[change.path]])
        for change in files
        if known.get(digests[change.path], change.new_oid) != change.new_oid
    }


def _read(private_git_dir: Path) -> dict[str, list[str]]:
    """Return the record; an unreadable one is none, and everything is written anew."""
    text = read_regular(private_git_dir / RECORD, _RECORD_BYTES_MAX)
    try:
        record = json.loads(text or "{}")
        return {str(path): [str(fact) for fact in facts] for path, facts in record.items() if len(facts) == _FACTS}
    except (ValueError, TypeError, AttributeError):
        return {}


def _is_untouched(workspace: Path, path: str, record: Mapping[str, list[str]], oid: str | None) -> bool:
    return path in record and record[path][0] == oid and record[path][1] == _stat(workspace / path)


def _facts(file: Path, oid: str) -> list[str]:
    return [oid, _stat(file), _digest(file)]


def _stat(file: Path) -> str:
    try:
        status = file.lstat()
    except OSError:
        return ""
    return f"{status.st_mode} {status.st_ino} {status.st_size} {status.st_mtime_ns} {status.st_ctime_ns}"


def _digest(file: Path) -> str:
    """Return a digest of a file's content; "" where it is no ordinary file that can be read."""
    try:
        if file.is_symlink() or not file.is_file():
            return ""
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""
