"""What a person decides on an issue, and what that changes: the same from the command line and from a tracker.

Every function is to be called in one transaction with what belongs to the decision. Refusals are UsageErrors.
"""

import hashlib
import re
from dataclasses import dataclass, replace

from noface.errors import UsageError
from noface.model.actions import ApprovalKind
from noface.model.attempt import PastAttempt
from noface.model.failure import PERSON, Failure
from noface.model.history import MISSING, NOTHING_MISSING, Advice, Decided, Topic, Verdict
from noface.model.quoting import short
from noface.model.request import NOTHING_ASKED
from noface.model.taxonomy import PASSED, Category, Cause, FailureKind, IssueStatus
from noface.process.lock import runs
from noface.recovery.decided import is_for_a_person, leave_of
from noface.recovery.start import left_work
from noface.store.journal import Journal
from noface.store.overview import OVERAGE, PAUSED
from noface.store.questions import Questions
from noface.store.reader import Reader
from noface.store.records import IssueRow

NOTE_CHARS_MAX = 10_000
OF_A_PROVIDER = tuple(kind.value for kind in FailureKind if kind.category is Category.TRANSIENT)
_MESSAGE_CHARS_MAX = 300
_OF_WORK = (ApprovalKind.LANDING, ApprovalKind.CONTRACT)
_IS_RIGHT = re.compile(r"\battempt\s+#?(\d{1,6})\s+(?:is|was)\s+(?:right|correct|fine|good)\b", re.IGNORECASE)
"""The words by which a note names the attempt from which the next one starts; nothing else is read in a note."""
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
    """What a person decides on. `settled` is the status the issue has by now if the same has been said before.

    `attempt` is None if none was made; `paths` are those that a yes lets it change. `afresh`: the counters start again.
    """

    row: IssueRow
    attempt: PastAttempt | None
    wants: ApprovalKind
    paths: tuple[str, ...] = ()
    settled: str | None = None
    afresh: bool = False

    def decided(self, now: float, verdict: Verdict, note: str) -> Decided:
        """Return what a yes or a no to it is, with its scope."""
        past, request, about = self.attempt, self.row.block or NOTHING_ASKED, self.wants in _OF_WORK
        failure = past.failure if past is not None else None
        named = self.afresh and self.wants is ApprovalKind.LANDING  # the attempt is right, whatever stands against it
        done = past is not None and about and (named or is_for_a_person(past))
        yes = verdict is Verdict.APPROVED
        return Decided(
            past.number if past is not None else 0,
            verdict,
            self.row.epoch + self.afresh,
            note,
            now,
            paths=self.paths if yes else (),
            tests=failure.failing_tests if yes and about and failure is not None else (),
            work=past.patch_hash if past is not None and done else "",
            question=request.question,
        )


def sound_note(note: str) -> str:
    """Return a note as it can be kept; raise UsageError for one that is too long to be told to a worker."""
    text = note.strip().encode("utf-8", "replace").decode()
    if len(text) > NOTE_CHARS_MAX:
        raise UsageError(
            f"the note is too long: {len(text):,} characters, at most {NOTE_CHARS_MAX:,}",
            "Keep the note short, and put the rest into the issue's file.",
        )
    return text


def open_case(
    reader: Reader, row: IssueRow, verdict: Verdict, number: int | None = None, paths: tuple[str, ...] = ()
) -> Case:
    """Return what an issue waits for, or its attempt `number`, if a person calls that right; `paths` may change then.

    Raises UsageError if it waits for no yes or no, or for nothing any more.
    """
    if number is not None:
        return _named(reader, row, number, paths)
    past, request = reader.past(row.id), row.block or NOTHING_ASKED
    last = past[-1] if past else None
    blocked = row.status == IssueStatus.BLOCKED and bool(request.wants or paths)
    if row.status != IssueStatus.APPROVAL and not blocked:
        decided = reader.decisions(row.id)
        said = decided[-1] if decided else None
        same = (verdict, row.epoch, last.number if last is not None else 0)
        if said is not None and (said.verdict, said.epoch, said.attempt) == same:
            return Case(row, last, ApprovalKind.LANDING, settled=str(row.status))
        hint = f"Where it stands, and what can be done: noface show {row.id}"
        if row.status == IssueStatus.BLOCKED:
            hint = f'Its question takes words: noface retry {row.id} --note "…"'
            raise UsageError(f"issue {row.id} is blocked, and its question is answered by no yes or no", hint)
        raise UsageError(f"issue {row.id} is {row.status}; it does not wait for approval", hint)
    no = [
        command
        for way, command in zip(request.options, request.commands, strict=True)
        if way.startswith("no:") and " reject " not in command
    ]
    if blocked and verdict is Verdict.REJECTED and no:
        raise UsageError(f"the no to the question of issue {row.id} is another command", f"Say it with: {no[0]}")
    problem = gone(row) or (taken_back(reader, row) if blocked else None)
    if problem is not None:
        raise problem
    if last is None and not blocked:
        raise UsageError(f"issue {row.id} has no attempt to decide on", f"Try it again: noface retry {row.id}")
    otherwise = ApprovalKind.LANDING if last is not None and last.failure is None else ApprovalKind.GOING_ON
    wants = next((each for each in ApprovalKind if each.value == request.wants), otherwise)
    return Case(row, last, wants, paths or request.paths, afresh=blocked)


