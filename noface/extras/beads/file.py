"""The file of a beads folder: which one it is, its fingerprint, its bytes.

`bd` keeps a database of its own and writes all issues to `issues.jsonl` (`beads.jsonl` in its first months) for git.
"""

import os
from pathlib import Path

from noface.data.trackers import TrackerSettings
from noface.trackers.folder import checksum

FILE_NAMES = ("issues.jsonl", "beads.jsonl")


def beads_fingerprint(settings: TrackerSettings, root: Path, _state: Path) -> str:
    return fingerprint(root / settings.path, settings.gates)


def fingerprint(folder: Path, gates: tuple[str, ...]) -> str:
    path = find(folder)
    return checksum((stamp(path) if path is not None else None, gates))


def find(folder: Path) -> Path | None:
    return next((folder / name for name in FILE_NAMES if os.path.lexists(folder / name)), None)


def stamp(path: Path) -> tuple[str, int, int, int, int] | None:
    """Return what is the same while the file has not changed; None if it cannot be looked at."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return (path.name, status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)
