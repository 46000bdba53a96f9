"""Files that git keeps in another form than a checkout holds: git-lfs, git-crypt, other encodings.

noface's own git runs no filters (law 4). What a workspace begins with is written by the person's git, as it writes
their checkout, and only if it is what main has: no filter runs on what a worker wrote. The index of the workspace then
leaves these files alone. One that a worker changes is taken as it lies there, and refused (`changed_form`), since main
would hold another form of it than of all the others.

The same holds for a submodule (`inner`), with the filters of its own git dir. What the checkout itself holds as main
keeps it, since its contents were never fetched, stays so in workspaces; contents that came there by another way than
the filter are copied.
"""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from noface.git.command import Git
from noface.git.plumbing import Plumbing, write_entries
from noface.git.private_git_dir import passing_git_dir
from noface.git.repository import Repository, persons_settings
from noface.git.submodules import Submodule
from noface.model.attempt import FileChange
from noface.process.files import is_folder, read_regular, write_atomic

RECORD = "filtered"
"""The file of a private git dir that tells which files of its workspace were written so, and how they were then."""
_RECORD_BYTES_MAX = 64 << 20
_KEPT_BYTES_MAX = 1 << 20
"""What stands on main for contents that lie elsewhere is not larger."""
_ATTRIBUTES = r"(^|[[:space:]])(filter|working-tree-encoding)="
_WORDS_MAX = 300
_FACTS = 3
_SHA1_CHARS = 40
_SAMPLES = 3
_PLAIN = frozenset({"unspecified", "unset", "set", ""})
_UTF8 = frozenset({"utf-8", "utf8"})
_SAME = frozenset({"cat", "cat -"})
"""Commands of filters that only take out: what they write is what main has."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """A file of a tree that git keeps in another form; `by` is the filter or the encoding, `size` what git keeps.

    `configured`: this machine has the filter, so the person's checkout holds what it makes of the file.
    """

    path: str
    oid: str
    by: str
    configured: bool
    size: int = -1


@lru_cache(maxsize=64)
def filtered(plumbing: Plumbing, commit: str, inner: Submodule | None = None) -> tuple[Filtered, ...]:
    """Return the files of a commit, the project's or a submodule's, that git keeps in another form."""
    if not _are_mentioned(plumbing, commit, inner):
        return ()
    repository = plumbing.repository
    with _index_of(repository, commit, inner) as (own, persons):
        entries = (entry.partition("\t") for entry in own.answer("ls-files", "--stage", "-z").parts)
        oids = {path: meta.split(" ")[1] for meta, _, path in entries if meta.startswith("100")}
        files = tuple(_kept_otherwise(persons, oids))
        feed = "".join(f"{one.oid}\n" for one in files)
        sizes = own.answer("cat-file", "--batch-check=%(objectsize)", stdin=feed).text.split() if files else []
    return tuple(replace(one, size=int(size)) for one, size in zip(files, sizes, strict=True))


def left_unfiltered(plumbing: Plumbing, commit: str, inner: Submodule | None = None) -> tuple[Filtered, ...]:
    """Return the files of a commit that this machine has the filter for, and that the checkout holds unfiltered."""
    root = _root(plumbing.repository, inner)
    return tuple(one for one in filtered(plumbing, commit, inner) if one.configured and _is_kept(root, one))


def changed_form(plumbing: Plumbing, main: str, changes: Iterable[FileChange]) -> tuple[Filtered, ...]:
    """Return the changed files that git would keep in another form than they have, unless main has them so."""
    files = {change.path: (change.new_mode, change.new_oid) for change in changes if change.new_mode.startswith("100")}
    spoken = any(path.endswith(".gitattributes") for path in files) or _are_mentioned(plumbing, main, None)
    if not files or not spoken:
        return ()
    known, repository = {one.oid for one in filtered(plumbing, main)}, plumbing.repository
    with _index_of(repository, main) as (own, persons):
        write_entries(own, files, repository.null_id)
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


def _root(repository: Repository, inner: Submodule | None) -> Path:
    """Return where the person's checkout has the files."""
    return repository.root / inner.path if inner is not None else repository.root


def _git_dir(repository: Repository, inner: Submodule | None) -> Path:
    return inner.objects.parent if inner is not None else repository.common_dir


def _objects(repository: Repository, inner: Submodule | None) -> dict[str, str]:
    return repository.object_variables if inner is None else {"GIT_OBJECT_DIRECTORY": str(inner.objects)}


