"""Comments on lines of a diff: collected in the database, and sent as one review to the next attempt.

The review is a person's note. If another attempt has changed the work since, it is refused, and stays to be copied.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from noface.cli.session import ReadSession
from noface.errors import UsageError
from noface.extras.board.deciding import Displayed, decide, displayed
from noface.model.patch import PatchFile, patch_files
from noface.model.quoting import printable_lines
from noface.process.files import read_bounded
from noface.store.reader import Reader
from noface.store.records import AttemptRow

_PATCH_BYTES_MAX = 4 << 20
_COMMENTS_MAX = 200
_COMMENT_CHARS_MAX = 4_000
_LINES_MAX = 40
_SENT_BY = {"approval": "reject", "blocked": "retry", "skipped": "retry"}
"""The verb that a review is sent with, by the status of its issue; else it is kept for the worker to come."""


class LineComment(NamedTuple):
    """What a person says of the rows of a patch from `at` to `end`."""

    at: int
    end: int
    text: str


class LineReview(NamedTuple):
    """What was collected about the work of an attempt, by its commit."""

    attempt: int = 0
    commit: str = ""
    comments: tuple[LineComment, ...] = ()


def attempt_diff(attempt: AttemptRow) -> tuple[PatchFile, ...]:
    path = Path(attempt.directory) / "diff.patch"
    text = read_bounded(path, _PATCH_BYTES_MAX, 0) if path.is_file() else ""
    return tuple(patch_files(text)) if text else ()


def kept_review(reader: Reader, issue_id: str) -> LineReview:
    try:
        kept = json.loads(reader.fact(_fact(issue_id)) or "null") or {}
        comments = tuple(LineComment(int(at), int(end), str(text)) for at, end, text in kept["comments"])
        return LineReview(int(kept["attempt"]), str(kept["commit"]), comments)
    except (ValueError, TypeError, KeyError):
        return LineReview()


def _fact(issue_id: str) -> str:
    return f"review_of:{issue_id}"


def _keep(state: ReadSession, issue_id: str, review: LineReview) -> None:
    kept = {"attempt": review.attempt, "commit": review.commit, "comments": review.comments}
    state.journal.fact(_fact(issue_id), json.dumps(kept) if review.comments else "")


def comment(state: ReadSession, issue_id: str, made: LineComment, seen: Displayed) -> None:
    """Collect a comment on the work that its page showed; an empty one takes away what was remarks of its row."""
    text = made.text.strip().encode("utf-8", "replace").decode()
    if len(text) > _COMMENT_CHARS_MAX:
        raise UsageError(f"the comment is too long: {len(text):,} characters, at most {_COMMENT_CHARS_MAX:,}")
    with state.database.transaction():
        _lines_of(attempt_diff(_unmoved(state, issue_id, seen)), made)
        before = kept_review(state.reader, issue_id)
        others = before.comments if before.commit == seen.commit else ()
        others = tuple(each for each in others if each.at != made.at)
        if len(others) >= _COMMENTS_MAX:
            raise UsageError(f"a review has at most {_COMMENTS_MAX} comments")
        comments = tuple(sorted((*others, made._replace(text=text)))) if text else others
        _keep(state, issue_id, LineReview(seen.attempt, seen.commit, comments))


def send(state: ReadSession, issue_id: str, words: str, seen: Displayed) -> str:
    """Send what was collected, with `words` above it; return what was done. Raises UsageError if the diff moved."""
    with state.database.transaction():
        attempt = _unmoved(state, issue_id, seen)
        review = kept_review(state.reader, issue_id)
        if not review.comments:
            raise UsageError("there is no comment to send")
        if (review.attempt, review.commit) != (seen.attempt, seen.commit):
            raise _moved(issue_id, review.attempt, seen.attempt)
        files = attempt_diff(attempt)
        remarks = "\n\n".join(f"{_lines_of(files, each)}\n{each.text}" for each in review.comments)
        head = f"A review of the change that attempt {review.attempt} made, by a person; answer each comment:"
        note = "\n\n".join(part for part in (words.strip(), head, remarks) if part)
        done = decide(state, issue_id, _SENT_BY.get(seen.status, "note"), note, seen)
        _keep(state, issue_id, LineReview())
    return done


def _unmoved(state: ReadSession, issue_id: str, seen: Displayed) -> AttemptRow:
    """Return the attempt whose work was shown. Raises UsageError if that is not the newest work any more."""
    now = displayed(state.reader, issue_id)
    attempt = state.reader.attempt(issue_id, seen.attempt)
    if attempt is None or not seen.commit or (now.attempt, now.commit) != (seen.attempt, seen.commit):
        raise _moved(issue_id, seen.attempt, now.attempt)
    return attempt


def _moved(issue_id: str, before: int, now: int) -> UsageError:
    return UsageError(
        f"the change of issue {issue_id} has moved: this is about attempt {before}, and its newest is {now}",
        "Nothing was changed. The comments are kept: copy what still holds.",
    )


def _lines_of(files: Sequence[PatchFile], made: LineComment) -> str:
    """Return what a comment is about: file, lines, and their text. Raises UsageError for rows that are none."""
    for file in files:
        rows = [row for row in file.rows if made.at <= row.at <= max(made.end, made.at) and row.sign != "@"]
        if rows and rows[0].at == made.at:
            if len(rows) > _LINES_MAX:
                raise UsageError(f"a comment is about at most {_LINES_MAX} lines")
            first, last = (rows[at].new or rows[at].old for at in (0, -1))
            where = f"line {first}" if first == last else f"lines {first} to {last}"
            quoted = "\n".join(f"> {row.sign}{printable_lines(row.text)}" for row in rows)
            return f"{file.path}, {where}:\n{quoted}"
    raise UsageError("there is no such line in this change")
