"""Where the copy of GitHub's issues lies in noface's state, and its fingerprint: many commands need no more of it."""

from pathlib import Path

from noface.data.trackers import TrackerSettings
from noface.trackers.folder import checksum

FOLDER = "github"
ISSUES = "issues.json"
SYNC = "sync.json"


def github_fingerprint(settings: TrackerSettings, _root: Path, state: Path) -> str:
    return fingerprint(settings, state / FOLDER)


def fingerprint(settings: TrackerSettings, folder: Path) -> str:
    """Hash time, size and inode of the copy, which is only ever replaced, and what makes a backlog of it."""
    try:
        status = (folder / ISSUES).stat()
        seen = (status.st_mtime_ns, status.st_size, status.st_ino)
    except OSError:
        seen = None
    return checksum((seen, (settings.label, settings.authors, settings.gates)))
