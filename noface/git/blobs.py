"""Reads the contents of files from the object store: one git process, started when the first is asked for."""

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

from noface.errors import GitError
from noface.git.command import Git
from noface.git.process import end

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
        end(process)

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
