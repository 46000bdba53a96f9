"""The trackers a configuration can name. A new one is a module of this package and a line here."""

from collections.abc import Callable
from pathlib import Path

from noface.trackers.base import Tracker
from noface.trackers.files import FilesTracker

TRACKERS: dict[str, Callable[[Path, str], Tracker]] = {
    "files": FilesTracker,
}
"""By name, a maker that takes the repository's top folder and the place of the issues in it."""
