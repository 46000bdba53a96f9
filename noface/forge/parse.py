"""From the JSON of GitHub's answers to values, and to records of pull requests, checks and reviews. Pure.

A field that is missing or of another type is taken for absent.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

from noface.model.pull_request import Check, CheckState, PullRequest, PullReview, PullState, ReviewComment, ReviewState
from noface.model.quoting import short

Object = Mapping[str, Any]

_ACTIONS = "github-actions"
JOB = "job"
RUN = "run"
_JOB = re.compile(r"/actions/runs/\d+/job/(?P<job>\d+)")
_EXITED = re.compile(r"Process completed with exit code \d+\.\Z")
"""What GitHub puts on every job that failed: it says nothing."""
_SUMMARY_CHARS_MAX = 2_000
_TIME = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,9}Z ?", re.MULTILINE)
_STEP = re.compile(r"##\[group\]Run |Post job cleanup\.|Cleaning up orphan processes")
_FAILED = re.compile(r"##\[error\](?:Process completed with exit code|The operation was canceled|.* has timed out)")
_ERROR = "##[error]"
_GHOST = "ghost"


def text(source: object, *keys: str) -> str:
    value = _at(source, keys)
    return value if isinstance(value, str) else ""


def number(source: object, *keys: str) -> int:
    value = _at(source, keys)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def listed(source: object, *keys: str) -> list[Any]:
    value = _at(source, keys)
    return value if isinstance(value, list) else []


def table(source: object, *keys: str) -> Object:
    value = _at(source, keys)
    return value if isinstance(value, Mapping) else {}


def objects(source: object, *keys: str) -> list[Object]:
    return [entry for entry in listed(source, *keys) if isinstance(entry, Mapping)]


def flag(source: object, *keys: str) -> bool:
    return _at(source, keys) is True


def time_of(source: object, *keys: str) -> float | None:
    try:
        at = datetime.fromisoformat(text(source, *keys))
    except ValueError:
        return None
    return at.timestamp() if at.tzinfo is not None else None


def author_of(source: object) -> str:
    return text(source, "user", "login") or _GHOST


def _at(source: object, keys: Sequence[str]) -> object:
    for key in keys:
        if not isinstance(source, Mapping):
            return None
        source = source.get(key)
    return source


def pull_request(source: Object, closed_by: str = "") -> PullRequest:
    """Return a pull request, as a listing or its own page shows it. A page alone tells whether it can be merged."""
    merged = flag(source, "merged") or bool(text(source, "merged_at"))
    closed = text(source, "state") == "closed"
    mergeable = source.get("mergeable")
    return PullRequest(
        number=number(source, "number"),
        url=text(source, "html_url"),
        state=PullState.MERGED if merged else PullState.CLOSED if closed else PullState.OPEN,
        branch=text(source, "head", "ref"),
        head=text(source, "head", "sha"),
        base=text(source, "base", "sha"),
        title=text(source, "title"),
        body=text(source, "body"),
        merge_commit=text(source, "merge_commit_sha") if merged else "",
        closed_by=text(source, "merged_by", "login") if merged else closed_by,
        mergeable=mergeable if isinstance(mergeable, bool) else None,
        draft=flag(source, "draft"),
        updated_at=time_of(source, "updated_at"),
    )


def is_own(source: Object) -> bool:
    return number(source, "head", "repo", "id") == number(source, "base", "repo", "id") != 0


_CONCLUSIONS = {
    "success": CheckState.PASSED,
    "neutral": CheckState.SKIPPED,
    "skipped": CheckState.SKIPPED,
    "failure": CheckState.FAILED,
    "timed_out": CheckState.FAILED,
    "startup_failure": CheckState.FAILED,
    "cancelled": CheckState.CANCELLED,
    "stale": CheckState.CANCELLED,
    "action_required": CheckState.NEEDS_PERSON,
}
_STATUSES = {
    "success": CheckState.PASSED,
    "failure": CheckState.FAILED,
    "error": CheckState.FAILED,
    "pending": CheckState.PENDING,
}
_TELLING = (
    CheckState.PENDING,
    CheckState.FAILED,
    CheckState.NEEDS_PERSON,
    CheckState.PASSED,
    CheckState.CANCELLED,
    CheckState.SKIPPED,
)
"""Which of several checks of one name and one app speaks for them: two workflows may have a job of the same name."""


def checks(runs: Iterable[Object], jobs: Iterable[Object], statuses: Iterable[Object]) -> tuple[Check, ...]:
    """Return each check of a commit once: check runs, a workflow's jobs if those cannot be had, and statuses.

    Of one suite and name the newest counts, since it was run again.
    """
    newest: dict[tuple[str, str, str], Object] = {}
    for run in sorted(runs, key=lambda run: number(run, "id")):
        app, suite = text(run, "app", "slug"), str(number(run, "check_suite", "id"))
        newest[app, text(run, "name"), suite] = run
    for job in sorted(jobs, key=lambda job: number(job, "id")):
        newest[_ACTIONS, text(job, "name"), str(number(job, "run_id"))] = {**job, "app": {"slug": _ACTIONS}}
    newest_checks: dict[tuple[str, str], Check] = {}
    for (app, name, _), run in newest.items():
        check = _check_run(run)
        known = newest_checks.get((app, name))
        if known is None or _TELLING.index(check.state) < _TELLING.index(known.state):
            newest_checks[app, name] = check
    seen: dict[str, Check] = {}
    for status in statuses:  # GitHub lists the newest first
        seen.setdefault(
            text(status, "context"),
            Check(
                text(status, "context"),
                _STATUSES.get(text(status, "state"), CheckState.NEEDS_PERSON),
                url=text(status, "target_url"),
                summary=text(status, "description"),
            ),
        )
    return tuple(sorted((*newest_checks.values(), *seen.values()), key=lambda check: check.name))


def _check_run(run: Object) -> Check:
    state = CheckState.PENDING
    if text(run, "status") == "completed":
        state = _CONCLUSIONS.get(text(run, "conclusion"), CheckState.NEEDS_PERSON)
    words = (text(run, "output", "title"), text(run, "output", "summary"))
    match = _JOB.search(text(run, "details_url") or text(run, "html_url"))
    of_actions = text(run, "app", "slug") == _ACTIONS
    job = match["job"] if match is not None and of_actions else str(number(run, "id")) if of_actions else ""
    return Check(
        text(run, "name"),
        state,
        url=text(run, "html_url") or text(run, "details_url"),
        id=f"{JOB}:{job}" if job else f"{RUN}:{number(run, 'id')}",
        summary=short(" ".join(filter(None, words)), _SUMMARY_CHARS_MAX),
    )


def annotations_text(run: Object, annotations: Iterable[Object]) -> str:
    """Return what a check run itself says of its failure: its summary, and its points with their places."""
    parts = [text(run, "output", key).strip() for key in ("title", "summary", "text")]
    for point in annotations:
        if text(point, "annotation_level") == "notice" or _EXITED.match(text(point, "message")):
            continue
        place, line = text(point, "path"), number(point, "start_line")
        words = [word for word in (text(point, "title"), text(point, "message"), text(point, "raw_details")) if word]
        parts.append(f"{place}:{line}: {text(point, 'annotation_level')}: {': '.join(words)}")
    return "\n".join(part for part in parts if part)


def failed_steps(log: str) -> str:
    """Return the lines of a job's steps that failed, without their times; the whole log if none can be told."""
    whole = _TIME.sub("", log.replace("\r\n", "\n").removeprefix("\ufeff"))
    lines = whole.split("\n")
    begins = [0, *(at for at, line in enumerate(lines) if at and _STEP.match(line)), len(lines)]
    steps = [lines[start:end] for start, end in pairwise(begins)]
    failed = [step for step in steps if any(_FAILED.match(line) for line in step)]
    failed = failed or [step for step in steps if any(line.startswith(_ERROR) for line in step)]
    return "\n".join(line for step in failed for line in step) if failed else whole


