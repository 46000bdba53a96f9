"""The schema of what `noface run --json` prints: one event a line, told apart by `event`.

The loop and the store announce events, `views/announcer.py` prints them; a test compares every such call with this.
What people decide with other commands is recorded by these, and told by no run.
"""

from collections.abc import Iterator

from noface.agents.base import EventKind
from noface.core.actions import NAMES
from noface.core.history import AdviceOutcome, Topic
from noface.core.taxonomy import INTERRUPTED, PASSED, FailureKind, IssueStatus
from noface.views.schemas import error
from noface.views.schemas.parts import (
    Schema,
    first,
    integer,
    moment,
    names,
    number,
    or_null,
    text,
    texts,
    truth,
    word,
)

DESCRIBES = "what `noface run --json` prints: one event a line"

PHASES = ("workspace", "agent", "snapshot", "gate")
_OUTCOMES = (PASSED, INTERRUPTED, *names(FailureKind))

_RUN: Schema = {"description": "No issue: it is about the run.", "type": "null"}
_ISSUE = text("The issue's id.")
_EITHER = or_null(text("The issue's id; null where it is about main itself."))

_STATUS: dict[IssueStatus, str] = {
    IssueStatus.READY: "The issue may be worked on, again or for the first time.",
    IssueStatus.RUNNING: "An attempt at the issue begins, or a question about it is asked.",
    IssueStatus.LANDING: "The issue's work passed its gates and waits to land, or something is in the way of landing.",
    IssueStatus.MERGED: "main holds the issue's work.",
    IssueStatus.WAITING: "The issue waits for a time or for other issues.",
    IssueStatus.APPROVAL: "The issue waits for a person's approval.",
    IssueStatus.BLOCKED: "The issue waits for a person's help; `noface blocked --json` tells what is asked.",
    IssueStatus.EPIC: "The issue was divided; its parts do the work.",
    IssueStatus.SKIPPED: "The issue is left undone, or main holds already what it asks for.",
}

_ATTEMPT = integer("The number of the attempt.", 1)
_TOPIC = word("What is asked.", names(Topic))
_REASON = text("Why, in a sentence.")
_MODEL = text("The entry of [models] that is asked; empty where noface answers itself.")


def schema() -> Schema:
    """Return the schema of a line."""
    lines = dict(_lines())
    return {
        "description": "A line that `noface run --json` prints: an event, told apart by `event`. Where noface cannot "
        "begin or go on, the last line is an `error` instead, which has no `event`.",
        "oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in lines],
        "$defs": lines,
    }


def kinds() -> tuple[str, ...]:
    """Return the kinds of events."""
    return tuple(kind for kind, _ in _lines() if kind != "error")


def _lines() -> Iterator[tuple[str, Schema]]:
    yield from _of_the_run()
    for status, meaning in _STATUS.items():
        kind = f"issue_{status}"
        until = or_null(moment("While it waits for a time: until when. Else null."))
        yield _event(kind, meaning, _ISSUE, reason=_REASON, until=until)
    yield from _of_attempts()
    yield from _of_decisions()
    yield from _of_questions()
    yield from _of_people_and_lessons()
    yield "error", error.schema()


def _of_the_run() -> Iterator[tuple[str, Schema]]:
    yield _event("run_started", "The run has begun.", _RUN, pid=integer("noface's process.", 1))
    yield _event(
        "sandbox",
        "What commands run in; not told where a person has chosen to have no sandbox.",
        _RUN,
        kind=word("Who makes it.", ("bubblewrap", "wrap", "none")),
        version=text("Bubblewrap's version."),
        why=text("Why there is none, though one was wanted."),
    )
    yield _event(
        "rules_changed",
        "This noface refuses what an earlier one let pass in this project; told once.",
        _RUN,
        what=texts("What is refused, with the keys that allow it."),
    )
    yield _event(
        "preflight", "The gates are run on main, before any work is paid for.", _RUN, main=text("The branch's name.")
    )
    yield _event(
        "canary",
        "Gates are run on broken sources, once: they must turn red, or they test something else than the workspace.",
        _RUN,
        gates=texts("Their names."),
    )
    yield _event(
        "waiting",
        "There is nothing to do until a time; told once for each time.",
        _RUN,
        until=moment("When something is tried again."),
        seconds=number("How long that is from now."),
    )
    yield _event("stopping", "The run was told to stop: workers are ended, what they did is kept.", _RUN)
    yield _event(
        "processes_swept", "Processes that a killed run had left were ended.", _RUN, count=integer("How many.", 1)
    )
    yield _event(
        "logs_masked", "Secrets were taken out of logs that a killed run had left.", _RUN, count=integer("How many.", 1)
    )
    yield _event(
        "refs_kept", "Refs that are no longer needed could not be removed.", _RUN, reason=text("What is in the way.")
    )
    yield _event(
        "run_ended",
        "The run is over.",
        _RUN,
        exit_code=integer("The exit code of `noface run`."),
        why=text("Why it ended."),
    )


