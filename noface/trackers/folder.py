"""The folder of issue files: listing it, reading one file safely, and putting a new one into it.

What lies there may be hostile and changes at any time: only a regular file is opened, and a new one appears whole.
"""

import errno
import os
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from noface.data.trackers import TrackerSettings
from noface.errors import NofaceError, UsageError

RACY_NS = 50_000_000
"""A file changed this shortly before it was looked at can change again within one tick of the file system's clock,
unseen by size and time; such a file, and one from the future, is read again (git calls this racily clean)."""


class IssueFile(NamedTuple):
    """An issue file as the listing shows it; the file has not changed while all of this is the same."""

    name: str
    mtime_ns: int
    size_bytes: int
    inode: int
    mode: int
    ctime_ns: int  # an edit can put the other time back (`touch -r`, `rsync -t`), not this one


def is_issue_name(name: str) -> bool:
    """Tell *.md from the rest, which includes README.md in any case and names that begin with "_" or "."."""
    return name.endswith(".md") and not name.startswith(("_", ".")) and name.lower() != "readme.md"


def printable(name: str) -> str:
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in name)


def scan(folder: Path) -> tuple[IssueFile, ...] | None:
    """List the issue files in the order of their names; None if there is no folder.

    Raises OSError if the folder cannot be listed.
    """
    entries: list[IssueFile] = []
    try:
        with os.scandir(folder) as listing:
            for each in listing:
                if is_issue_name(each.name):
                    with suppress(FileNotFoundError):
                        status = each.stat(follow_symlinks=False)
                        times = status.st_mtime_ns, status.st_ctime_ns
                        file = IssueFile(each.name, times[0], status.st_size, status.st_ino, status.st_mode, times[1])
                        entries.append(file)
    except FileNotFoundError:
        return None
    return tuple(sorted(entries))


def files_fingerprint(settings: TrackerSettings, root: Path, _state: Path) -> str:
    return fingerprint(root, settings.path)


def fingerprint(root: Path, folder: str) -> str:
    """Hash names, times, sizes, inodes and modes of the issue files; opens none of them."""
    try:
        entries = scan(root / folder)
    except OSError as error:
        return f"unreadable: {error.errno}"
    if entries is None:
        return "missing"
    return checksum(entries)


def checksum(seen: object) -> str:
    """Return a short mark of what was seen; hashlib would load OpenSSL, which takes longer than the rest."""
    mark = repr(seen).encode("utf-8", "surrogateescape")
    return f"{zlib.crc32(mark):08x}-{len(mark)}"


def read_regular(path: Path, bytes_max: int) -> bytes:
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        return file.read(bytes_max)


def create_file(folder: Path, choose_name: Callable[[list[str]], str], content: bytes) -> str:
    """Put a new file into the folder, which is made if missing; return the name, chosen from all that are there.

    Two calls at once choose one after the other. Raises UsageError if something is in the way, else NofaceError.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            name = choose_name(os.listdir(folder))  # noqa: PTH208 - names are wanted, not paths
            _write_whole(folder, name, content)
    except (FileExistsError, NotADirectoryError) as error:
        raise UsageError(f"cannot add an issue: {error.filename} is in the way", "Move it and try again.") from error
    except OSError as error:
        hint = "Check that the folder can be written and the disk has room; nothing was added."
        raise NofaceError(f"cannot add an issue to {folder}: {error.strerror}", hint) from error
    return name


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    from noface.process.lock import FileLock  # its imports are half of what a fingerprint costs

    lock = FileLock(folder, folder=True)
    try:
        lock.take(wait=True)
        yield
    finally:
        lock.release()


def _write_whole(folder: Path, name: str, content: bytes) -> None:
    """Write beside, then link: linking is as exclusive as O_EXCL, and a tick never sees half an issue."""
    draft = folder / f".noface-{os.urandom(8).hex()}.tmp"
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.link(draft, folder / name)
    finally:
        draft.unlink(missing_ok=True)
