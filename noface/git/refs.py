"""Moves refs through one persistent `git update-ref --stdin` (0.7 ms a transaction against 3–5 for a process)."""

import threading
from dataclasses import dataclass
from typing import Any

from noface.errors import GitError
from noface.git.command import Git
from noface.git.process import end

ZERO = "0" * 40


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """One ref's new value. `old` None: whatever it is now; ZERO: it must not exist. `new` ZERO deletes it."""

    ref: str
    new: str
    old: str | None = None


class RefWriter:
    """Applies sets of ref updates, each atomically. Safe to share between threads."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._lock = threading.Lock()
        self._process: Any = None

    def apply(self, *updates: RefUpdate) -> None:
        """Apply all updates in one transaction, or none of them.

        Raises GitError where a ref is not at its `old` value or cannot be locked.
        """
        if not updates:
            return
        lines = ["start"]
        for update in updates:
            zeros = "0" * len(update.new)
            if update.new == ZERO:
                lines.append(f"delete {update.ref}" + (f" {update.old}" if update.old else ""))
            elif update.old is None:
                lines.append(f"update {update.ref} {update.new}")
            else:
                lines.append(f"update {update.ref} {update.new} {zeros if update.old == ZERO else update.old}")
        lines.append("commit")
        with self._lock:
            try:
                self._transact(lines)
            except GitError:
                self._end()
                raise

    def close(self) -> None:
        """End the process; a later apply starts another."""
        with self._lock:
            self._end()

    def _transact(self, lines: list[str]) -> None:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = self._git.open("update-ref", "--stdin")
        process = self._process
        try:
            process.stdin.write(("\n".join(lines) + "\n").encode("utf-8", "surrogateescape"))
            process.stdin.flush()
        except OSError:
            pass  # it died of an earlier line; its last words tell why
        for expected in (b"start: ok", b"commit: ok"):
            if process.stdout.readline().rstrip() != expected:
                process.stdin.close()
                message = process.stderr.read().decode("utf-8", "replace").strip()
                raise GitError(f"git update-ref refused: {message or 'it ended without a message'}")

    def _end(self) -> None:
        process, self._process = self._process, None
        end(process)
