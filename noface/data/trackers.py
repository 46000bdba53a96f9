"""The trackers that `[tracker] kind` can name. A new one is a module of noface/trackers and an entry here.

Nothing is imported for being named: commands that only look at the backlog's rows need no more than a fingerprint.
"""

from typing import NamedTuple


class TrackerEntry(NamedTuple):
    """What the configuration says of a tracker, and where its parts stand, as `module:name`.

    Both parts are called with the repository's top folder and the place of the issues in it. `fingerprint` returns the
    same as the tracker's method, and imports little.
    """

    what: str
    tracker: str
    fingerprint: str


TRACKERS = {
    "files": TrackerEntry(
        "one Markdown file an issue", "noface.trackers.files:FilesTracker", "noface.trackers.folder:fingerprint"
    ),
}
DEFAULT_TRACKER = "files"
DEFAULT_PLACE = "issues"