def _of_attempts() -> Iterator[tuple[str, Schema]]:
    yield _event(
        "progress",
        "A step of what is under way; many a second are possible.",
        _EITHER,
        number=integer("The number of the attempt; 0 where there is none yet."),
        phase=word("What is being done.", PHASES),
        text=text("The step, in a few words or as the agent tells it, cut at a limit."),
        kind=or_null(word("What the agent did; null where the step is noface's own.", names(EventKind))),
        file=text("The file it did that to, relative to the workspace, as far as it told; else empty."),
        cost_usd=or_null(number("What the run of the worker has cost so far; null where nobody knows.")),
        tokens=or_null(integer("The tokens it has read and written so far; null where it does not tell.")),
    )
    yield _event(
        "noface_died",
        "noface died without a word, and without a restart of the machine, while the attempt was under way.",
        _ISSUE,
        number=integer("The number of the attempt."),
        epoch=integer("How often the issue was given back by a person."),
        deaths=integer("How often in a row that happened.", 1),
    )
    yield _event(
        "repository_changed",
        "Somebody else than noface changed the repository while an attempt was under way.",
        _ISSUE,
        number=integer("The number of the attempt."),
        what=texts("What was changed."),
    )
    yield _event(
        "attempt_started",
        "A worker is about to be run; issue_running says so in a sentence.",
        _ISSUE,
        number=_ATTEMPT,
        model=text("The entry of [models] that works."),
        tier=integer("How strong that is, compared with others.", 0),
        think=truth("It is to think longer."),
    )
    yield _event(
        "attempt_finished",
        "An attempt is over.",
        _ISSUE,
        number=_ATTEMPT,
        outcome=word("What came of it.", _OUTCOMES),
        charged=truth("Whether it counts against the issue's attempts."),
        message=text("What went wrong; empty where nothing did."),
    )
    yield _event(
        "attempt_overruled",
        "An attempt that passed counts as failed: on the merge with main, or in a review.",
        _ISSUE,
        number=_ATTEMPT,
        outcome=word("Why it failed.", names(FailureKind)),
        message=text("What went wrong."),
    )
    yield _event(
        "attempt_fenced",
        "An attempt came in after it had been settled, and is left aside.",
        _ISSUE,
        number=_ATTEMPT,
        outcome=word("What had come of it.", _OUTCOMES),
    )


def _of_decisions() -> Iterator[tuple[str, Schema]]:
    yield _event(
        "action",
        "noface has decided what comes next for an issue.",
        _ISSUE,
        number=or_null(integer("The attempt that led to it; null before the first.", 1)),
        action=word("What comes next.", NAMES),
        reason=_REASON,
    )
    yield _event(
        "gate_flaky",
        "A gate failed and then passed on the very same tree.",
        _EITHER,
        number=integer("The number of the attempt; 0 for main itself."),
        gate=text("The gate's name."),
        message=text("How it failed first."),
        tree=text("The tree, as a full object id."),
    )


def _of_questions() -> Iterator[tuple[str, Schema]]:
    after = integer("The number of the attempt it is about.", 1)
    yield _event("asked", "Something is asked about an issue.", _ISSUE, topic=_TOPIC, model=_MODEL, after=after)
    yield _event(
        "answered",
        "A question is settled.",
        _ISSUE,
        model=_MODEL,
        text=text("The answer, cut at a limit."),
        topic=_TOPIC,
        outcome=word("What came of asking.", names(AdviceOutcome)),
        strategy=text("What the answer decides; empty where its topic decides nothing."),
    )
    yield _event("broken_down", "An issue was divided.", _ISSUE, children=texts("The ids of its parts."))
    yield _event(
        "parts_failed",
        "Not all parts of an issue could be done; it goes on as a whole.",
        _ISSUE,
        text=text("What could not be done, cut at a limit."),
    )
    yield _event(
        "planner_failed",
        "The planner's answer was of no use; the issue was divided by its files instead.",
        _ISSUE,
        message=text("What was wrong with it."),
    )


def _of_people_and_lessons() -> Iterator[tuple[str, Schema]]:
    yield _event("approval_requested", "A person is asked to approve.", _ISSUE, reason=_REASON)
    yield _event(
        "dependency_found",
        "An issue turned out to need others.",
        _ISSUE,
        needs=texts("Their ids."),
    )
    yield _event(
        "branch_adopted",
        "What a person committed to the issue's branch is what its next attempt starts from.",
        _ISSUE,
        commit=text("The commit."),
    )
    yield _event(
        "lesson_learnt",
        "A recovery worked, and is kept as a lesson.",
        _ISSUE,
        number=_ATTEMPT,
        advice=text("What later attempts are told."),
    )
    yield _event(
        "lesson_dropped",
        "A lesson did not help once more, and is told no longer.",
        _ISSUE,
        lesson=integer("Its number in `noface hints list --lessons`.", 1),
    )
    yield _event(
        "prompt_cut",
        "A part of a prompt was cut to keep within [prompts] max_tokens.",
        _ISSUE,
        number=or_null(integer("The attempt whose prompt it is; null for a question.", 1)),
        topic=or_null(word("The question whose prompt it is; null for an attempt.", names(Topic))),
        what=text("What was cut, and how much of it is left."),
    )
    yield _event(
        "hint_too_slow", "A hint's pattern took too long to try.", _ISSUE, message=text("Which, and what to do.")
    )


def _event(kind: str, description: str, issue: Schema, /, **fields: Schema) -> tuple[str, Schema]:
    return kind, first(description, at=moment("When it was told."), event={"const": kind}, issue=issue, **fields)
