"""Gathers the failures that this repository has recorded, for the commands on hints."""

from dataclasses import replace
from pathlib import Path

from noface.cli.look import Look, merged_ids
from noface.core.attempt import PastAttempt
from noface.core.hint_mining import PastFailure, past_failures
from noface.core.issue import Issue
from noface.core.patch_lines import changed_lines
from noface.system.files import read_regular

_PATCH_BYTES_MAX = 1_000_000


def recorded(look: Look) -> tuple[PastFailure, ...]:
    """Return the failures of all issues and all epochs, in the order they happened."""
    known = issues(look)
    found: list[tuple[float, PastFailure]] = []
    for issue_id in look.reader.attempted():
        past = attempts(look, issue_id)
        ended = {attempt.number: attempt.finished_at for attempt in past}
        failures = past_failures(known.get(issue_id) or nameless(look, issue_id), past)
        found += [(ended[failure.number], failure) for failure in failures]
    found.sort(key=lambda pair: pair[0])
    return tuple(failure for _, failure in found)


def issues(look: Look) -> dict[str, Issue]:
    """Return the sound issues of the backlog by id: labels and paths stand only in their files."""
    return {issue.id: issue for issue in look.tracker.backlog(merged_ids(look.reader)).issues}


def nameless(look: Look, issue_id: str) -> Issue:
    """Return what is left of an issue whose file is gone or faulty."""
    row = look.reader.issue(issue_id)
    return Issue(issue_id, row["title"] if row is not None else "")


def attempts(look: Look, issue_id: str) -> tuple[PastAttempt, ...]:
    """Return an issue's finished attempts; what they changed is read from their patch where no record says it."""
    folders = {row["number"]: Path(row["directory"]) for row in look.reader.attempts(issue_id)}
    return tuple(
        attempt if attempt.changed else replace(attempt, changed=_changed(folders[attempt.number]))
        for attempt in look.reader.past(issue_id)
    )


def _changed(directory: Path) -> tuple[str, ...]:
    patch = (read_regular(directory / "diff.patch", _PATCH_BYTES_MAX) or b"").decode("utf-8", "replace")
    return tuple(dict.fromkeys(line.path for line in changed_lines(patch)))
