"""Takes secrets out of the files of programs once these have ended, also where noface was killed meanwhile (I12).

A `LogGuard` has done so in their logs while they ran, but for the last moment before noface is killed, and for what a
program hides from it. Before one is started a note says which files are to be looked through; it goes away once they
have been. What a killed noface left is looked through by the next one.
"""

import contextlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from noface.core.masking import Masker
from noface.core.secret_rules import secrets_of
from noface.system.masked_file import mask_file

_NOTES_MAX = 10_000
_NOTE_BYTES_MAX = 1_000_000
_FILES_MAX = 1_000


class Masking:
    """What a run knows of secrets, and the files below `state_dir` it keeps free of them; thread-safe."""

    def __init__(self, masker: Masker | None = None, state_dir: Path | None = None) -> None:
        self.masker = masker or Masker()
        self._state_dir = state_dir
        self._notes = state_dir / "unmasked" if state_dir is not None else None

    @contextmanager
    def covering(self, *paths: str | Path) -> Iterator[None]:
        """Take the secrets out of these files once what writes them has ended.

        Of a folder, out of its new files, and of those in its new folders. Raises OSError where a file cannot be
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

    def catch_up(self) -> int:
        """Look through what a former noface had no time for; return how many files held a secret.

        A note stays where a variable that was known then is not known now: its value cannot be found without it.
        Notes are only trusted with files below the state folder: agents could write some, too.
        """
        masked = 0
        for note in self._left_notes() if self.masker else ():
            names, files = _read_note(note)
            for name, there_before in files.items():
                path = self._inside(name)
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
            with os.scandir(self._notes) as found:
                plain = (entry.path for entry in found if entry.is_file(follow_symlinks=False))
                return [Path(path) for _, path in zip(range(_NOTES_MAX), plain, strict=False)]
        except OSError:
            return []

    def _inside(self, name: str) -> Path | None:
        """Return the file a note means, None where a `..` or a link would lead out of the state folder."""
        assert self._state_dir is not None  # noqa: S101 - there are no notes without one
        root = self._state_dir.resolve()
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
        return os.path.lexists(os.path.expanduser(value))  # noqa: PTH111 - Path raises where there is no such user
    except (OSError, ValueError):
        return False


def _files_below(path: Path, there_before: frozenset[str]) -> Iterator[Path]:
    """Yield the path itself where it is no folder, else what is new in it, at any depth; no link is followed."""
    if not _is_folder(path):
        yield path
        return
    found = [path / name for name in sorted(_names_in(path) - there_before, reverse=True)]
    for _ in range(_FILES_MAX):
        if not found:
            return
        file = found.pop()
        if _is_folder(file):
            found += [file / name for name in sorted(_names_in(file), reverse=True)]
        else:
            yield file


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _names_in(path: Path) -> frozenset[str]:
    """Return the names in a folder; none where it is none."""
    try:
        with os.scandir(path) as found:
            return frozenset(entry.name for _, entry in zip(range(_FILES_MAX), found, strict=False))
    except OSError:
        return frozenset()


def _read_note(note: Path) -> tuple[frozenset[str], dict[str, frozenset[str]]]:
    """Return the names of the secrets that were known, and the files. A torn or forged note names none."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError, LookupError, RecursionError):
        if note.stat().st_size <= _NOTE_BYTES_MAX:
            said = json.loads(note.read_text())
            files = {str(name): frozenset(map(str, before)) for name, before in said["files"].items()}
            return frozenset(map(str, said["names"])), files
    return frozenset(), {}
