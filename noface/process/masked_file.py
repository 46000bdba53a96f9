"""Takes secrets out of files of any size, in bounded memory: each value is overwritten where it stands.

What stands for a value has its length, so nothing in the file moves: a program may go on writing to it meanwhile, a
reader's offset stays right, and a full disk keeps no secret readable.
"""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from noface.secrets.masking import Masker
from noface.secrets.shapes import KEY_CHARS_MAX, keys_in_place

_CHUNK_BYTES = 1 << 20
_PIECES_BYTES_MAX = 8 << 20
"""In files up to this size values that are broken into pieces are looked for as well."""

_OWN_MODE = 0o600
_OPEN = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def mask_file(path: Path, masker: Masker, *, keys: bool = False) -> bool:
    """Take the values that `masker` knows out of a file, and `keys` of a known shape; tell whether there were any.

    The latter only once nothing writes to it any more: then the file is closed to other users, too.
    What is no regular file is left alone, and no link is followed. Raises OSError if it cannot be read or written.
    """
    descriptor = _open(path)
    if descriptor is None:
        return False
    try:
        pieces, shaped = _pieces(descriptor, masker), _keys(descriptor) if keys else []
        held = pieces or shaped or any(masker.holds(data) for _, data in windows(descriptor, 0, masker.longest_bytes))
        if held and os.fstat(descriptor).st_nlink > 1:
            descriptor = _own(path, descriptor)
        if keys and os.fstat(descriptor).st_nlink == 1:
            os.fchmod(descriptor, os.fstat(descriptor).st_mode & stat.S_IRWXU | _OWN_MODE)
        if not held:
            return False
        mask_open(descriptor, masker)
        for start, mark in shaped:
            _write(descriptor, mark, start)
    finally:
        os.close(descriptor)
    return True


def mask_open(descriptor: int, masker: Masker) -> None:
    """Take the values out of an open file, which the caller has made sure is noface's to change."""
    for position, data in windows(descriptor, 0, masker.longest_bytes):
        overwrite(descriptor, position, data, masker)
    for start, mark in _pieces(descriptor, masker):
        _write(descriptor, mark, start)


def _keys(descriptor: int) -> list[tuple[int, bytes]]:
    """Return what to write over a file to take out its keys."""
    size = os.fstat(descriptor).st_size
    return [
        (position + start, mark)
        for position, data in windows(descriptor, 0, KEY_CHARS_MAX)
        for start, mark in keys_in_place(data, more=position + len(data) < size)
    ]


def _pieces(descriptor: int, masker: Masker) -> list[tuple[int, bytes]]:
    size = os.fstat(descriptor).st_size
    return masker.pieces_in_place(os.pread(descriptor, size, 0)) if size <= _PIECES_BYTES_MAX else []


def open_file(name: str | Path, folder: int | None = None) -> int | None:
    """Open a regular file to read and write, `name` being below the descriptor `folder`; None for anything else.

    Raises OSError if there is none, or it is a link, or closed to noface.
    """
    descriptor = os.open(name, _OPEN, dir_fd=folder)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def windows(descriptor: int, position: int, longest: int) -> Iterator[tuple[int, bytes]]:
    """Yield a file from `position` on, each piece with its offset.

    They overlap, so that a value of `longest` bytes stands in one of them whole. Holes are passed over: a sparse file
    may seem to have no end.
    """
    size = os.fstat(descriptor).st_size
    kept = b""
    while position < size:
        start = _data_from(descriptor, position)
        if start is None:
            return
        if start > position:
            kept = b""
        data = os.pread(descriptor, min(_CHUNK_BYTES, size - start), start)
        if not data:
            return  # it has been cut off meanwhile
        window = kept + data
        yield start - len(kept), window
        kept = window[-(longest - 1) :] if longest > 1 else b""
        position = start + len(data)


def overwrite(descriptor: int, position: int, data: bytes, masker: Masker) -> None:
    """Overwrite the values in `data`, which stood at `position` of a file; what is another text by now is left."""
    for start, mark in masker.in_place(data):
        if os.pread(descriptor, len(mark), position + start) == data[start : start + len(mark)]:
            _write(descriptor, mark, position + start)


def _write(descriptor: int, data: bytes, position: int) -> None:
    while data:
        written = os.pwrite(descriptor, data, position)
        data, position = data[written:], position + written


def _open(path: Path) -> int | None:
    try:
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            return None
        try:
            return open_file(path)
        except PermissionError:
            path.chmod(
                stat.S_IMODE(mode) | stat.S_IRUSR | stat.S_IWUSR
            )  # an agent took the right away: the file is noface's all the same
            return open_file(path)
    except FileNotFoundError:
        return None


def _own(path: Path, shared: int) -> int:
    """Put a copy in the place of a file that has another name elsewhere: what is there is not noface's to change."""
    temporary = path.with_name(f".{path.name[:60]}.{os.urandom(8).hex()}.tmp")
    own = os.open(temporary, _OPEN | os.O_CREAT | os.O_EXCL, stat.S_IMODE(os.fstat(shared).st_mode))
    try:
        for position, data in windows(shared, 0, 1):
            _write(own, data, position)
        os.ftruncate(own, os.fstat(shared).st_size)
        temporary.replace(path)
    except BaseException:
        os.close(own)
        temporary.unlink(missing_ok=True)
        raise
    os.close(shared)
    return own


def _data_from(descriptor: int, position: int) -> int | None:
    """Return where the next bytes lie that were ever written, None if there are none."""
    if not hasattr(os, "SEEK_DATA"):
        return position
    try:
        return os.lseek(descriptor, position, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        return position  # a file system that cannot tell