def _person(repository: Repository, inner: Submodule | None, extra: Mapping[str, str] | None = None) -> Git:
    """Return the person's git in the project or in a submodule, which need not be checked out."""
    if inner is None:
        return Git.user(str(repository.root), extra=extra)
    git_dir, root = _git_dir(repository, inner), _root(repository, inner)
    where = str(root if is_folder(root) else git_dir)
    return Git.user(where, extra={"GIT_DIR": str(git_dir), "GIT_WORK_TREE": where, **(extra or {})})


def _are_mentioned(plumbing: Plumbing, commit: str, inner: Submodule | None) -> bool:
    """True if anything speaks of a filter: most projects have none, and are asked nothing more."""
    repository = plumbing.repository
    git_dir = _git_dir(repository, inner)
    if _in_tree(repository, inner, commit if inner is not None else plumbing.same_attributes(commit)):
        return True
    named = {key: value for _, key, value in persons_settings(repository)}.get("core.attributesfile", "")
    if inner is not None or named.startswith("%"):  # its own configuration counts; where git was installed, git tells
        named = _person(repository, inner).run("config", "--path", "--get", "core.attributesFile").text
    files = (git_dir / "info" / "attributes", Path(named or "~/.config/git/attributes").expanduser())
    return any(b"filter=" in (read_regular(file, _RECORD_BYTES_MAX) or b"") for file in files)


@lru_cache(maxsize=64)
def _in_tree(repository: Repository, inner: Submodule | None, commit: str) -> bool:
    own = Git.sealed(str(repository.common_dir), extra=_objects(repository, inner))
    places = (":(top,glob)**/.gitattributes", ":(top).gitattributes")
    return own.run("grep", "-q", "-E", _ATTRIBUTES, commit, "--", *places).code == 0


@contextmanager
def _index_of(repository: Repository, commit: str, inner: Submodule | None = None) -> Iterator[tuple[Git, Git]]:
    """Yield noface's git and the person's, both with an index that holds the commit."""
    with passing_git_dir(repository) as git_dir:
        extra = {"GIT_INDEX_FILE": str(git_dir / "index"), **_objects(repository, inner)}
        own = Git.sealed(str(git_dir), extra=extra)
        own.ask("read-tree", commit)
        yield own, _person(repository, inner, extra)


def _kept_otherwise(persons: Git, oids: Mapping[str, str]) -> Iterator[Filtered]:
    feed = "".join(f"{path}\0" for path in oids)
    fields = persons.answer("check-attr", "--cached", "-z", "--stdin", "filter", "working-tree-encoding", stdin=feed)
    values = fields.stdout.decode("utf-8", "surrogateescape").split("\0")
    drivers = persons.run("config", "-z", "--get-regexp", r"^filter\..*\.(smudge|process)$").parts
    commands: dict[str, set[str]] = {}
    for each in drivers:
        key, _, command = each.partition("\n")
        commands.setdefault(key.removeprefix("filter.").rpartition(".")[0], set()).add(" ".join(command.split()))
    configured = commands.keys()
    for path, attribute, value in zip(values[::3], values[1::3], values[2::3], strict=False):
        if value in _PLAIN or (attribute != "filter" and value.lower() in _UTF8):
            continue
        if attribute == "filter" and value in configured and commands[value] <= _SAME:
            continue
        yield Filtered(path, oids[path], value, configured=attribute != "filter" or value in configured)


def write_filtered(
    plumbing: Plumbing, main: str, git: Git, private_git_dir: Path, workspace: Path, inner: Submodule | None = None
) -> str:
    """Give the files of a workspace that are as on `main` the form that a checkout has; return why that failed.

    `git` is the workspace's. Those that an earlier call wrote, and that nobody has touched since, stay. Of a submodule
    (`inner`) `git` and `workspace` are those of its files, and `main` is its commit on main.
    """
    files = {one.path: one for one in filtered(plumbing, main, inner) if one.configured}
    wanted = {path: one.oid for path, one in files.items()}
    if not wanted:
        return ""
    entries = (entry.partition("\t") for entry in git.answer("ls-files", "--stage", "-z").parts)
    here = {path for meta, _, path in entries if wanted.get(path) == meta.split(" ")[1]}
    here.difference_update(one.path for one in left_unfiltered(plumbing, main, inner))
    file, repository = record_of(private_git_dir, inner), plumbing.repository
    record = _read(file)
    due = sorted(path for path in here if not _is_untouched(workspace, path, record, wanted[path]))
    if not due:
        return ""
    feed = "".join(f"{path}\0" for path in due)
    with _index_of(repository, main, inner) as (_, persons):
        done = persons.run("checkout-index", "-f", "-q", "-z", "--stdin", f"--prefix={workspace}/", stdin=feed)
        if done.code == 0:
            _copy_made(persons, _root(repository, inner), workspace, [files[path] for path in due])
    if done.code != 0:
        return f"git cannot write {due[0]} as your checkout holds it: {' '.join(done.stderr.split())[-_WORDS_MAX:]}"
    written = {path: _facts(workspace / path, wanted[path]) for path in due}
    kept = {path: facts for path, facts in record.items() if path in here}
    write_atomic(file, json.dumps({**kept, **written}).encode(), durable=False)
    # noface's git runs no filter, and would take each of these files for changed.
    git.ask("update-index", "--skip-worktree", "-z", "--stdin", stdin=feed)
    return ""


