"""What the issue files said when they were last read, kept in noface's state: not each command parses a large folder.

Only sound issues are kept, and none in which the masker finds a secret (I12). A file counts as unchanged while name,
times, size, inode and mode are what they were. What another noface wrote, or nobody, is not used.
"""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from typing import Any

from noface import __version__
from noface.model.issue import Issue
from noface.process.files import write_atomic
from noface.trackers.folder import IssueFile
from noface.trackers.issue_file import ParsedFile

_AT_ONCE = 100
"""So many issues are looked through for secrets together: for each alone it takes four times as long."""
NEW_MAX = 100
"""So many files are read again by each command rather than that all are written down anew."""
_NAMES = [field.name for field in fields(Issue)]
_TUPLES = [place for place, field in enumerate(fields(Issue)) if field.default == ()]
_VALUES, _WRITTEN_BY = attrgetter(*_NAMES), [__version__, *_NAMES]

Parsed = Mapping[str, tuple[IssueFile, ParsedFile]]


def read_back(path: Path, folder: str) -> dict[str, tuple[IssueFile, ParsedFile]]:
    """Return what is known of the files of `folder`, by their names; nothing if there is no such record."""
    with suppress(OSError, ValueError, TypeError, KeyError):
        record = json.loads(path.read_bytes())
        if record["by"] == _WRITTEN_BY and record["folder"] == folder:
            return {file[0]: (IssueFile(*file), ParsedFile(_issue(values))) for file, values in record["files"]}
    return {}


def write_down(path: Path, folder: str, parsed: Parsed) -> None:
    """Keep what the files said of sound issues; does nothing where there is no state yet, or it cannot be written."""
    from noface.process.masking import known_secrets

    if not path.parent.is_dir():
        return
    hides = known_secrets(()).text
    sound = [
        (file, each.result) for file, each in parsed.values() if isinstance(each.result, Issue) and not each.warnings
    ]
    files: list[tuple[IssueFile, tuple[object, ...]]] = []
    for start in range(0, len(sound), _AT_ONCE):
        some = sound[start : start + _AT_ONCE]
        if (text := "\n".join(map(_words, (issue for _, issue in some)))) != hides(text):
            some = [(file, issue) for file, issue in some if (own := _words(issue)) == hides(own)]
        files += [(file, _VALUES(issue)) for file, issue in some]
    with suppress(OSError, ValueError):
        text = json.dumps({"by": _WRITTEN_BY, "folder": folder, "files": files}, separators=(",", ":"))
        write_atomic(path, text, durable=False)


def _words(issue: Issue) -> str:
    return "\n".join((issue.title, issue.body, *issue.labels, *issue.paths, *issue.accept))


def _issue(values: list[Any]) -> Issue:
    for place in _TUPLES:
        values[place] = tuple(values[place])
    return Issue(*values)
