"""What a person decides on an issue, and what that changes: the same from the command line and from a tracker.

Every function is to be called in one transaction with what belongs to the decision. Refusals are UsageErrors.
"""

import hashlib
from dataclasses import dataclass, replace

from noface.errors import UsageError
from noface.model.actions import ApprovalKind
from noface.model.attempt import PastAttempt
from noface.model.failure import PERSON, Failure
from noface.model.history import MISSING, NOTHING_MISSING, Advice, Topic, Verdict
from noface.model.patterns import let_change
from noface.model.quoting import short
from noface.model.request import NOTHING_ASKED
from noface.model.taxonomy import PASSED, Category, Cause, FailureKind, IssueStatus
from noface.process.lock import runs
from noface.store.journal import Journal
from noface.store.overview import OVERAGE, PAUSED
from noface.store.questions import Questions
from noface.store.reader import Reader
from noface.store.records import IssueRow

NOTE_CHARS_MAX = 10_000
OF_A_PROVIDER = tuple(kind.value for kind in FailureKind if kind.category is Category.TRANSIENT)
_MESSAGE_CHARS_MAX = 300
_LETS_CHANGE = (ApprovalKind.PATHS, ApprovalKind.CONTRACT, ApprovalKind.GOING_ON)
_GOES_ON_WITHOUT = (
    IssueStatus.READY,
    IssueStatus.WAITING,
    IssueStatus.RUNNING,
    IssueStatus.LANDING,
    IssueStatus.REVIEW,
)
ADD_ANOTHER = 'For more work on it, add another issue: noface issues add "What should be done"'


@dataclass(frozen=True, slots=True)
class Case:
    """What a person decides on. `settled` is the status the issue has by now if the same has been said before."""

    row: IssueRow
    attempt: PastAttempt
    wants: ApprovalKind
    paths: tuple[str, ...] = ()
    settled: str | None = None

    def leave(self, note: str) -> tuple[str, ...]:
        """Return what the issue may change from now on, as by `may_change`, if a person says yes with this note."""
        return let_change(note, self.paths) if self.wants in _LETS_CHANGE else ()


def sound_note(note: str) -> str:
    """Return a note as it can be kept; raise UsageError for one that is too long to be told to a worker."""
    text = note.strip().encode("utf-8", "replace").decode()
    if len(text) > NOTE_CHARS_MAX:
        raise UsageError(
            f"the note is too long: {len(text):,} characters, at most {NOTE_CHARS_MAX:,}",
            "Keep the note short, and put the rest into the issue's file.",
        )
    return text


def open_case(reader: Reader, questions: Questions, row: IssueRow, verdict: Verdict) -> Case:
    """Return what an issue waits for. Raises UsageError if it waits for no approval, or for nothing any more."""
    past = reader.past(row.id)
    if row.status != IssueStatus.APPROVAL:
        decided = questions.approvals(row.id)
        last = decided[-1] if decided and past else None
        if last is not None and (last.verdict, last.attempt, last.epoch) == (verdict, past[-1].number, row.epoch):
            return Case(row, past[-1], ApprovalKind.LANDING, settled=str(row.status))
        hint = f"Where it stands, and what can be done: noface show {row.id}"
        raise UsageError(f"issue {row.id} is {row.status}; it does not wait for approval", hint)
    problem = gone(row)
    if problem is not None:
        raise problem
    if not past:
        raise UsageError(f"issue {row.id} has no attempt to decide on", f"Try it again: noface retry {row.id}")
    request = row.block or NOTHING_ASKED
    otherwise = ApprovalKind.LANDING if past[-1].failure is None else ApprovalKind.GOING_ON
    wants = next((each for each in ApprovalKind if each.value == request.wants), otherwise)
    return Case(row, past[-1], wants, request.paths)


def approve(now: float, journal: Journal, questions: Questions, case: Case, note: str, who: str = "a person") -> None:
    """Approve what an issue waits for: its work may land, or it may go on as proposed."""
    row = case.row
    questions.approve(now, row.id, case.attempt.number, epoch=row.epoch, verdict=Verdict.APPROVED, note=note)
    if case.wants is ApprovalKind.COMPLETE:
        _looked(now, journal, questions, case, who)
        return
    if leave := case.leave(note):
        journal.allowed(now, row.id, tuple(dict.fromkeys((*row.granted_paths, *leave))))
    if note and case.wants is not ApprovalKind.LANDING:
        questions.note(row.id, note)  # another worker follows, and should know
    if case.wants is ApprovalKind.DONE:
        journal.status(now, row.id, IssueStatus.SKIPPED, f"done already, as {who} confirmed", satisfied=True)
        return
    journal.status(now, row.id, IssueStatus.READY, f"approved by {who}", cause=Cause.APPROVED)


def reject(now: float, journal: Journal, questions: Questions, case: Case, note: str, who: str = "a person") -> None:
    """Reject what an issue proposes; `note`, the reason, goes into the next prompt."""
    name, number = case.row.id, case.attempt.number
    questions.approve(now, name, number, epoch=case.row.epoch, verdict=Verdict.REJECTED, note=note)
    if case.wants is ApprovalKind.COMPLETE:
        _looked(now, journal, questions, case, who, note or "a person says that something is missing, and not what")
        return
    if case.attempt.outcome == PASSED:
        journal.attempt_overruled(now, name, number, _rejection(note, who))
    questions.note(name, note)
    journal.status(now, name, IssueStatus.READY, f"rejected by {who}")