def _copy_made(persons: Git, root: Path, workspace: Path, files: Iterable[Filtered]) -> None:
    """Copy contents that the filter has left out, and that the checkout has all the same, if git takes it for main's.

    `git lfs pull` brings them if the filter is told to skip, and git-annex does so by itself.
    """
    left = [one for one in files if "\n" not in one.path and _is_kept(workspace, one)]
    there = [one for one in left if (root / one.path).is_file() and not (root / one.path).is_symlink()]
    feed = "".join(f"{one.path}\n" for one in there)
    oids = persons.run("hash-object", "--stdin-paths", stdin=feed).text.split() if there else []
    for one, oid in zip(there, oids, strict=False):
        # The checkout may be changed, or of another branch: its file counts only if git would keep it as main's.
        if oid == one.oid:
            shutil.copyfile(root / one.path, workspace / one.path)


def _is_kept(root: Path, one: Filtered) -> bool:
    """True if a file holds what main keeps of it, of what may stand for contents that lie elsewhere."""
    try:
        if one.size > _KEPT_BYTES_MAX or (root / one.path).lstat().st_size != one.size:
            return False
    except OSError:
        return False
    data = read_regular(root / one.path, one.size + 1) or b""
    # How git names a blob (git hash-object), without a process for each file.
    kind = hashlib.sha1 if len(one.oid) == _SHA1_CHARS else hashlib.sha256
    return kind(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest() == one.oid


def record_of(private_git_dir: Path, inner: Submodule | None = None) -> Path:
    """Return the file that tells which files of a workspace, or of a submodule in it, were written so."""
    return private_git_dir / RECORD if inner is None else Path(f"{inner.index(private_git_dir)}.{RECORD}")


def release(git: Git, record_file: Path, workspace: Path, tree: str) -> None:
    """Have git look again at the files written so that a worker has touched, or that are others in `tree`."""
    record = _read(record_file)
    if not record:
        return
    entries = (entry.partition("\t") for entry in git.answer("ls-tree", "-r", "-z", tree).parts)
    oids = {path: meta.split(" ")[2] for meta, _, path in entries}
    touched = {path for path in record if not _is_untouched(workspace, path, record, oids.get(path))}
    _look_again(git, touched)
    left = {path: facts for path, facts in record.items() if path not in touched}
    write_atomic(record_file, json.dumps(left).encode(), durable=False)


def release_changed(git: Git, private_git_dir: Path, workspace: Path) -> None:
    """Have git look again at the files written so that hold something else by now, or are gone."""
    _look_again(git, _read(record_of(private_git_dir)).keys() - as_written(record_of(private_git_dir), workspace))


def as_written(record_file: Path, workspace: Path) -> set[str]:
    """Return the files written so that hold what they held then."""
    return {path for path, facts in _read(record_file).items() if _digest(workspace / path) == facts[-1]}


def _look_again(git: Git, paths: set[str]) -> None:
    if not paths:
        return
    tracked = paths.intersection(git.answer("ls-files", "-z").parts)
    git.ask("update-index", "--no-skip-worktree", "-z", "--stdin", stdin="".join(f"{path}\0" for path in tracked))


def as_kept(private_git_dir: Path, workspace: Path, changes: Iterable[FileChange]) -> dict[str, tuple[str, str]]:
    """Return mode and object of the changed files that hold what was written so, under whatever name they lie there."""
    known = {digest: oid for oid, _, digest in _read(record_of(private_git_dir)).values()}
    files = [change for change in changes if known and change.new_mode.startswith("100")]
    digests = {change.path: _digest(workspace / change.path) for change in files}
    return {
        change.path: (change.new_mode, known[digests[change.path]])
        for change in files
        if known.get(digests[change.path], change.new_oid) != change.new_oid
    }


def _read(record_file: Path) -> dict[str, list[str]]:
    """Return the record; an unreadable one is none, and everything is written anew."""
    text = read_regular(record_file, _RECORD_BYTES_MAX)
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
    """Return a digest of a file's content; "" if it is no ordinary file that can be read."""
    try:
        if file.is_symlink() or not file.is_file():
            return ""
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return ""
