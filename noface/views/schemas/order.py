"""The schema of the order: what a worker, or a model that is asked something, finds in `$NOFACE_ORDER_FILE`.

`loop/attempt_environment.py` makes the document.
"""

from noface.agents.base import WORKER
from noface.core.gate import GateKind
from noface.core.history import Topic
from noface.core.taxonomy import FailureKind
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
    truth,
    word,
)

DESCRIBES = "what a worker is told: the JSON file $NOFACE_ORDER_FILE"


def schema() -> Schema:
    """Return the schema of an order."""
    return first(
        "What a worker is to do. The folder it is started in is the workspace; it edits the files there.",
        run_id=text("The run of noface."),
        attempt=integer("The number of this attempt at the issue, from 1; of a question, the attempt it is about."),
        role=word("What is wanted: work, or an answer to a question of this topic.", (WORKER, *names(Topic))),
        think=truth("Whether extended thinking is asked for."),
        issue=_issue(),
        model=_model(),
        gates=listed("The project's gates, in the order they run afterwards; none for a question.", _gate()),
        accept=texts("Commands that must pass for this issue as well: those of `issue`."),
        earlier=listed("The attempts at this issue that failed, oldest first; none for a question.", _earlier()),
        protected=texts("Paths and globs: changes of these files are undone before the gates run."),
        may_change=texts("Paths and globs: changes of these files stay, though they are protected."),
        main=text(
            "The commit of main when the order was made, as a full object id; empty where a model is only tried."
        ),
        start=text(
            "The commit whose files the workspace holds: main, or the best work so far merged with it; or empty."
        ),
    )


def _issue() -> Schema:
    return record(
        "The issue. Its words come from whoever writes issues.",
        id=text("Its id."),
        title=text("Its title."),
        body=text("What is asked for, in Markdown."),
        priority=integer("0 is most urgent."),
        labels=texts("Its labels."),
        depends_on=texts("Ids of issues that had to be merged first."),
        paths=texts("Paths and globs: nothing else may be changed. Empty: no such limit."),
        accept=texts("Commands that show that it is done: red on main before, green afterwards."),
    )


def _model() -> Schema:
    return record(
        "The entry [models.NAME] of noface.toml that does the work.",
        name=text("Its name."),
        agent=text("The agent that runs it."),
        model=text("The model's name as the agent knows it; may be empty."),
        tier=integer("Its tier; higher is stronger."),
    )


def _gate() -> Schema:
    return record(
        "A command that is run by bash at the top of a clean checkout of the work.",
        name=text("Its name."),
        command=text("The command."),
        kind=word("What it checks.", names(GateKind)),
        hard=truth("Whether it must pass; otherwise it is only reported."),
        timeout_s=number("After so many seconds it is ended."),
    )


def _earlier() -> Schema:
    return record(
        "An attempt that failed.",
        number=integer("Its number.", 1),
        model=text("The entry of [models] that made it."),
        kind=word("Why it failed.", names(FailureKind)),
        message=text("What went wrong, in one sentence or the tool's own words."),
        location=or_null(text("Where, such as tests/test_login.py:41.")),
        excerpt=text("The lines of the output that tell most."),
        failing_tests=texts("The tests that failed, by name."),
        rule=text("The rule of noface that recognised the failure."),
    )
