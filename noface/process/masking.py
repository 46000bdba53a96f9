"""The secrets of this process, and how they are taken out of what agents keep of their own, once they have ended (I12).

What stands for a value has its length, so nothing in a file moves: a database stays one, and an agent that goes on with
its session finds it.
"""

import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from noface.process.files import is_folder
from noface.secrets.masking import MaskedStream, Masker
from noface.secrets.rules import secrets_of

_OWN = frozenset(
    ("prompt.md", "order.json", "answer.schema.json", "work.json", "report.json", "diff.patch", "left-out.patch")
)
_PRINTED = (".log", ".err")
_GATES = "gates"
_CHUNK_BYTES = 1 << 20
_FILES_MAX = 50_000
_FILE_BYTES_MAX = 1 << 30
"""A larger one is not kept: no session goes on with it, and a hole in a file may have no end."""
_OPEN = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def known_secrets(given: Iterable[tuple[str, str]], environment: Mapping[str, str] | None = None) -> Masker:
    return Masker(secrets_of(os.environ if environment is None else environment, given, _is_path))


def _is_path(value: str) -> bool:
    place = os.path.expanduser(value)  # noqa: PTH111 - Path raises if there is no such user
    return value.startswith(("/", "~", "./", "../")) and "\0" not in value and os.path.lexists(place)


def mask_files(folder: Path, session: str, masker: Masker) -> None:
    """Take secrets out of what an agent has kept in the folder of a run that has ended; close that to other users.

    All below `session` is the agent's. No link is followed. Raise OSError if a secret cannot be overwritten.
    """
    for file in _closed(folder):
        _close(file)
        parts = file.relative_to(folder).parts
        if session in parts or not (file.name in _OWN or file.suffix in _PRINTED or _GATES in parts):
            _mask_file(file, masker)


def _mask_file(path: Path, masker: Masker) -> None:
    """Take the secrets out of a file that nothing writes to any more; what is no regular file is left alone."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        return
    if status.st_size > _FILE_BYTES_MAX:
        path.unlink()
        return
    if status.st_nlink > 1:  # what has another name elsewhere is not noface's to change
        copy = path.with_name(f".{os.urandom(8).hex()}.tmp")
        shutil.copyfile(path, copy)
        copy.replace(path)
    _close(path)
    descriptor = os.open(path, _OPEN)
    try:
        stream, read, shown = MaskedStream(masker), 0, 0
        while True:
            piece = os.pread(descriptor, _CHUNK_BYTES, read)
            read += len(piece)
            data = stream.feed(piece) if piece else stream.finish()
            if os.pread(descriptor, len(data), shown) != data:
                os.pwrite(descriptor, data, shown)
            shown += len(data)
            if not piece:
                return
    finally:
        os.close(descriptor)


def _close(path: Path) -> None:
    status = path.lstat()
    if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
        path.chmod(stat.S_IMODE(status.st_mode) & stat.S_IRWXU | stat.S_IRUSR | stat.S_IWUSR)


def _closed(folder: Path) -> Iterator[Path]:
    pending = [folder] if is_folder(folder) else []
    left = _FILES_MAX
    while pending and left > 0:
        below = pending.pop()
        below.chmod(stat.S_IRWXU)
        with os.scandir(below) as entries:
            for entry in entries:
                left -= 1
                if entry.is_dir(follow_symlinks=False):
                    pending.append(Path(entry.path))
                else:
                    yield Path(entry.path)
