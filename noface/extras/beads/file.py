"""The files of a beads folder: which one holds the issues, and the folder's fingerprint.

`bd` keeps a database of its own and writes all issues to `issues.jsonl` (`beads.jsonl` in its first months) for git.
Since its database is one of Dolt it writes that file only if it is asked to, so the file may be weeks old.
"""

import json
import os
import time
from pathlib import Path

from noface.data.trackers import TrackerSettings
from noface.trackers.folder import checksum

FILE_NAMES = ("issues.jsonl", "beads.jsonl")
_DATABASES = ("dolt", "embeddeddolt")
_SQLITE = "*.db*"
_EXPORT_NS = 30 * 10**9
"""Its daemon writes the file some seconds after the database."""
_METADATA_BYTES_MAX = 1 << 20
_ASKED_EACH_S = 30


def beads_fingerprint(settings: TrackerSettings, root: Path, _state: Path) -> str:
    return fingerprint(root / settings.path, settings.gates)


def fingerprint(folder: Path, gates: tuple[str, ...]) -> str:
    if in_dolt(folder):  # a server may keep it anywhere, so time has to tell that it may have changed
        heads = sorted(head for name in _DATABASES for head in folder.glob(f"{name}/*/.dolt/noms/manifest"))
        return checksum(([stamp(head) for head in heads], int(time.time() / _ASKED_EACH_S), gates))
    path = find(folder)
    return checksum(([stamp(each) for each in (path, *folder.glob(_SQLITE)) if each is not None], gates))


def in_dolt(folder: Path) -> bool:
    """True if the issues are in a database of Dolt, of which the file is a copy."""
    try:
        with (folder / "metadata.json").open("rb") as file:
            metadata = json.loads(file.read(_METADATA_BYTES_MAX))
    except (OSError, ValueError):
        metadata = {}
    named = isinstance(metadata, dict) and "dolt" in (metadata.get("backend"), metadata.get("database"))
    return named or any((folder / name).is_dir() for name in _DATABASES)


def is_older(path: Path) -> bool:
    """True if a database of SQLite beside the file was written after it, and not just now."""
    own, times = stamp(path), [seen[1] for each in path.parent.glob(_SQLITE) if (seen := stamp(each)) is not None]
    return own is not None and max(times, default=0) > own[1] + _EXPORT_NS


def find(folder: Path) -> Path | None:
    return next((folder / name for name in FILE_NAMES if os.path.lexists(folder / name)), None)


def stamp(path: Path) -> tuple[str, int, int, int, int] | None:
    """Return what is the same while the file has not changed; None if it cannot be looked at."""
    try:
        status = path.lstat()
    except OSError:
        return None
    return (path.name, status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode)