def reviews(
    given: Iterable[Object], comments: Iterable[Object], plain: Iterable[Object]
) -> Iterator[tuple[PullReview, Object]]:
    """Yield reviews, comments on lines that no review holds, and plain comments, each with what it was made of.

    A review that its author has not sent yet (PENDING) is nobody else's to read.
    """
    by_review: dict[int, list[Object]] = {}
    for comment in comments:
        by_review.setdefault(number(comment, "pull_request_review_id"), []).append(comment)
    for source in given:
        state = ReviewState.__members__.get(text(source, "state"))
        own = by_review.pop(number(source, "id"), [])
        if state is not None:
            review = _review(source, state, time_of(source, "submitted_at"))
            yield replace(review, comments=tuple(map(_comment, own))), source
    for comment in (comment for held in by_review.values() for comment in held):
        review = _review(comment, ReviewState.COMMENTED, time_of(comment, "created_at"))
        yield replace(review, text="", comments=(_comment(comment),)), comment
    for comment in plain:
        review = _review(comment, ReviewState.COMMENTED, time_of(comment, "created_at"))
        yield replace(review, commit=""), comment


def _review(source: Object, state: ReviewState, at: float | None) -> PullReview:
    return PullReview(
        id=number(source, "id"),
        author=author_of(source),
        state=state,
        text=text(source, "body"),
        commit=text(source, "commit_id") or text(source, "original_commit_id"),
        at=at or 0.0,
        url=text(source, "html_url"),
    )


def _comment(source: Object) -> ReviewComment:
    lines = (number(source, key) for key in ("start_line", "line", "original_start_line", "original_line"))
    start, line, first, original = lines
    place = (start or line) if line else (first or original)
    return ReviewComment(
        id=number(source, "id"),
        author=author_of(source),
        text=text(source, "body"),
        path=text(source, "path"),
        line=place or None,
        url=text(source, "html_url"),
        thread=number(source, "in_reply_to_id") or number(source, "id"),
    )
