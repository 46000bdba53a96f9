"""Reads objects: what a name stands for, the contents of files, the difference of two trees, a server's checks.

Names and contents go through one persistent `git cat-file` each (0.1 ms a question against 2-3 ms for a process).
"""

import hashlib
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from noface.errors import GitError
from noface.git.command import Git, GitProcess, end_process, failed
from noface.model.attempt import FileChange

_ANSWER_FIELDS = 3


class BlobReader:
    """Asks one `git cat-file --batch-command`. Used by one thread; `with` ends the process."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: Any = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def size(self, oid: str) -> int | None:
        """Return how many bytes a blob has; None where there is no such blob. Raises GitError where git ended."""
        fields = self._ask(f"info {oid}")
        return int(fields[2]) if len(fields) == _ANSWER_FIELDS and fields[1] == "blob" else None

    def read(self, oid: str, bytes_max: int) -> bytes | None:
        """Return a blob's bytes; None where there is none, or it is larger. Raises GitError where git ended."""
        size = self.size(oid)
        if size is None or size > bytes_max:
            return None
        self._ask(f"contents {oid}")
        data = bytes(self._process.stdout.read(size))
        self._process.stdout.read(1)
        return data

    def chunks(self, oid: str, bytes_each: int) -> Iterator[bytes]:
        """Yield a blob's bytes in pieces of at most `bytes_each`; nothing where there is no such blob.

        Nothing else may be asked before the last piece was taken. Raises GitError where git ended.
        """
        left = self.size(oid)
        if left is None:
            return
        self._ask(f"contents {oid}")
        whole = False
        try:
            while left:
                data = bytes(self._process.stdout.read(min(left, bytes_each)))
                if not data:
                    raise GitError("git cat-file ended in the middle of a blob")
                left -= len(data)
                yield data
            self._process.stdout.read(1)
            whole = True
        finally:
            if not whole:
                self.close()  # what it has yet to say is no answer to the next question

    def close(self) -> None:
        """End the process; a later question starts another."""
        process, self._process = self._process, None
        end_process(process)

    def _ask(self, line: str) -> list[str]:
        """Return the fields of git's answer: id, type, size; or the id and "missing"."""
        if self._process is None:
            self._process = self._git.open("cat-file", "--batch-command")
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
            answer = self._process.stdout.readline().decode("utf-8", "replace").split()
        except OSError:
            answer = []
        if not answer:
            raise GitError("git cat-file ended without an answer")
        return list(answer)


_FIELDS = 3  # id, type, size; anything else is "<name> missing" or "ambiguous"


class Lookup(GitProcess):
    """Answers which object a name stands for now. Safe to share between threads."""

    _command = ("cat-file", "--batch-check")

    def ask(self, name: str) -> str | None:
        """Return the object id that `name` (a ref, an id, with or without a `^{…}`) stands for, or None.

        Raises GitError where git ends without an answer.
        """
        if not name or "\n" in name:
            return None
        with self._lock:
            process = self._running()
            try:
                process.stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
                process.stdin.flush()
                answer = process.stdout.readline()
            except OSError as error:
                answer = b""
                reason = str(error)
            except BaseException:
                self._end()  # its answer, unread, would be taken for that to the next question
                raise
            else:
                reason = "it ended"
            if not answer:
                self._end()
                raise GitError(f"git cat-file gave no answer about {name!r}: {reason}")
        fields = answer.decode("ascii", "replace").split()
        return fields[0] if len(fields) == _FIELDS and fields[2].isdigit() else None

    def __del__(self) -> None:
        self._end()


_RAW_FIELDS = 5


@dataclass(frozen=True, slots=True)
class Diff:
    """The files that differ and the patch as git prints it."""

    changes: tuple[FileChange, ...]
    patch: bytes

    @property
    def hash(self) -> str:
        """A short name for exactly this change; empty where nothing changed."""
        return hashlib.sha256(self.patch).hexdigest()[:16] if self.changes else ""


def parse_diff(output: bytes) -> Diff:
    """Split the output into raw entries, line counts and patch.

    Layout: `:modes oids letter NUL path NUL` for each file, then `added TAB deleted TAB path NUL` for each, then
    NUL and the patch.
    """
    raw: list[tuple[list[str], str]] = []
    position = 0
    while output[position : position + 1] == b":":
        meta_end = output.index(b"\0", position)
        path_end = output.index(b"\0", meta_end + 1)
        raw.append((output[position + 1 : meta_end].decode().split(" "), _path(output[meta_end + 1 : path_end])))
        position = path_end + 1
    counts: dict[str, tuple[int | None, int | None]] = {}
    for _ in raw:
        end = output.index(b"\0", position)
        added, deleted, path = output[position:end].split(b"\t", 2)
        counts[_path(path)] = (_count(added), _count(deleted))
        position = end + 1
    changes = tuple(_change(fields, path, counts.get(path, (None, None))) for fields, path in raw)
    return Diff(changes, output[position + 1 :])


def _change(fields: list[str], path: str, counts: tuple[int | None, int | None]) -> FileChange:
    old_mode, new_mode, old_oid, new_oid, status = fields[:_RAW_FIELDS]
    return FileChange(path, status[0], old_mode, new_mode, old_oid, new_oid, *counts)


def _count(text: bytes) -> int | None:
    return None if text == b"-" else int(text)


def _path(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


_SAID = re.compile(r"^(?:error|warning): object [0-9a-f]{40,64}: (\w+): (.*)$", re.MULTILINE)
_REGULAR = "100644"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The name of git's check that fails, and git's words."""

    check: str
    words: str


def refused(git: Git, name: str, blob: str) -> Refusal | None:
    """Return what git has against a blob under a name that it reads (.gitmodules, .gitattributes); None for nothing.

    It is checked in a pack of its own: nothing else in the repository is looked at, and an older fault hides no new
    one. Raises GitError where git fails otherwise.
    """
    tree = git.ask("mktree", stdin=f"{_REGULAR} blob {blob}\t{name}\n".encode())
    packed = git.answer("pack-objects", "--stdout", "-q", stdin=f"{tree}\n{blob}\n")
    with tempfile.TemporaryDirectory(prefix="noface-") as folder:
        pack = Path(folder, "new.pack")
        pack.write_bytes(packed.stdout)
        checking = ("index-pack", "--strict", "-o", str(pack.with_suffix(".idx")), str(pack))
        checked = git.run(*checking)
    if checked.code == 0:
        return None
    said = _SAID.search(checked.stderr)
    if said is None:
        raise failed(checking, checked)
    return Refusal(said[1], said[2])
