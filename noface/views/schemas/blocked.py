"""The schema of `noface blocked --json`: what a person is asked. `views/blocked.py` makes the document."""

from noface.core.actions import ApprovalKind
from noface.core.taxonomy import PASSED, FailureKind, IssueStatus
from noface.views.schemas.parts import (
    Schema,
    first,
    integer,
    listed,
    names,
    number,
    or_null,
    record,
    text,
    texts,
    word,
)

DESCRIBES = "what needs a person: `noface blocked --json`"


def schema() -> Schema:
    """Return the schema of the document."""
    return first(
        "The issues that need a person, the blocked ones before those that wait for approval.",
        blocked=listed("The issues.", entry()),
        held=listed(
            "Issues whose work passed and cannot land, since something of yours is in the way.",
            record(
                "An issue.",
                id=text("Its id."),
                title=text("Its title."),
                reason=text("What is in the way, and what to do about it."),
            ),
        ),
    )


def entry() -> Schema:
    """Return the schema of an issue that needs a person; `show` has it too."""
    blocked = record(
        "An issue that is blocked.",
        **_told(IssueStatus.BLOCKED, names(FailureKind)),
        report=or_null(_report()),
    )
    approval = record(
        "An issue that waits for approval.",
        **_told(IssueStatus.APPROVAL, (PASSED, *names(FailureKind))),
        wants=word("What is to be approved.", names(ApprovalKind)),
        attempt=integer("The attempt it is about; 0 where there is none."),
        branch=or_null(text("The branch with its work.")),
        paths=texts("The paths that it would be allowed to change as well."),
        changed=texts("The paths that the attempt changed, the first hundred."),
        changed_files=integer("How many files it changed."),
        changed_lines=integer("How many lines it added and deleted."),
    )
    return {"description": "An issue that needs a person.", "oneOf": [blocked, approval]}


def _told(status: IssueStatus, kinds: tuple[str, ...]) -> dict[str, Schema]:
    return {
        "id": text("Its id."),
        "title": text("Its title."),
        "status": word("Where it stands.", (status,)),
        "kind": word("What its last attempt ended with.", kinds),
        "summary": text("What happened, in a sentence or two."),
        "question": text("What a person is asked."),
        "tried": texts("What was tried, oldest first."),
        "errors": texts("What went wrong, each thing once, the newest last."),
        "unclear": texts("What workers asked or missed."),
        "next_steps": texts("What to do first."),
        "questions": texts("What workers asked."),
        "options": texts("What a person can do."),
        "commands": texts("The command for each of `options`."),
        "parts_failed": text("Where it was divided: what became of the parts that could not be done. Else empty."),
    }


def _report() -> Schema:
    tried = record("Something that was tried.", strategy=text("What."), result=text("What came of it."))
    by_model = {"type": "object", "additionalProperties": integer("How many.")}
    resources = record(
        "What it took.",
        attempts_by_model={"description": "How many attempts each model made.", **by_model},
        questions_by_model={"description": "How many questions each model was asked.", **by_model},
        cost_usd=or_null(number("Dollars; null where nobody said.")),
        tokens_in=or_null(integer("Tokens read; null where nobody said.")),
        tokens_out=or_null(integer("Tokens written; null where nobody said.")),
    )
    return record(
        "What recovery did before it gave up; null where it never began.",
        id=text("The issue's id."),
        title=text("The issue's title."),
        status=word("What became of it.", ("failed",)),
        failure_kind=word("What it ended with.", names(FailureKind)),
        failure_reason=text("Why noface gave up."),
        attempts_made=integer("How many attempts were made."),
        attempts_charged=integer("How many of them count against its limit."),
        last_error=or_null(text("What went wrong last.")),
        recovery_attempted=listed("What was tried, oldest first.", tried),
        recommendation=text("What a person could do."),
        resources=resources,
    )
