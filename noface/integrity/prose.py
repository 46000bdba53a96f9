"""Tells notes from work: a change of prose alone, where the issue asks for something that programs do. Pure.

Workers that find their issue unclear write questions into files: these go to a person, and do not land.
"""

import re
from collections.abc import Collection

from noface.data import pattern
from noface.diagnosis.agent import meaning_of
from noface.integrity.asked_for import asks_for, names_file, words_of
from noface.model.attempt import ABSENT, FileChange
from noface.model.failure import Failure
from noface.model.issue import Issue
from noface.model.patch import changed_lines, decoded
from noface.model.quoting import short
from noface.model.taxonomy import FailureKind

ONLY_PROSE = "only-prose"
"""The rule of notes in place of work."""
_TEXT_CHARS_MAX = 8_000
_SHOWN_CHARS_MAX = 1_000
_ISSUE_CHARS_MAX = 600
"""What an issue is about stands at its beginning; a long text mentions much."""
_MARKS = re.compile(r"^[\s#/*<>!;-]+|\s*(\*/|-->)$")


def is_prose(path: str) -> bool:
    for_people = _names("files").search(path) is not None and _names("not_files").search(path) is None
    return for_people or _names("notes").search(path) is not None


def notes_instead(issue: Issue, changes: Collection[FileChange], patch: str) -> Failure | None:
    """Return the failure of a change of prose, and of comments, for an issue that asks for work; None for any other."""
    written = [_MARKS.sub("", line.text) for line in changed_lines(patch) if not line.removed]
    text = "\n".join(written).strip()[:_TEXT_CHARS_MAX]
    notes = any(change.old_mode == ABSENT and _names("notes").search(change.path) for change in changes)
    wanted = asks_for("prose", (issue.title, "" if notes else issue.body[:_ISSUE_CHARS_MAX]))
    named = any(is_prose(change.path) and names_file(issue, change.path) for change in changes)
    if not text or wanted or named or any(change.new_mode == ABSENT for change in changes):
        return None
    meaning = meaning_of(text)
    behaves = any(_names("behaviour").search(words) for words in words_of(issue))
    if not (notes or behaves or meaning.kind is FailureKind.AGENT_CONFUSION or _names("note").search(text)):
        return None
    asked = tuple(dict.fromkeys((*meaning.questions, short(text, _SHOWN_CHARS_MAX))))
    return Failure(
        FailureKind.AGENT_CONFUSION,
        f"the worker changed prose alone, and writes: {short(asked[0], _SHOWN_CHARS_MAX)}",
        rule=ONLY_PROSE,
        signature=ONLY_PROSE,
        evidence=tuple(decoded(change.path) for change in changes),
        excerpt=text,
        questions=asked,
    )


def _names(key: str) -> re.Pattern[str]:
    return pattern("integrity", "prose", key, re.IGNORECASE | re.MULTILINE)
