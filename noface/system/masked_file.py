"""Takes secrets out of one file of any size, in bounded memory.

Most files hold none: they are read once and left alone. Another one is written anew beside the old and put in its
place at once, so that a crash leaves one or the other. Where the disk has no room for that, each value is overwritten
in its place by stars of the same length: a full disk must not keep a secret readable.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from noface.core.masking import Masker

_CHUNK_BYTES = 1 << 20
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def mask_file(path: Path, masker: Masker) -> bool:
    """Take the values that `masker` knows out of a file; tell whether there were any.

    Nothing may write to it any more. What is no regular file is left alone, and no link is followed. Raises OSError
    where it cannot be read, or held a value and could not be written.
    """
    descriptor = _open(path)
    if descriptor is None:
        return False
    with os.fdopen(descriptor, "rb") as file:
        if not any(masker.holds(data) for _, data in _windows(file, masker.longest_bytes)):
            return False
        try:
            _rewrite(path, file, masker)
        except OSError as error:
            if error.errno not in _NO_ROOM:
                raise
            _overwrite(path, file, masker)
    return True


def _open(path: Path) -> int | None:
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        try:
            descriptor = os.open(path, flags)
        except PermissionError:
            path.chmod(stat.S_IRUSR | stat.S_IWUSR)  # an agent took the right away: the file is noface's all the same
            descriptor = os.open(path, flags)
    except FileNotFoundError:
        return None
    return descriptor


def _windows(file: BinaryIO, longest: int) -> Iterator[tuple[int, bytes]]:
    """Yield the file in pieces that overlap, so that every value stands in one of them whole; with their offsets."""
    kept = b""
    for start, data in _pieces(file):
        if data is None:
            kept = b""
            continue
        window = kept + data
        yield start - len(kept), window
        kept = window[-(longest - 1) :] if longest > 1 else b""


def _pieces(file: BinaryIO) -> Iterator[tuple[int, bytes | None]]:
    """Yield offset and bytes of what the file holds, and None for a hole: a sparse file may seem to have no end."""
    descriptor = file.fileno()
    size = os.fstat(descriptor).st_size
    position = 0
    while position < size:
        start = _data_from(descriptor, position)
        if start is None:
            yield position, None
            return
        if start > position:
            yield position, None
        position = start
        end = os.lseek(descriptor, start, os.SEEK_HOLE) if hasattr(os, "SEEK_HOLE") else size
        while position < end:
            data = os.pread(descriptor, min(_CHUNK_BYTES, end - position), position)
            if not data:
                return
            yield position, data
            position += len(data)


def _data_from(descriptor: int, position: int) -> int | None:
    """Return where the next bytes lie that were ever written, None where there are none."""
    if not hasattr(os, "SEEK_DATA"):
        return position
    try:
        return os.lseek(descriptor, position, os.SEEK_DATA)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        return position  # a file system that cannot tell


def _rewrite(path: Path, file: BinaryIO, masker: Masker) -> None:
    status = os.fstat(file.fileno())
    temporary = path.with_name(f".{path.name[:60]}.{os.urandom(8).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb", buffering=0) as fresh:
            os.fchmod(fresh.fileno(), stat.S_IMODE(status.st_mode))
            for piece in _masked(file, masker):
                if isinstance(piece, int):
                    fresh.seek(piece, os.SEEK_CUR)
                else:
                    _write(fresh, piece)
            fresh.truncate(fresh.tell())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def _write(fresh: BinaryIO, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[fresh.write(rest) :]


def _masked(file: BinaryIO, masker: Masker) -> Iterator[bytes | int]:
    """Yield the file's bytes without the values, and the lengths of its holes.

    The end of each piece is kept back, as far as a value might have begun there.
    """
    kept = b""
    next_byte = 0
    for start, data in _pieces(file):
        if data is None:
            yield masker.log(kept)
            kept = b""
            next_byte = start
            continue
        if start > next_byte:
            yield start - next_byte
        next_byte = start + len(data)
        window = kept + data
        cut = _safe_cut(window, masker)
        yield masker.log(window[:cut])
        kept = window[cut:]
    yield masker.log(kept)
    size = os.fstat(file.fileno()).st_size
    if size > next_byte:
        yield size - next_byte


def _safe_cut(window: bytes, masker: Masker) -> int:
    """Return a place to cut that no value spans, as close to the end as one may begin unseen."""
    cut = max(0, len(window) - masker.longest_bytes + 1)
    for start, end in masker.spans(window):
        if start < cut < end:
            return end
    return cut


def _overwrite(path: Path, file: BinaryIO, masker: Masker) -> None:
    """Overwrite each value where it stands; nothing in the file moves, so no more room is needed."""
    with suppress(PermissionError):
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "wb", buffering=0) as same:
        for offset, window in _windows(file, masker.longest_bytes):
            for start, end in masker.spans(window):
                same.seek(offset + start)
                _write(same, b"*" * (end - start))
