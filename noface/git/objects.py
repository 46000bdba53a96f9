"""Reads and writes objects through persistent git processes: 0.1 ms a question against 2-3 ms for a process."""

import hashlib
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from noface.errors import GitError
from noface.git.command import Git, GitProcess, end_process
from noface.model.attempt import FileChange

_SMALL_BYTES_MAX = 1 << 20
_TICK_NS = 100_000_000
_FIELDS = 3  # id, type, size; anything else is "<name> missing" or "ambiguous"


class _ObjectProcess(GitProcess):
    """A git that reads the folder `packs`, and is begun anew if packs went: it would go on reading a deleted one."""

    def __init__(self, git: Git, packs: Path) -> None:
        super().__init__(git)
        self.packs = packs
        self._listed_ns, self._packs_there = 0, frozenset[str]()

    def _running(self) -> Any:
        with suppress(FileNotFoundError):
            changed_ns = self.packs.stat().st_mtime_ns
            if changed_ns != self._listed_ns:
                there = frozenset(file.name for file in self.packs.glob("*.pack"))
                if self._packs_there - there:
                    self._end()
                # Of two changes within a tick of the file system's clock the second leaves no other time.
                settled = time.time_ns() - changed_ns > _TICK_NS
                self._listed_ns, self._packs_there = changed_ns if settled else 0, there
        return super()._running()


class ObjectReader(_ObjectProcess):
    """Asks one `git cat-file --batch-command`; raises GitError if that ends without an answer. Threads may share it."""

    _command = ("cat-file", "--batch-command")

    def resolve(self, name: str) -> str | None:
        # A line end in the name would be a second question, whose answer nobody takes.
        fields = self._info(name) if name and "\n" not in name else ()
        return fields[0] if fields else None

    def kind(self, name: str) -> str:
        return next(iter(self._info(name)[1:]), "")

    def whole(self, oid: str, kind: str) -> bytes:
        """Return the content of an object; raise GitError if there is none of this kind."""
        with self._lock:
            fields = self._answer(f"contents {oid}").split()
            if len(fields) != _FIELDS or not fields[2].isdigit():
                raise GitError(f"the {kind} {oid} is gone.", "Was it pruned while noface was running?")
            size, content = int(fields[2]) + 1, b""
            try:
                content = self._process.stdout.read(size)  # with the line end that git writes behind it
            finally:
                if len(content) != size:
                    self._end()
            if len(content) != size or fields[1] != kind.encode():
                raise GitError(f"{oid} is no {kind} that git can read.")
            return bytes(content[:-1])

    def size(self, oid: str) -> int | None:
        fields = self._info(oid)
        return int(fields[2]) if fields and fields[1] == "blob" else None

    def read(self, oid: str, bytes_max: int) -> bytes | None:
        """Return a blob's bytes, None if there is no such blob or it is larger."""
        size = self.size(oid)
        return None if size is None or size > bytes_max else self.whole(oid, "blob")

    def text(self, oid: str, bytes_max: int, errors: str = "replace") -> str:
        return (self.read(oid, bytes_max) or b"").decode("utf-8", errors)

    def chunks(self, oid: str, bytes_each: int) -> Iterator[bytes]:
        """Yield a blob's bytes in pieces; nothing if there is no such blob. A large one has a process of its own."""
        left = self.size(oid)
        if left is None:
            return
        if left <= _SMALL_BYTES_MAX:
            content = self.whole(oid, "blob")
            yield from (content[at : at + bytes_each] for at in range(0, left, bytes_each))
            return
        process = self._git.open("cat-file", "blob", oid)
        try:
            while data := bytes(process.stdout.read(bytes_each)):
                left -= len(data)
                yield data
            if left:
                raise GitError("git cat-file ended in the middle of a blob")
        finally:
            process.kill()  # it waits for a reader
            end_process(process)

    def _info(self, name: str) -> tuple[str, ...]:
        with self._lock:
            fields = self._answer(f"info {name}").decode("ascii", "replace").split()
        return tuple(fields) if len(fields) == _FIELDS and fields[2].isdigit() else ()

    def _answer(self, line: str) -> bytes:
        """Return the answer of git, which is started once more if somebody ended it."""
        reason = ""
        for _ in range(2):
            process, reason = self._running(), "it ended"
            try:
                process.stdin.write(line.encode("utf-8", "surrogateescape") + b"\n")
                process.stdin.flush()
                if answer := bytes(process.stdout.readline()):
                    return answer
            except OSError as error:
                reason = str(error)
            except BaseException:
                self._end()  # its answer, unread, would be taken for that to the next question
                raise
            self._end()
        raise GitError(f"git cat-file gave no answer to {line!r}: {reason}")


