"""The schema of `noface show ID --json`: an issue's story. `views/show.py` makes the document."""

from noface.core.actions import NAMES
from noface.core.history import AdviceOutcome, Topic, Verdict
from noface.core.taxonomy import INTERRUPTED, PASSED, Category, FailureKind, IssueStatus
from noface.core.worker_run import BlockedReason, ReportStatus
from noface.views.schemas import blocked, kept
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

DESCRIBES = "the story of an issue: `noface show ID --json`"

_STATUS = word("Where it stands.", names(IssueStatus))
_COST = or_null(number("What it has cost, in dollars; null where nobody said."))


def schema() -> Schema:
    """Return the schema of the document."""
    part = record(
        "A part.",
        id=text("Its id."),
        title=text("Its title."),
        status=_STATUS,
        reason=text("Why it stands there; may be empty."),
        satisfied=truth("Skipped since main holds already what it asks for."),
    )
    gap = record("Something missing.", attempt=integer("Who missed it first.", 1), gap=text("What."))
    return first(
        "An issue with all that was tried.",
        id=text("Its id."),
        title=text("Its title."),
        status=_STATUS,
        reason=text("Why it stands there; may be empty."),
        until=or_null(moment("While it waits for a time: until when.")),
        satisfied=truth("Skipped since main holds already what it asks for."),
        priority=integer("0 is most urgent."),
        source=text("Where a person edits it."),
        depends_on=texts("Ids of issues that must be merged first."),
        needs=texts("Ids of issues that the work turned out to need."),
        parent=or_null(text("The issue it is a part of.")),
        parts=listed("Its parts, where it was divided.", part),
        progress=text("How many of its parts are merged; empty without any."),
        granted_paths=texts("Paths that a person allowed it to change as well."),
        wanted_model=or_null(text("The entry of [models] that a person wants it to begin with.")),
        wanted_attempts=or_null(integer("The number of attempts that a person allowed.")),
        model=or_null(text("The entry of [models] that worked on it last.")),
        branch=or_null(text("The branch with its best work.")),
        merged_commit=or_null(text("The commit of main that holds it.")),
        cost_usd=_COST,
        charged_attempts=integer("The attempts that count against its limit, since it was last given back."),
        note=text("What a person said for the next attempt."),
        block=or_null({**blocked.entry(), "description": "What a person is asked; null where nothing is."}),
        attempts=listed("Its attempts, oldest first.", _attempt()),
        asked=listed("What was asked about it, oldest first.", _asked()),
        approvals=listed("What people decided on it, oldest first.", _approval()),
        gaps=listed("What workers reported as missing, each thing once.", gap),
    )


def _attempt() -> Schema:
    action = record(
        "What followed it; null while that is open.",
        kind=word("The action.", NAMES),
        reason=text("Why."),
    )
    return record(
        "An attempt.",
        number=integer("Its number.", 1),
        model=text("The entry of [models] that made it."),
        think=truth("Whether extended thinking was asked for."),
        outcome=or_null(word("What came of it; null while it is under way.", (PASSED, INTERRUPTED, *FailureKind))),
        failure=or_null(_failure()),
        commit=or_null(text("The commit that keeps its work.")),
        started_at=moment("When it began."),
        seconds=or_null(number("How long it took; null while it is under way.")),
        cost_usd=_COST,
        tokens_in=or_null(integer("Tokens read; null where nobody said.")),
        tokens_out=or_null(integer("Tokens written; null where nobody said.")),
        session_id=or_null(text("What the agent calls its session; null where it told none.")),
        action=or_null(action),
        charged=truth("Whether it counts against the issue's attempts."),
        gates=listed("The gates that ran on its work.", _gate()),
        notes=texts("What else a person should know."),
        changed=texts("The paths it changed."),
        lines=integer("How many lines it added and deleted."),
        report=or_null(_report()),
        partial=or_null(kept.steps()),
        task_failure=or_null(kept.task_failure()),
    )


def _failure() -> Schema:
    return record(
        "How it failed; null where it did not.",
        kind=word("Why.", names(FailureKind)),
        category=word("The category of the kind.", names(Category)),
        message=text("What went wrong."),
        location=or_null(text("Where.")),
        rule=text("The rule that recognised it."),
        evidence=texts("The lines that decided."),
        failing_tests=texts("The tests that failed."),
        gate=or_null(text("The gate that failed.")),
        questions=texts("What the worker asked."),
    )


def _gate() -> Schema:
    return record(
        "A gate.",
        name=text("Its name."),
        passed=truth("Whether it is green, or red only where main was."),
        hard=truth("Whether it must be."),
        seconds=number("How long it ran."),
        kind=or_null(word("Why it failed; null where it did not.", names(FailureKind))),
        memo=truth("Whether the result was remembered from an earlier run on the same tree."),
        flaky=truth("Whether it failed, and passed when it was run again."),
    )


def _report() -> Schema:
    return record(
        "What the worker said of its work (see the schema `report`); null where it said nothing.",
        status=word("How it sees it.", names(ReportStatus)),
        summary=text("What was done, or what stops it."),
        confidence=or_null(number("How sure it is, from 0 to 1.")),
        blocked_reason=or_null(word("Why it cannot go on.", names(BlockedReason))),
        risks=texts("What could be wrong with the work."),
        gaps=texts("What was missing."),
        questions=texts("What it asks."),
        needs=texts("Ids of issues that must be merged first."),
    )


def _asked() -> Schema:
    return record(
        "A question.",
        after=integer("The attempt it is about.", 1),
        topic=word("What was asked.", names(Topic)),
        model=text("The entry of [models] that was asked; empty where noface answered itself."),
        asked_at=moment("When."),
        answered_at=or_null(moment("When it was answered.")),
        outcome=or_null(word("What came of it; null while it is open.", (*names(AdviceOutcome), INTERRUPTED))),
        cause=text("What a diagnosis takes for the cause, or why there is no answer."),
        recoverable=text("Whether a diagnosis holds it for mendable."),
        strategy=text("What the answer decides."),
        text=text("What the next worker is told."),
        paths=texts("Paths that the answer names."),
        needs=texts("Ids of issues that must be merged first."),
        cost_usd=_COST,
    )


def _approval() -> Schema:
    return record(
        "A decision.",
        attempt=integer("The attempt it is about."),
        verdict=word("What was decided.", names(Verdict)),
        note=text("What was said with it."),
        at=moment("When."),
    )
