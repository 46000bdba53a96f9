"""The trackers that `[tracker] kind` can name.

A new one is a module of noface/trackers, or a folder of noface/extras, and an entry here. Nothing is imported for
being named: commands that only look at the backlog's rows need no more than a fingerprint.
"""

from collections.abc import Mapping
from typing import NamedTuple

from noface.data.extras import EXTRAS


class TrackerSettings(NamedTuple):
    """What noface.toml says about where issues come from. `repository` and `url` are those of `[github]`.

    `gates` are the commands of `[[gates]]`: from a text that others may write only their forms are taken.
    """

    kind: str
    path: str
    label: str = ""
    authors: tuple[str, ...] = ()
    repository: str = ""
    url: str = ""
    gates: tuple[str, ...] = ()
    remote: str = ""


class TrackerEntry(NamedTuple):
    """What the configuration says of a tracker, and where its parts stand, as `module:name`.

    Both parts get the settings, the repository's top folder and that of noface's state; `fingerprint` imports little.
    """

    what: str
    tracker: str
    fingerprint: str
    place: str
    remote: bool = False


TRACKERS = {
    "files": TrackerEntry(
        "one Markdown file an issue",
        "noface.trackers.files:open_files",
        "noface.trackers.folder:files_fingerprint",
        "issues",
    ),
    "github": TrackerEntry(
        "issues of the repository on GitHub",
        "noface.trackers.github.tracker:open_github",
        "noface.trackers.github.fingerprint:github_fingerprint",
        "",
        remote=True,
    ),
    "beads": TrackerEntry("issues of beads (bd)", EXTRAS["tracker beads"], EXTRAS["fingerprint beads"], ".beads"),
}
DEFAULT_TRACKER = "files"
DEFAULT_LABEL = "ready-for-agent"


def tracker_settings(tables: Mapping[str, object]) -> TrackerSettings | None:
    """Return the settings that the tables of noface.toml hold; None where they name no known tracker.

    What is of a wrong type is taken for absent: `noface config check` names it.
    """
    tracker, github = (_table(tables.get(name)) for name in ("tracker", "github"))
    kind = _text(tracker, "kind", DEFAULT_TRACKER)
    entry = TRACKERS.get(kind)
    if entry is None:
        return None
    authors, gates = tracker.get("authors"), tables.get("gates")
    commands = [each.get("command") for each in map(_table, gates)] if isinstance(gates, (list, tuple)) else []
    return TrackerSettings(
        kind,
        _text(tracker, "path", entry.place),
        label=_text(tracker, "label", DEFAULT_LABEL) if tracker.get("label") != "" else "",
        authors=tuple(map(str, authors)) if isinstance(authors, (list, tuple)) else (),
        repository=_text(github, "repository", ""),
        url=_text(github, "url", ""),
        gates=tuple(each.strip() for each in commands if isinstance(each, str)),
    )


def _table(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _text(table: Mapping[str, object], key: str, default: str) -> str:
    value = table.get(key)
    return value if isinstance(value, str) and value else default
