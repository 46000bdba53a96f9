"""A throw-away copy of the workspace: candidates are written and tested here, never in the workspace itself."""

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

_NOT_COPIED = {".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis"}
_LINKED = {"node_modules", ".venv", "venv", ".tox", ".nox"}
_COPY_BYTES_MAX = 5 * 2**20


class Scratch:
    """The copy of `workspace` under the folder `root`, removed at the end of the `with` block."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self._holder = Path(tempfile.mkdtemp(prefix="noface-repair-")).resolve()
        self.root = self._holder / workspace.name
        self._times: dict[str, int] = {}
        self._writes = 0
        _copy_tree(workspace, self.root)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, at: TracebackType | None) -> None:
        shutil.rmtree(self._holder, ignore_errors=True)

    def read(self, path: str) -> bytes:
        """Return the bytes of a file of the copy."""
        return (self.root / path).read_bytes()

    def write(self, texts: dict[str, bytes]) -> None:
        """Write candidate texts, each with a modification time never used before.

        Python trusts a compiled file when the source's size and time in whole seconds are as recorded; two
        candidates written within a second would else pass for each other.
        """
        for path, data in texts.items():
            file = self.root / path
            self._writes += 1
            first = self._times.setdefault(path, file.stat().st_mtime_ns // 10**9)
            file.write_bytes(data)
            os.utime(file, (first + self._writes, first + self._writes))


def _copy_tree(source: Path, target: Path) -> None:
    """Copy the files; link environments and very large files, which no candidate changes."""
    target.mkdir(parents=True)
    for entry in os.scandir(source):
        into = target / entry.name
        if entry.name in _NOT_COPIED:
            continue
        if entry.is_symlink():
            into.symlink_to(Path(entry.path).readlink())
        elif entry.name in _LINKED or (entry.is_file() and entry.stat().st_size > _COPY_BYTES_MAX):
            into.symlink_to(Path(entry.path).resolve())
        elif entry.is_dir():
            _copy_tree(Path(entry.path), into)
        elif entry.is_file():
            shutil.copy2(entry.path, into)
