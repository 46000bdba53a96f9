"""The schema of `noface fsck --json`; `views/fsck.py` makes the document."""

from noface.core.fsck_findings import Kind, RepairKind, Severity
from noface.views.schemas.parts import Schema, first, listed, names, or_null, record, text, truth, word

DESCRIBES = "whether noface's state is sound: `noface fsck --json`"


def schema() -> Schema:
    """Return the schema of the document."""
    return first(
        "What a check of noface's state found.",
        sound=truth("Nobody has to do anything: there are notes at most."),
        running=or_null(text("The noface that is at work beside the check.")),
        dry_run=truth("Nothing was changed, whatever else was asked for."),
        repaired=listed("What was found and repaired.", _finding()),
        findings=listed("What is left, gravest first.", _finding()),
    )


def _finding() -> Schema:
    return record(
        "One thing that is not as it should be.",
        kind=word("What is wrong.", names(Kind)),
        severity=word("Who has to do something: nobody, `noface fsck --repair`, or a person.", names(Severity)),
        subject=text("What it is about."),
        message=text("What is wrong with it."),
        advice=or_null(text("What the repair does, or what a person does.")),
        repair=or_null(word("What --repair does.", names(RepairKind))),
    )