def _named(reader: Reader, row: IssueRow, number: int, paths: tuple[str, ...]) -> Case:
    problem = no_skipping(row) or gone(row) or taken_back(reader, row)
    if problem is not None:
        raise problem
    attempt = next((each for each in reader.past(row.id) if each.number == number), None)
    if attempt is None or not left_work(attempt):
        what = f"issue {row.id} has no attempt {number}" if attempt is None else f"attempt {number} has left no work"
        raise UsageError(what, f"Its attempts: noface show {row.id}")
    return Case(row, attempt, ApprovalKind.LANDING, paths or leave_of(attempt), afresh=True)


def decide(
    now: float, journal: Journal, questions: Questions, reader: Reader, case: Case, said: tuple[Verdict, str, str]
) -> None:
    """Carry out what a person has said of a case: verdict, note, and who they are.

    By a yes its work may land, or it goes on as proposed; the reason of a no goes into the next prompt.
    """
    (verdict, note, who), row, approved = said, case.row, said[0] is Verdict.APPROVED
    questions.decided(row.id, case.decided(now, verdict, note))
    past = case.attempt
    if case.wants is ApprovalKind.COMPLETE and past is not None:
        missed = "" if approved else note or "a person says that something is missing, and not what"
        after, epoch = past.number, row.epoch
        asked = questions.asked(now, row.id, Topic.MISSING, after=after, epoch=epoch, model="", run_id="", directory="")
        advice = Advice(Topic.MISSING, after, epoch=epoch, strategy=MISSING if missed else NOTHING_MISSING, text=missed)
        questions.answered(now, asked, row.id, advice)
        journal.status(now, row.id, IssueStatus.READY, f"{who} finds {'something' if missed else 'nothing'} missing")
    elif approved and case.wants is ApprovalKind.DONE:
        journal.status(now, row.id, IssueStatus.SKIPPED, f"done already, as {who} confirmed", satisfied=True)
    elif approved and case.wants is ApprovalKind.UNDONE:
        skip(now, journal, row, who)
    else:
        if past is not None and past.outcome == PASSED and case.wants is ApprovalKind.LANDING and not approved:
            journal.attempt_overruled(now, row.id, past.number, rejection(note, who))
        why, cause = f"{verdict} by {who}", Cause.APPROVED if approved else Cause.NONE
        if case.afresh:
            give_back(journal, questions, reader, now, row, "", why)
        journal.status(now, row.id, IssueStatus.READY, why, cause=cause)


def rejection(note: str, who: str) -> Failure:
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


def keep_note(questions: Questions, reader: Reader, now: float, row: IssueRow, note: str, epoch: int) -> None:
    """Keep a person's words for the next worker, with the question that they answer, if one is asked.

    The attempt that they call right is the one from which the next starts.
    """
    named = _IS_RIGHT.search(note)
    attempt = next((each for each in reader.past(row.id) if named and each.number == int(named[1])), None)
    number = attempt.number if attempt is not None and left_work(attempt) else 0
    asked = row.block.question if row.block is not None else ""
    questions.decided(row.id, Decided(number, Verdict.NOTED, epoch, note, now, question=asked))


def give_back(
    journal: Journal,
    questions: Questions,
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
    if note:
        keep_note(questions, reader, now, row, note, row.epoch + 1)
    journal.unblocked(now, row.id, why, model, attempts)


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
    hint = f"What it waits for, and its parts: noface show {row.id}"
    if row.status == "merged":
        hint = f"{ADD_ANOTHER}. Whether main still holds it, the next `noface run` sees."
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
