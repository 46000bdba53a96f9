"""Keeps secrets out of the files of programs: while these run, and once they have ended (I12).

Programs write their logs themselves, so a value stands on the disk until the next look, and no longer: a `LogGuard`
looks at every tick through what is new. The logs belong to the program: it may cut them off, move them away, or put
something else in their place. Whatever it does, each look reads a bounded part, follows no link, and writes to no file
that also has another name.

That leaves the last moment before noface is killed, and what a program hides from a look. So a note says, before a
program starts, which files are to be looked through; it goes away once they have been (`Masking`). What a killed noface
left is looked through by the next one.
"""

import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from noface.process.files import is_folder, read_regular
from noface.process.masked_file import mask_file, open_file, overwrite, windows
from noface.secrets.masking import Masker
from noface.secrets.rules import secrets_of

_NOTES_MAX = 10_000
_NOTE_BYTES_MAX = 1_000_000
_FILES_MAX = 1_000
_FILES_OF_A_RUN_MAX = 50_000
LOOK_BYTES_MAX = 8 << 20
"""What is read of one file in one look. A program that writes faster than that is caught up with in its pauses."""
_AT_END_BYTES_MAX = 256 << 20
_READ_AGAIN_BYTES_MAX = 64 << 10
"""Files up to this size are read anew when they grow: they may have been cut off, and have grown again, unseen."""
_REPLACED_MAX = 3
"""The files followed of one name: that which the program writes to, whatever it is called now, and the newest ones."""


class Masking:
    """What a run knows of secrets, and the files below `state_dir` it keeps free of them; thread-safe."""

    def __init__(self, masker: Masker | None = None, state_dir: Path | None = None) -> None:
        self.masker = masker or Masker()
        self._state_dir = state_dir
        self._notes = state_dir / "unmasked" if state_dir is not None else None

    @contextmanager
    def covering(self, *paths: str | Path) -> Iterator[None]:
        """Take the secrets out of these files once what writes them has ended.

        Of a folder, out of its new files, and of those in its new folders. Raises OSError if a file cannot be
        looked through, or holds a secret and cannot be overwritten.
        """
        if not self.masker:
            yield
            return
        wanted = {Path(path): _names_in(Path(path)) for path in paths}
        note = self._note(wanted)
        try:
            yield
        finally:
            for path, there_before in wanted.items():
                self._mask(path, there_before)
            if note is not None:
                note.unlink(missing_ok=True)

    def settle(self, folder: str | Path, session: str) -> None:
        """Take keys of a known shape out of all files of what has ended, and close them to other users.

        Files below a folder called `session`, where an agent wrote what it liked, lose the known values as well. They
        stay readable for it, since what stands for a key has its length. Raises OSError if a file cannot be looked
        through, or holds a key and cannot be overwritten.
        """
        nothing = Masker()
        for file in _closed(Path(folder)):
            own = session in file.relative_to(folder).parts
            mask_file(file, self.masker if own else nothing, keys=True)

    def catch_up(self) -> int:
        """Look through what a former noface had no time for; return how many files held a secret.

        A note stays where a variable that was known then is not known now: its value cannot be found without it.
        Notes are only trusted with files below the state folder: agents could write some, too.
        """
        masked = 0
        if not self.masker or self._state_dir is None:
            return masked
        for note in self._left_notes():
            names, files = _read_note(note)
            for name, there_before in files.items():
                path = _inside(self._state_dir, name)
                masked += self._mask(path, there_before) if path is not None else 0
            if names <= self.masker.names:
                note.unlink(missing_ok=True)
        return masked

    def _mask(self, path: Path, there_before: frozenset[str]) -> int:
        return sum(mask_file(file, self.masker) for file in _files_below(path, there_before))

    def _note(self, wanted: Mapping[Path, frozenset[str]]) -> Path | None:
        if self._notes is None or self._state_dir is None:
            return None
        inside = {os.path.relpath(path, self._state_dir): sorted(names) for path, names in wanted.items()}
        note = self._notes / os.urandom(8).hex()
        text = json.dumps({"names": sorted(self.masker.names), "files": inside})
        try:
            note.write_text(text)
        except FileNotFoundError:
            self._notes.mkdir(parents=True, exist_ok=True)
            note.write_text(text)
        return note

    def _left_notes(self) -> list[Path]:
        if self._notes is None:
            return []
        try:
            with os.scandir(self._notes) as entries:
                plain = (entry.path for entry in entries if entry.is_file(follow_symlinks=False))
                return [Path(path) for _, path in zip(range(_NOTES_MAX), plain, strict=False)]
        except OSError:
            return []


def _inside(state_dir: Path, name: str) -> Path | None:
    """Return the file a note means, None if a `..` or a link would lead out of the state folder."""
    root = state_dir.resolve()
    path = root / name
    try:
        return path if path.parent.resolve().is_relative_to(root) and path.name != ".." else None
    except (OSError, ValueError, RuntimeError):
        return None


def known_secrets(
    given: Iterable[tuple[str, str]], state_dir: Path | None, environment: Mapping[str, str] | None = None
) -> Masking:
    """Return what knows the secrets of noface's own environment, and of the variables `given` to models."""
    return Masking(Masker(secrets_of(os.environ if environment is None else environment, given, _is_path)), state_dir)


def _is_path(value: str) -> bool:
    if not value.startswith(("/", "~", "./", "../")):
        return False
    try:
        return os.path.lexists(os.path.expanduser(value))  # noqa: PTH111 - Path raises if there is no such user
    except (OSError, ValueError):
        return False