def _looked(now: float, journal: Journal, questions: Questions, case: Case, who: str, missed: str = "") -> None:
    name, after, epoch = case.row.id, case.attempt.number, case.row.epoch
    asked = questions.asked(now, name, Topic.MISSING, after=after, epoch=epoch, model="", run_id="", directory="")
    strategy = MISSING if missed else NOTHING_MISSING
    questions.answered(now, asked, name, Advice(Topic.MISSING, after, epoch=epoch, strategy=strategy, text=missed))
    journal.status(now, name, IssueStatus.READY, f"{who} finds {'something' if missed else 'nothing'} missing")


def _rejection(note: str, who: str) -> Failure:
    """Return the failure of work that a person turned down; another note is another failure, no mere repetition."""
    digest = hashlib.sha256(note.encode()).hexdigest()[:12]
    return Failure(
        FailureKind.REVIEW_REJECTED,
        f"rejected by {who}: {short(note, _MESSAGE_CHARS_MAX)}",
        rule="person-rejected",
        signature=f"person-rejected:{digest}",
        evidence=(short(note, _MESSAGE_CHARS_MAX),),
        excerpt=note,
        by=PERSON,
    )


def give_back(
    journal: Journal,
    reader: Reader,
    now: float,
    row: IssueRow,
    note: str,
    why: str,
    model: str | None = None,
    attempts: int | None = None,
) -> None:
    """Give an issue back to the loop, as a person asks for, who may have mended what it waits for.

    The waits for providers end that its attempts met with, or all if it waits and has not been tried.
    """
    met = met_providers(reader, row)
    untried = not met and row.status in (IssueStatus.READY, IssueStatus.WAITING)
    for name, wait in reader.waits().items():
        if wait.open(now) and (name in met or untried):
            journal.wait(replace(wait, until=now))
    journal.give_branch(row.id, given=True)
    journal.unblocked(now, row.id, note, why, model, attempts)


def met_providers(reader: Reader, row: IssueRow) -> frozenset[str]:
    return frozenset(each.model for each in reader.past(row.id) if each.outcome in OF_A_PROVIDER)


def gone(row: IssueRow) -> UsageError | None:
    """Return the refusal for an issue that the backlog no longer holds, None for one that is there."""
    if row.present:
        return None
    if row.source.startswith(("https://", "http://")):
        return UsageError(
            f"issue {row.id} is not in the backlog any more: it is closed or moved there, or no longer one for noface",
            f"See it at {row.source}, or fetch what is there now: noface tools fetch",
        )
    return UsageError(
        f"issue {row.id} is not in the backlog any more: its file is gone or faulty",
        f"Put {row.source or 'its file'} back, or see what is faulty: noface issues",
    )


def no_skipping(row: IssueRow) -> UsageError | None:
    """Return the refusal for an issue that is done, divided or under way; None for one that can be left undone."""
    problems = {
        "merged": "is merged already",
        "running": "is running",
        "landing": "has passed and waits to land",
        "epic": "was divided; its parts do the work",
    }
    if row.status not in problems:
        return None
    hint = ADD_ANOTHER if row.status == "merged" else f"What it waits for, and its parts: noface show {row.id}"
    return UsageError(f"issue {row.id} {problems[row.status]}", hint)


def skip(now: float, journal: Journal, row: IssueRow, who: str = "a person") -> None:
    if row.status != IssueStatus.SKIPPED:
        journal.status(now, row.id, IssueStatus.SKIPPED, f"skipped by {who}")


def pause(now: float, journal: Journal, reader: Reader, *, paused: bool, overage_usd: float | None = None) -> None:
    """Have the run at work rest, or go on; it may spend so much beyond windows that are used up, if that is given.

    Raises UsageError if no run is at work.
    """
    run = reader.last_run()
    if run is None or run.ended_at is not None or not runs(run.pid):
        raise UsageError("no run is at work here", "Begin one: noface run")
    if paused != (reader.paused() is not None):
        journal.fact(PAUSED, str(now) if paused else "")
    if overage_usd is not None:
        journal.fact(OVERAGE, f"{run.id} {overage_usd}")


def no_retrying(row: IssueRow) -> UsageError | None:
    if row.cause == Cause.APPROVED:
        hint = "`noface run`. To have it done otherwise, change what the issue asks for."
        return UsageError(f"issue {row.id} is approved, and the next run goes on with it", hint)
    return no_skipping(row)


def taken_back(reader: Reader, row: IssueRow) -> UsageError | None:
    """Refuse a part that its parent does without: both would do the same work."""
    parent = reader.issue(row.parent) if row.parent is not None and row.status == "skipped" else None
    if parent is None or row.satisfied:
        return None
    name = parent.id
    if parent.status == "merged":
        return UsageError(f"issue {name}, of which {row.id} was a part, has landed without it", ADD_ANOTHER)
    if parent.status in _GOES_ON_WITHOUT:
        return UsageError(
            f"issue {row.id} was withdrawn: its parent, issue {name}, goes on without it", f"See: noface show {name}"
        )
    return None
