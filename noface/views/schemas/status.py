"""The schema of `noface status --json`; `views/status.py` makes the document."""

from noface.core.taxonomy import FailureKind, IssueStatus
from noface.views.schemas.parts import (
    Schema,
    first,
    integer,
    listed,
    moment,
    names,
    number,
    or_null,
    record,
    text,
    texts,
    truth,
    word,
)

DESCRIBES = "where every issue stands: `noface status --json`"


def schema() -> Schema:
    """Return the schema of the document."""
    fault = record(
        "An issue file that cannot be run as written.",
        source=text("The file."),
        problem=text("What is wrong."),
        hint=text("What to do about it; may be empty."),
    )
    gap = record("Something a worker missed.", id=text("The issue."), gap=text("What was missing."))
    counts = {
        "description": "How many issues have each status; a status that none has is left out.",
        "type": "object",
        "propertyNames": {"enum": list(names(IssueStatus))},
        "additionalProperties": integer("How many.", 1),
    }
    return first(
        "Where every issue stands.",
        issues=listed("The issues, in the order they are worked on.", _issue()),
        counts=counts,
        faults=listed("The issues that cannot be run as written.", fault),
        gaps=listed("What workers of the newest run reported as missing.", gap),
        run=or_null(_run()),
    )


def _issue() -> Schema:
    failure = record(
        "How its last attempt failed; null where it did not.",
        kind=word("Why.", names(FailureKind)),
        message=text("What went wrong."),
    )
    return record(
        "An issue.",
        id=text("Its id."),
        title=text("Its title."),
        status=word("Where it stands.", names(IssueStatus)),
        attempts=integer("The attempts that count against its limit, since it was last given back."),
        model=or_null(text("The entry of [models] that worked on it last.")),
        last_failure=or_null(failure),
        branch=or_null(text("The branch with its best work.")),
        merged_commit=or_null(text("The commit of main that holds it.")),
        cost_usd=or_null(number("What it has cost, in dollars; null where nobody said.")),
        reason=text("Why it stands there; may be empty."),
        until=or_null(moment("While it waits for a time: until when.")),
        priority=integer("0 is most urgent."),
        satisfied=truth("Skipped since main holds already what it asks for."),
        parent=or_null(text("The issue it is a part of.")),
        parts=texts("The ids of its parts, where it was divided."),
    )


def _run() -> Schema:
    return record(
        "The newest run; null before the first.",
        id=text("Its id."),
        pid=integer("Its process.", 1),
        started_at=moment("When it began."),
        ended_at=or_null(moment("When it ended; null while it works, or where it was killed.")),
        exit_code=or_null(integer("Its exit code; null likewise.")),
        why=text("Why it ended."),
        running=truth("Whether it is at work now."),
    )
