"""A tracker that holds its issues in memory; it passes the same contract tests as those that ship."""

import hashlib
from collections.abc import Collection
from dataclasses import replace

from noface.model.backlog import check
from noface.model.issue import Backlog, Issue
from noface.trackers.issue_file import checked_draft, empty_body, next_id


class MemoryTracker:
    """A tracker whose issues are put and removed by calls; it keeps every promise of Tracker."""

    def __init__(self) -> None:
        self._issues: dict[str, Issue] = {}
        self._changes = 0

    def put(self, issue: Issue) -> Issue:
        """Add the issue, or put it in the place of the one with the same id; returns it with source and hash."""
        source = issue.source or f"memory/{issue.id}"
        digest = issue.content_hash or hashlib.sha256(repr(issue).encode("utf-8", "replace")).hexdigest()[:16]
        stored = replace(issue, source=source, content_hash=digest)
        self._issues[issue.id] = stored
        self._changes += 1
        return stored

    def remove(self, issue_id: str) -> None:
        """Take the issue out. Raises KeyError for an unknown id."""
        del self._issues[issue_id]
        self._changes += 1

    @property
    def protected(self) -> tuple[str, ...]:
        """Nothing: no file holds an issue."""
        return ()

    def fingerprint(self) -> str:
        """Return the number of changes so far."""
        return str(self._changes)

    def backlog(self, merged: Collection[str] = ()) -> Backlog:
        """Check the issues put so far."""
        checked = check(self._issues.values(), merged=merged)
        warnings = (empty_body(each.source, each.id) for each in self._issues.values() if not each.body.strip())
        return replace(checked, warnings=tuple(warnings))

    def add(self, draft: Issue, merged: Collection[str] = ()) -> Issue:
        """Put a new issue under the next number; see Tracker.add."""
        sound = checked_draft(draft, [*self._issues, *merged])
        return self.put(replace(sound, id=next_id([*self._issues, *merged])))
