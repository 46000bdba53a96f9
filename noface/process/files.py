"""Files that are whole or absent, and files of any size read in bounded memory."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

PUBLIC_MODE = 0o666
NAME_PART_MAX = 60
_SHEBANG_BYTES = 256


def write_atomic(path: Path, data: str | bytes, *, durable: bool = True) -> None:
    """Replace a file by one with this content: a reader, or a crash, sees the old or the new, never a part.

    Text becomes UTF-8. The permissions of a file already there are kept; a new one gets the usual ones. A
    symbolic link is replaced, not followed. `durable` makes it survive a power loss, for some milliseconds.
    Raises OSError; the old file is untouched then.
    """
    content = data.encode() if isinstance(data, str) else data
    # In the same folder, since a rename is atomic within a file system only; cut, since a name has at most 255 bytes.
    temporary = path.with_name(f".{path.name[:NAME_PART_MAX]}.{os.urandom(8).hex()}.tmp")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PUBLIC_MODE), "wb") as file:
            if kind_at(path) == stat.S_IFREG:
                os.fchmod(file.fileno(), stat.S_IMODE(path.stat().st_mode))
            file.write(content)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    if durable:
        # The rename stands in the folder: without this a power loss may bring the old file back.
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


class HeldFolder:
    """A folder as it is now, kept open, so that no other takes its number: tells whether its path still leads there."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        with suppress(OSError):
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)

    def stands(self) -> bool:
        try:
            return self._descriptor >= 0 and os.path.samestat(os.fstat(self._descriptor), self._path.lstat())
        except OSError:
            return False

    def __del__(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


def real_folder(path: Path, root: Path) -> Path:
    """Make `path` and all above it below `root` ordinary folders, whatever a program put there; return `path`.

    A link or a file in the place of one is removed: what is written there must not land where a link leads.
    """
    inside = path.relative_to(root) if path.is_relative_to(root) else Path(path.name)
    for folder in (*(path.parents[number] for number in reversed(range(len(inside.parts) - 1))), path):
        ordinary_folder(folder)
    return path


def ordinary_folder(path: str | Path) -> None:
    """Make a folder, whatever a program put there: a link or a file goes, since noface would write where it leads."""
    while not is_folder(path):
        try:
            os.makedirs(path)  # noqa: PTH103 - a path may be a string here
        except FileExistsError:
            if not is_folder(path):
                with suppress(FileNotFoundError, IsADirectoryError):
                    os.unlink(path)  # noqa: PTH108


def read_bounded(path: Path, head_bytes: int, tail_bytes: int) -> str:
    """Read the first and last bytes of a file of any size as text, replacing what is not UTF-8.

    Where something was left out, a line in the middle says how many bytes. Raises OSError, also for what is no
    regular file: a FIFO would be waited on for ever.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with os.fdopen(descriptor, "rb") as file:
        if status.st_size <= head_bytes + tail_bytes:
            return file.read(head_bytes + tail_bytes).decode(errors="replace")
        head = file.read(head_bytes)
        file.seek(status.st_size - tail_bytes)
        tail = file.read(tail_bytes)
    left_out = status.st_size - len(head) - len(tail)
    first, last = (data.decode(errors="replace") for data in (head, tail))
    return f"{first}\n[… {left_out} bytes left out …]\n{last}"


def kind_at(path: str | Path) -> int:
    """Return the type of what is at a path (one of stat's S_IF…), 0 if there is nothing; no link is followed."""
    try:
        return stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        return 0


def is_folder(path: str | Path) -> bool:
    return kind_at(path) == stat.S_IFDIR


def bytes_in(path: str | Path) -> int:
    """Return the bytes of a file or folder, without following links; what cannot be read counts nothing."""
    total, pending = 0, [os.fspath(path)]
    while pending:
        place = pending.pop()
        with suppress(OSError):
            status = os.lstat(place)
            total += status.st_size
            if stat.S_ISDIR(status.st_mode):
                pending += [entry.path for entry in os.scandir(place)]
    return total


def open_regular(path: Path) -> int | None:
    """Open a regular file to read, None if there is none: a FIFO would be waited on, a link may lead anywhere."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def read_regular(path: Path, bytes_max: int) -> bytes | None:
    """Return the first bytes of a regular file, None if there is none that can be read."""
    descriptor = open_regular(path)
    if descriptor is None:
        return None
    try:
        with os.fdopen(descriptor, "rb") as file:
            return file.read(bytes_max)
    except OSError:
        return None


def started_with(script: str) -> list[str]:
    """Return the words after `#!` in the first line of a script, which name what runs it; none if it is no script."""
    line = (read_regular(Path(os.path.realpath(script)), _SHEBANG_BYTES) or b"").partition(b"\n")[0]
    return os.fsdecode(line[2:]).split() if line.startswith(b"#!") else []
