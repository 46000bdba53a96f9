"""The document of `noface show ID`: the story of an issue, attempt by attempt, with what decided each.

Scripts read the document: add keys, never rename.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from noface.model.actions import NextAction
from noface.model.budget import ESTIMATED
from noface.model.codec import view
from noface.model.description import Minimum, OneOf, Timestamp
from noface.model.failure_document import Exhausted, Steps, TaskFailure
from noface.model.history import Advice, Topic
from noface.model.taxonomy import INTERRUPTED, PASSED, Category, FailureKind, IssueStatus
from noface.model.worker_run import WorkerReport
from noface.recovery.pull_rounds import WaitsFor
from noface.recovery.reported import answer_failure, task_failure
from noface.store.reader import Reader
from noface.store.records import AttemptRow, DecisionRow, GateRun, IssueRow, PullRow, QuestionRow
from noface.ui.blocked import HasBranch, Waiting, waiting_of
from noface.ui.status import effective_status, progress, standings

_FOR_A_PERSON = ("blocked", "approval")
_ANSWERS = "noface.model.history.AdviceOutcome"
_Cost = Annotated[float | None, "What it has cost, in dollars; null where nobody said."]
_Satisfied = Annotated[bool, "Skipped since main holds already what it asks for."]


@dataclass(frozen=True, slots=True)
class _Head:
    id: Annotated[str, "Its id."]
    title: Annotated[str, "Its title."]
    status: Annotated[str, OneOf(IssueStatus), "Where it stands."]
    reason: Annotated[str, "Why it stands there; may be empty."]


@dataclass(frozen=True, slots=True)
class IssuePart(_Head):
    """A part."""

    satisfied: _Satisfied


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """How it failed; null where it did not."""

    kind: Annotated[str, OneOf(FailureKind), "Why."]
    category: Annotated[str, OneOf(Category), "The category of the kind."]
    message: Annotated[str, "What went wrong."]
    location: Annotated[str | None, "Where."]
    rule: Annotated[str, "The rule that recognised it."]
    evidence: Annotated[tuple[str, ...], "The lines that decided."]
    failing_tests: Annotated[tuple[str, ...], "The tests that failed."]
    gate: Annotated[str | None, "The gate that failed."]
    questions: Annotated[tuple[str, ...], "What the worker asked."]
    ran_out: Annotated[str, "Which resource ran out, with usage and limit where they are known; may be empty."]


@dataclass(frozen=True, slots=True)
class ShownSession:
    """An earlier session that the agent was to go on with; null where it began afresh."""

    session_id: Annotated[str, "What the agent calls it."]
    attempt: Annotated[int, Minimum(1), "The attempt that had it before."]
    refused: Annotated[str, "Why the agent could not go on with it, so that it began afresh; empty where it did."]


@dataclass(frozen=True, slots=True)
class ShownAttempt:
    """An attempt."""

    number: Annotated[int, Minimum(1), "Its number."]
    model: Annotated[str, "The entry of [models] that made it."]
    think: Annotated[bool, "Whether extended thinking was asked for."]
    outcome: Annotated[
        str | None, OneOf((PASSED, INTERRUPTED, *FailureKind)), "What came of it; null while it is under way."
    ]
    failure: ShownFailure | None
    commit: Annotated[str | None, "The commit that keeps its work."]
    started_at: Annotated[float, Timestamp, "When it began."]
    seconds: Annotated[float | None, "How long it took; null while it is under way."]
    cost_usd: _Cost
    cost_estimated: Annotated[bool, "Whether the cost is priced from the tokens, since its agent told none."]
    tokens_in: Annotated[int | None, "Tokens read; null where nobody said."]
    tokens_out: Annotated[int | None, "Tokens written; null where nobody said."]
    session_id: Annotated[str | None, "What the agent calls its session; null where it told none."]
    resumed: ShownSession | None
    action: NextAction | None
    charged: Annotated[bool, "Whether it counts against the issue's attempts."]
    gates: Annotated[tuple[GateRun, ...], "The gates that ran on its work."]
    notes: Annotated[tuple[str, ...], "What else a person should know."]
    changed: Annotated[tuple[str, ...], "The paths it changed."]
    lines: Annotated[int, "How many lines it added and deleted."]
    report: Annotated[
        WorkerReport | None, "What the worker said of its work (see the schema `report`); null where it said nothing."
    ]
    partial: Steps | None
    task_failure: Annotated[
        TaskFailure | Exhausted | None, "The failure with all that is known of it; null without one."
    ]


@dataclass(frozen=True, slots=True)
class AskedQuestion:
    """A question."""

    after: Annotated[int, Minimum(1), "The attempt it is about."]
    topic: Annotated[str, OneOf("noface.model.history.Topic"), "What was asked."]
    model: Annotated[str, "The entry of [models] that was asked; empty where noface answered itself."]
    asked_at: Annotated[float, Timestamp, "When."]
    answered_at: Annotated[float | None, Timestamp, "When it was answered."]
    outcome: Annotated[str | None, OneOf(_ANSWERS, (INTERRUPTED,)), "What came of it; null while it is open."]
    cause: Annotated[str, "What a diagnosis takes for the cause, or why there is no answer."]
    recoverable: Annotated[str, "Whether a diagnosis considers it fixable."]
    strategy: Annotated[str, "What the answer decides."]
    text: Annotated[str, "What the next worker is told."]
    paths: Annotated[tuple[str, ...], "Paths that the answer names."]
    needs: Annotated[tuple[str, ...], "Ids of issues that must be merged first."]
    cost_usd: _Cost
    task_failure: Annotated[
        TaskFailure | None, "What was wrong with the form of an answer, with the answer itself; null without one."
    ] = None


@dataclass(frozen=True, slots=True)
class AttemptGap:
    """Something missing."""

    attempt: Annotated[int, Minimum(1), "Who missed it first."]
    gap: Annotated[str, "What."]


@dataclass(frozen=True, slots=True)
class RedCheck:
    """A check that failed."""

    name: Annotated[str, "Its name."]
    url: Annotated[str, "Where it tells more; empty where it has no page."]


@dataclass(frozen=True, slots=True)
class ShownPull:
    """Its newest pull request; null before there is one."""

    number: Annotated[int | None, "Its number; null before it is open."]
    url: Annotated[str, "Where it is; empty before it is open."]
    state: Annotated[str, OneOf("noface.store.pull_requests.PullStep"), "How far it has come; see the events."]
    branch: Annotated[str, "The branch on the remote that it comes from."]
    head: Annotated[str, "The commit that noface has pushed there, or is about to push."]
    attempt: Annotated[int, "The attempt whose work it shows."]
    checks: Annotated[str, "How its checks stand; empty where that is not known yet."]
    rounds: Annotated[int, "How often checks or reviews were answered, since the issue was last given back."]
    waits_for: Annotated[str, OneOf(("", *WaitsFor)), "What it waits for; empty before it was looked at."] = ""
    red: Annotated[tuple[RedCheck, ...], "The checks that were red when it was last looked at."] = ()


@dataclass(frozen=True, slots=True)
class Story(_Head):
    """An issue with all that was tried."""

    until: Annotated[float | None, Timestamp, "While it waits for a time: until when."]
    satisfied: _Satisfied
    priority: Annotated[int, "0 is most urgent."]
    source: Annotated[str, "Where a person edits it."]
    depends_on: Annotated[tuple[str, ...], "Ids of issues that must be merged first."]
    needs: Annotated[tuple[str, ...], "Ids of issues that the work turned out to need."]
    parent: Annotated[str | None, "The issue it is a part of."]
    parts: Annotated[tuple[IssuePart, ...], "Its parts, where it was divided."]
    progress: Annotated[str, "How many of its parts are merged; empty without any."]
    granted_paths: Annotated[tuple[str, ...], "Paths that a person allowed it to change as well."]
    wanted_model: Annotated[str | None, "The entry of [models] that a person wants it to begin with."]
    wanted_attempts: Annotated[int | None, "The number of attempts that a person allowed."]
    model: Annotated[str | None, "The entry of [models] that worked on it last."]
    branch: Annotated[str | None, "The branch with its best work."]
    merged_commit: Annotated[str | None, "The commit of main that holds it."]
    cost_usd: _Cost
    charged_attempts: Annotated[int, "The attempts that count against its limit, since it was last given back."]
    note: Annotated[str, "What a person said for the next attempt."]
    block: Annotated[Waiting | None, "What a person is asked; null where nothing is."]
    attempts: Annotated[tuple[ShownAttempt, ...], "Its attempts, oldest first."]
    asked: Annotated[tuple[AskedQuestion, ...], "What was asked about it, oldest first."]
    approvals: Annotated[tuple[DecisionRow, ...], "What people decided on it, oldest first."]
    gaps: Annotated[tuple[AttemptGap, ...], "What workers reported as missing, each thing once."]
    pull_request: ShownPull | None = None


def show_document(reader: Reader, row: IssueRow, has_branch: HasBranch = bool) -> Story:
    """Return the issue, and all that is recorded of it."""
    issues = reader.around(row)
    statuses = standings(issues)
    status, reason = effective_status(row, statuses)
    attempts = tuple(_attempt(attempt) for attempt in reader.attempts(row.id))
    parts = tuple(
        IssuePart(each.id, each.title, *effective_status(each, statuses), each.satisfied)
        for each in issues
        if each.parent == row.id
    )
    return view(
        Story,
        row,
        status=status,
        reason=reason,
        parts=parts,
        progress=progress([(part.status, part.satisfied) for part in parts]),
        branch=row.branch if row.branch is not None and has_branch(row.branch) else None,
        charged_attempts=row.attempts,
        block=waiting_of(row, has_branch) if row.block is not None and row.status in _FOR_A_PERSON else None,
        attempts=attempts,
        asked=tuple(_question(each) for each in reader.questions(row.id)),
        approvals=tuple(reader.decisions(row.id)),
        gaps=_gaps(attempts),
        pull_request=None if (pull := reader.pull(row.id)) is None else _pull(pull),
    )


def _pull(row: PullRow) -> ShownPull:
    red = tuple(RedCheck(str(name), str(url)) for name, url in row.seen.get("failed", ()))
    return view(ShownPull, row, waits_for=str(row.seen.get("waits_for", "")), red=red)


def _attempt(row: AttemptRow) -> ShownAttempt:
    return view(
        ShownAttempt,
        row,
        failure=None if row.failure is None else view(ShownFailure, row.failure),
        commit=row.commit_id,
        cost_estimated=ESTIMATED in row.notes,
        resumed=view(ShownSession, again, session_id=again.session) if (again := row.resumed) else None,
        task_failure=failure_document(row),
    )


def failure_document(row: AttemptRow) -> TaskFailure | Exhausted | None:
    """Return an attempt's failure with all that is known of it: reason, details, steps, metrics (P2, P10)."""
    if row.failure is None:
        return None
    metrics = {"cost_usd": row.cost_usd, "tokens_in": row.tokens_in, "tokens_out": row.tokens_out}
    known = {name: number for name, number in metrics.items() if number is not None}
    if row.seconds is not None:
        known["seconds"] = row.seconds
    return task_failure(row.failure, partial=row.partial, metrics=known, notes=row.notes)


def _question(row: QuestionRow) -> AskedQuestion:
    answer = row.answer or _OPEN
    broken = answer.failure
    columns = {name: getattr(row, name) for name in ("after", "topic", "model", "outcome", "cost_usd")}
    times = {"asked_at": row.asked_at, "answered_at": row.answered_at}
    return view(AskedQuestion, answer, **columns, **times, task_failure=answer_failure(broken) if broken else None)


_OPEN = Advice(Topic.DIAGNOSIS, 0)
"""What stands for the answer of a question that has none."""


def _gaps(attempts: Sequence[ShownAttempt]) -> tuple[AttemptGap, ...]:
    """Return what workers reported as missing (L2), each gap once, with the first attempt that reported it."""
    gaps: dict[str, AttemptGap] = {}
    for attempt in attempts:
        for gap in attempt.report.gaps if attempt.report is not None else ():
            gaps.setdefault(gap, AttemptGap(attempt.number, gap))
    return tuple(gaps.values())
