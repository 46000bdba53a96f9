"""Finds the issue that a person named on the command line."""

import sqlite3

from noface.core.backlog import same_id
from noface.errors import UsageError
from noface.store.reader import Reader
from noface.views.text import clean

_NEAREST_MAX = 3


def find_issue(reader: Reader, wanted: str) -> sqlite3.Row:
    """Return an issue's row by its id; 7, 007 and #7 are the same.

    Raises UsageError for an id that no issue has, naming the nearest ones, and for a faulty issue.
    """
    name = wanted.removeprefix("#")
    row = reader.issue(name)
    if row is not None:
        return row
    ids = [str(row["id"]) for row in reader.issues()]
    same = [known for known in ids if same_id(known) == same_id(name)]
    row = reader.issue(same[0]) if same else None
    if row is not None:
        return row
    for fault in reader.faults():
        if fault.id is not None and same_id(fault.id) == same_id(name):
            raise UsageError(f"issue {fault.id} is faulty: {fault.source}: {fault.problem}", fault.hint)
    raise UsageError(f"there is no issue {clean(wanted)[:80]}", _nearest(name, ids))


def _nearest(name: str, ids: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name[:80], ids, n=_NEAREST_MAX, cutoff=0.5)
    if not close and name.isdigit() and len(name) < 10:  # noqa: PLR2004 - no id's number is longer
        numbers = [known for known in ids if known.isascii() and known.isdigit()]
        close = sorted(numbers, key=lambda known: abs(int(known) - int(name)))[:_NEAREST_MAX]
    meant = f"Nearest: {', '.join(close)}. " if close else ""
    return f"{meant}All of them: noface issues"
