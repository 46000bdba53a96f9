"""Looks names up through one persistent `git cat-file --batch-check` (0.1 ms a name against 2-3 for a process)."""

import threading
from typing import Any

from noface.errors import GitError
from noface.git.command import Git
from noface.git.process import end

_FIELDS = 3  # id, type, size; anything else is "<name> missing" or "ambiguous"


class Lookup:
    """Answers which object a name stands for now. Safe to share between threads."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = threading.Lock()
        self._process: Any = None

    def ask(self, name: str) -> str | None:
        """Return the object id that `name` (a ref, an id, with or without a `^{…}`) stands for, or None.

        Raises GitError where git ends without an answer.
        """
        if not name or "\n" in name:
            return None
        with self._lock:
            if self._process is None or self._process.poll() is not None:
                self._end()
                self._process = self._git.open("cat-file", "--batch-check")
            try:
                self._process.stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
                self._process.stdin.flush()
                answer = self._process.stdout.readline()
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

    def close(self) -> None:
        """End the process; a later question starts another."""
        with self._lock:
            self._end()

    def __del__(self) -> None:
        self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        end(process)
