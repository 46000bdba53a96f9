"""Moves refs, names them, and keeps two of noface's git commands out of each other's way.

A git process outlives a SIGKILL of noface, and may still be writing files. Each inherits a locked file, so
`exclusive_lock` ends only with the last of them.
"""

import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from noface.errors import GitError, RefLockedError
from noface.git.command import GitProcess
from noface.git.own_objects import joined, shared
from noface.git.repository import Repository
from noface.process.lock import FileLock

ZERO = "0" * 40
HEADS = "refs/heads/"
FETCHED = "refs/noface/remote/"
"""Below it stands what was last fetched of the remote's main."""
Vet = Callable[[str], str]
"""Tells why a commit may stand on no branch and not leave this machine (I12), "" if it may."""


def unseen(_: str) -> str:
    return ""


_SCRATCH = f"{HEADS}noface/"
_ISSUES = "refs/noface/issues/"
_PACKS_MAX = 40
"""So many packs of a run become one; from 50 on `git gc --auto` takes a repository for badly packed."""
_LOCK = re.compile(r"Unable to create '(?P<path>[^'\n]{1,4096}\.lock)': File exists")


@dataclass(frozen=True, slots=True)
class RefUpdate:
    """One ref's new value. `old` None: whatever it is now; ZERO: it must not exist. `new` ZERO deletes it."""

    ref: str
    new: str
    old: str | None = None


def lock_in_the_way(message: str) -> Path | None:
    match = _LOCK.search(message)
    return Path(match["path"]) if match else None


def lock_advice(lock: Path) -> str:
    try:
        age = f"it is {max(0, int(time.time() - lock.stat().st_mtime))} s old"
    except OSError:
        age = "it is gone by now"
    return f"{lock}: {age}. Where no git command is running any more, remove it."


class RefWriter(GitProcess):
    """Applies sets of ref updates, each atomically; threads share it. Only a landing moves a ref without it.

    Git knows the person's objects alone here, and refuses a ref whose objects are not in the repository.
    """

    _command = ("update-ref", "--stdin")
    vet: Vet = staticmethod(unseen)

    def __init__(self, repository: Repository) -> None:
        super().__init__(repository.shared_git())
        self._repository = repository
        self._packs: list[Path] = []

    def apply(self, *updates: RefUpdate) -> None:
        """Apply all updates in one transaction. Raises GitError if a ref is not at `old`, or would hold a secret."""
        if not updates:
            return
        for update in updates:
            if update.new != ZERO and update.ref.startswith(_SCRATCH) and (why := self.vet(update.new)):
                raise GitError(f"{update.ref.removeprefix(HEADS)} is not moved: {why}")
        lines = ["start"]
        for update in updates:
            # As long as the ids of the repository: those of SHA-256 have 64 digits.
            old = "" if update.old is None else " " + ("0" * len(update.new) if update.old == ZERO else update.old)
            lines.append((f"delete {update.ref}" if update.new == ZERO else f"update {update.ref} {update.new}") + old)
        lines.append("commit")
        with self._lock, self._held(updates):
            try:
                self._apply(lines)
            except GitError:
                self._end()
                raise

    @contextmanager
    def _held(self, updates: Iterable[RefUpdate]) -> Iterator[None]:
        """Share what the updates need with the repository, but for what main or another ref of their issue holds."""
        new = [update for update in updates if update.new.strip("0")]
        places = {name for update in new for name in _beside(update.ref)}
        held = {*self._repository.references(self._repository.main, *places).values()} if new else set()
        names = {update.new for update in new} - held
        if not names:
            yield
            return
        with shared(self._repository, names, held) as pack:
            yield
        self._packs += [pack] if pack is not None else []
        if len(self._packs) >= _PACKS_MAX:
            with suppress(GitError):  # many packs do no harm; it is tried again
                self._packs = joined(self._repository, self._packs)

    def _apply(self, lines: list[str]) -> None:
        """Do a transaction; if a ref of noface's stays locked, a killed git has left that: again without the lock."""
        try:
            self._transact(lines)
        except GitError as error:
            lock = lock_in_the_way(error.message)
            if lock is None:
                raise
            if not any(own in f"/{lock.as_posix()}" for own in ("/refs/noface/", "/refs/heads/noface/")):
                raise RefLockedError(error.message, lock_advice(lock)) from error
            self._end()
            lock.unlink(missing_ok=True)
            self._transact(lines)

    def _transact(self, lines: list[str]) -> None:
        process = self._running()
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


def _beside(ref: str) -> tuple[str, ...]:
    issue = ref.removeprefix(_SCRATCH) if ref.startswith(_SCRATCH) else ref.removeprefix(_ISSUES).partition("/")[0]
    return (f"{_ISSUES}{issue}", f"{_SCRATCH}{issue}") if ref.startswith((_SCRATCH, _ISSUES)) else (ref,)


_PLAIN_CHARS_MAX = 40
_HASH_CHARS = 12
_LOOKS_HASHED = re.compile(rf"-[0-9a-f]{{{_HASH_CHARS}}}")


def slug(issue_id: str) -> str:
    """Return a name for refs and folders made of an issue id: safe for git, and different for different ids.

    git accepts ids such as `-x` or 300 characters, and file systems fold case; so anything but a short plain
    lower-case id gets a hash. What looks as if it had one gets one too, or an id could take another's name.
    """
    plain = re.sub(r"[^a-z0-9_-]+", "-", issue_id.lower()).strip("-")[:_PLAIN_CHARS_MAX]
    if plain and plain == issue_id and _LOOKS_HASHED.search(plain[-_HASH_CHARS - 1 :]) is None:
        return plain
    digest = hashlib.sha256(issue_id.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_CHARS]
    return f"{plain or 'issue'}-{digest}"


def scratch_branch(issue_id: str) -> str:
    return f"refs/heads/noface/{slug(issue_id)}"


def branch_name(issue_id: str) -> str:
    """Return the scratch branch as people name it, and as a git command that they copy takes it."""
    return scratch_branch(issue_id).removeprefix("refs/heads/")


def hold_ref(issue_id: str, what: str) -> str:
    return f"{_ISSUES}{slug(issue_id)}/{what}"


WAIT_SECONDS_MAX = 600.0
_LOOK_AGAIN_SECONDS = 0.01


@contextmanager
def exclusive_lock(path: Path, seconds_max: float = WAIT_SECONDS_MAX) -> Iterator[int]:
    """Hold a lock file; yields its descriptor, for git processes to inherit. Raises GitError after `seconds_max`."""
    lock, deadline = FileLock(path), time.monotonic() + seconds_max
    try:
        while not lock.take():
            if time.monotonic() > deadline:
                raise GitError(
                    f"a git command of an earlier noface is still running and holds {path}.",
                    f"Find its process with `fuser {path}`; wait for it or end it.",
                )
            time.sleep(_LOOK_AGAIN_SECONDS)
        yield lock.descriptor
    finally:
        lock.release()