def _files_below(path: Path, there_before: frozenset[str]) -> Iterator[Path]:
    """Yield the path itself if it is no folder, else what is new in it, at any depth; no link is followed."""
    if not is_folder(path):
        yield path
        return
    pending = [path / name for name in sorted(_names_in(path) - there_before, reverse=True)]
    for _ in range(_FILES_MAX):
        if not pending:
            return
        file = pending.pop()
        if is_folder(file):
            pending += [file / name for name in sorted(_names_in(file), reverse=True)]
        else:
            yield file


def _closed(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, at any depth, and close the folders to other users; no link is followed."""
    pending = [folder] if is_folder(folder) else []
    left = _FILES_OF_A_RUN_MAX
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


def _names_in(path: Path) -> frozenset[str]:
    """Return the names in a folder; none if it is none."""
    try:
        with os.scandir(path) as entries:
            return frozenset(entry.name for _, entry in zip(range(_FILES_MAX), entries, strict=False))
    except OSError:
        return frozenset()


def _read_note(note: Path) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """Return the names of the secrets that were known, and the files. A torn or forged note names none."""
    with suppress(OSError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
        document = json.loads(read_regular(note, _NOTE_BYTES_MAX) or b"")
        files = {str(name): frozenset(map(str, before)) for name, before in document["files"].items()}
        return frozenset(map(str, document["names"])), files
    return frozenset(), {}


class LogGuard:
    """Overwrites known secrets in logs that grow. Without secrets it does nothing. For one thread; close it.

    A file of `rewritten` is one that its program writes anew each time: it is read as a whole whenever it changed.
    What cannot be read or written now is left to whoever masks the files once the program has ended.
    """

    def __init__(self, logs: Iterable[str], rewritten: Iterable[str], masker: Masker) -> None:
        self._masker = masker
        self._folders: dict[Path, int] = {}
        self._names: list[_Name] = []
        if masker:
            for path in dict.fromkeys(logs):
                self._add(Path(path), whole=False)
            for path in rewritten:
                self._add(Path(path), whole=True)

    def _add(self, path: Path, *, whole: bool) -> None:
        # By descriptor: the program could put a link to another folder in this one's place.
        with suppress(OSError):
            if path.parent not in self._folders:
                self._folders[path.parent] = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            self._names.append(_Name(path.name, self._folders[path.parent], whole=whole))

    def look(self) -> bool:
        """Take the values out of what is new; tell whether something new is left for the next look."""
        behind = [name.look(self._masker) for name in self._names]
        return any(behind)

    def finish(self) -> None:
        """Look through all that is left, once the program has ended; of a flood, a part."""
        for _ in range(_AT_END_BYTES_MAX // LOOK_BYTES_MAX):
            if not self.look():
                return

    def close(self) -> None:
        """Close all files. Repeatable."""
        for name in self._names:
            name.close()
        for folder in self._folders.values():
            os.close(folder)
        self._names, self._folders = [], {}


class _Name:
    """A log's name in its folder, and the files that were seen under it."""

    def __init__(self, name: str, folder: int, *, whole: bool) -> None:
        self._name = name
        self._folder = folder
        self._whole = whole
        self._files: dict[tuple[int, int], _Grown] = {}

    def look(self, masker: Masker) -> bool:
        with suppress(OSError):
            self._find()
        behind = False
        for file in self._files.values():
            with suppress(OSError):  # the next look tries again
                behind = file.look(masker) or behind
        return behind

    def _find(self) -> None:
        """Open what stands under the name now, if it has not been seen before."""
        seen = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        if (seen.st_dev, seen.st_ino) in self._files:
            return
        descriptor = open_file(self._name, self._folder)
        if descriptor is None:
            return
        status = os.fstat(descriptor)
        if len(self._files) == _REPLACED_MAX:
            # Not the first: the program may still write to it, whatever has its name by now.
            self._files.pop(list(self._files)[1]).close()
        fresh = _Grown(descriptor, whole=self._whole)
        if self._files.setdefault((status.st_dev, status.st_ino), fresh) is not fresh:
            fresh.close()  # it was put back since the stat

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files = {}


class _Grown:
    """An open file, and how far it has been looked through."""

    def __init__(self, descriptor: int, *, whole: bool) -> None:
        self._descriptor = descriptor
        self._whole = whole
        self._seen = 0
        self._behind = False
        self._changed_ns = 0

    def look(self, masker: Masker) -> bool:
        """Look through what is new, as far as one look goes; tell whether there is more."""
        status = os.fstat(self._descriptor)
        if status.st_size < self._seen or (not self._behind and self._may_be_other(status)):
            self._seen = 0
        # What has a second name elsewhere may be a file of the person's, which is not to be written to.
        new = status.st_nlink == 1 and status.st_size > self._seen
        self._behind = new and self._read(masker, status.st_size)
        return self._behind

    def _may_be_other(self, status: os.stat_result) -> bool:
        """True if what has been looked through may be other bytes by now."""
        if self._whole:
            # Its own writes count as well: one more look follows then, and finds nothing.
            before, self._changed_ns = self._changed_ns, status.st_mtime_ns
            return before != status.st_mtime_ns
        return self._seen < status.st_size <= _READ_AGAIN_BYTES_MAX

    def _read(self, masker: Masker, size: int) -> bool:
        left = LOOK_BYTES_MAX
        # From before the end of the last look: a value may have been written in two parts.
        start = max(0, self._seen - masker.longest_bytes + 1)
        for position, data in windows(self._descriptor, start, masker.longest_bytes):
            overwrite(self._descriptor, position, data, masker)
            self._seen = position + len(data)
            left -= len(data)
            if left <= 0 and self._seen < size:
                return True
        self._seen = size
        return False

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