class _ObjectWriter(_ObjectProcess):
    """Writes objects of one kind through one git. Threads may share it."""

    def _written(self, feed: bytes) -> str:
        """Return the id of what git makes of `feed`, or raise GitError. It is asked anew: it misses newer packs."""
        message = ""
        for _ in range(2):
            with self._lock:
                process, oid = self._running(), ""
                try:
                    process.stdin.write(feed)
                    process.stdin.flush()
                    oid = process.stdout.readline().decode("ascii", "replace").strip()
                except OSError:
                    pass  # it died; its last words tell why
                finally:
                    if not oid:
                        with suppress(OSError):
                            process.stdin.close()
                        message = process.stderr.read().decode("utf-8", "replace").strip()
                        self._end()
                if oid:
                    return oid
        raise GitError(f"git {self._command[0]} failed: {message or 'it ended without a message'}")


class CommitWriter(_ObjectWriter):
    """Writes commits through `git hash-object`, which refuses damaged ones."""

    _command = ("hash-object", "-t", "commit", "-w", "--no-filters", "--stdin-paths")

    def write(self, content: bytes) -> str:
        """Store a commit; return its id. Raises GitError if git cannot write it, or takes it for damaged."""
        with tempfile.NamedTemporaryFile(prefix="noface-") as file:
            file.write(content)
            file.flush()
            return self._written(os.fsencode(file.name) + b"\n")


class TreeWriter(_ObjectWriter):
    """Writes trees through `git mktree`: since 2.40 hash-object refuses some that people have (a linked .gitignore)."""

    _command = ("mktree", "-z", "--batch")

    def write(self, listed: bytes) -> str:
        """Store a tree of what `git ls-tree -z` lists; return its id. Raises GitError if an object is not there."""
        return self._written(listed + b"\0")


@dataclass(frozen=True, slots=True)
class TreeDiff:
    """The files that differ and the patch as git prints it."""

    changes: tuple[FileChange, ...]
    patch: bytes

    @property
    def hash(self) -> str:
        return hashlib.sha256(self.patch).hexdigest()[:16] if self.changes else ""


def parse_diff(output: bytes) -> TreeDiff:
    """Split `:modes oids letter NUL path NUL` of each file, then the counts, NUL and the patch."""
    raw: list[tuple[list[str], str]] = []
    position = 0
    while output[position : position + 1] == b":":
        meta_end = output.index(b"\0", position)
        path_end = output.index(b"\0", meta_end + 1)
        raw.append((output[position + 1 : meta_end].decode().split(" "), _path(output[meta_end + 1 : path_end])))
        position = path_end + 1
    counts: dict[str, tuple[int | None, ...]] = {}
    for _ in raw:
        end = output.index(b"\0", position)
        added, deleted, path = output[position:end].split(b"\t", 2)
        counts[_path(path)] = tuple(None if text == b"-" else int(text) for text in (added, deleted))
        position = end + 1
    changes = tuple(
        FileChange(path, letter[0], old_mode, new_mode, old_oid, new_oid, *counts.get(path, (None, None)))
        for (old_mode, new_mode, old_oid, new_oid, letter, *_), path in raw
    )
    return TreeDiff(changes, output[position + 1 :])


@dataclass(frozen=True, slots=True)
class NewHistory:
    """What commits bring that main has not: their changes, the commits of main they began on, and their messages."""

    changes: tuple[FileChange, ...]
    bases: tuple[str, ...]
    messages: tuple[bytes, ...]

    @property
    def foreign(self) -> bool:
        """True if another program may have made one of the commits: noface's name their issue or their base."""
        return not all(b"\nNoface-" in message for message in self.messages)


def parse_history(output: bytes) -> NewHistory:
    """Read what `git log --boundary -c --raw -z` prints with `%m%H`, NUL, a blank and `%B`, NUL as its format.

    Of a merge the first parent's side counts as the old one.
    """
    changes, bases, messages = dict[tuple[str, str, str], FileChange](), list[str](), list[bytes]()
    parts, of_main = iter(output.split(b"\0")), False
    for part in (each.lstrip(b"\n") for each in parts):
        if part[:1] in (b"-", b">"):
            of_main, message = part[:1] == b"-", next(parts)
            bases += [part[1:].decode()] if of_main else []
            messages += [] if of_main else [message[1:]]
        elif part:
            sides, path = len(part) - len(part.lstrip(b":")), _path(next(parts))
            fields = part[sides:].decode().split(" ")
            modes, oids, letters = fields[: sides + 1], fields[sides + 1 : -1], fields[-1]
            change = FileChange(path, letters[0], modes[0], modes[-1], oids[0], oids[-1], None, None)
            changes |= {} if of_main else {(path, oids[0], oids[-1]): change}
    return NewHistory(tuple(changes.values()), tuple(bases), tuple(messages))


def _path(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
