"""Publishes what is proven: pushes it to a branch of its own and opens its pull request, or updates that.

A publication takes three steps, each in a thread, since each waits for another machine:

1. look: what main is there by now, and what stands on the issue's branch. Work that was proven on an older main goes
   back to the merge queue; a branch with a person's commit is theirs, and the issue waits for them.
2. push: the proven commit, on top of what was seen, if that stands there still. The intent is recorded before.
3. open: the pull request, or the one that is open already gets the new text.

What a step did is recorded by the loop's thread before the next one begins, and each can be repeated: after a kill the
next run finds the intent, and ends with one branch and one pull request. Where the other side is away the work stays
in `landing`, with the reason, and is tried again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial

from noface.engine.context import RunContext
from noface.engine.dispatch import configured, history
from noface.engine.jobs import Job, JobKind, Jobs
from noface.engine.landing import QueueEntry
from noface.engine.outside import scratch_of, wait_for_person
from noface.engine.proposing import draft_of, proven_commit
from noface.engine.web_commits import with_commits_there
from noface.errors import ForgeAwayError, ForgeError, RemoteError, SigningError
from noface.forge.rest import NOT_FOR_US, RefusedError
from noface.git.refs import RefUpdate, branch_name, hold_ref
from noface.git.remote import Pushed, Rejected
from noface.model.gate import Proof
from noface.model.issue import Issue
from noface.model.pull_request import PullRequest
from noface.model.scratch import PERSON, SEEN, BranchTaken
from noface.model.taxonomy import IssueStatus
from noface.process.command import Canceller
from noface.process.failpoints import hit
from noface.recovery.pull_documents import taken_pull_document
from noface.recovery.pull_rounds import TAKEN, Followed, Seen, TakenByPerson
from noface.secrets.masked_records import masked_issue
from noface.store.pull_requests import Intended, PullStep
from noface.store.records import PullRow

MOVES_MAX = 3
"""How often work is proven again since main has moved there. Then it is pushed: the forge tells whether it merges."""
_PAUSES_S = (1.0, 4.0, 60.0, 300.0)
_REFUSED_PAUSE_S = 600.0
REFUSED = "publishing_refused"
"""The fact that says why everything was refused, "" if it was not."""
_OF_THE_WORK = "workflow `"
"""Stands in what GitHub says of a token that may not change files of workflows: other work is let in."""
SOON_S = 15.0
"""A pause of up to this length is none that anybody need be told of."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was seen on the remote: the commit on the issue's branch, "" for no branch, and whether noface made it."""

    tip: str
    ours: bool = False


@dataclass(frozen=True, slots=True)
class NotNow:
    """The other side did not answer, or refused. `until` is when to try again, None where it did not say.

    `of_all`: what it refuses, it refuses of every work.
    """

    reason: str
    passing: bool
    until: float | None = None
    of_all: bool = False


Outcome = Looked | Pushed | Rejected | PullRequest | NotNow
"""What came of a step."""


class _Step(Enum):
    LOOK = auto()
    PUSH = auto()
    OPEN = auto()


@dataclass(slots=True, eq=False)
class Publication:
    """The work of an issue on its way to a pull request. `held` says why it waits, `not_before` until when.

    `proof` is None where an earlier run has recorded the intent: then what it recorded is pushed.
    """

    entry: QueueEntry
    proof: Proof | None
    step: _Step = _Step.LOOK
    job: Job[Outcome] | None = None
    moved: int = 0
    failures: int = 0
    not_before: float = 0.0
    held: str = ""
    since: float = 0.0
    passing: bool = True

    def soon(self, now: float) -> bool:
        """Tell whether it is tried again so soon that a run only looks round meanwhile."""
        return self.not_before <= now + SOON_S


Back = Callable[[QueueEntry], None]
"""Takes work that is to be proven again."""


class Publishing:
    """The publications under way. The loop calls `step` from its thread."""

    def __init__(self, context: RunContext, jobs: Jobs, back: Back) -> None:
        self._context = context
        self._jobs = jobs
        self._back = back
        self._moved: dict[str, int] = {}
        self._refused = ""
        self._before = context.reader.fact(REFUSED) or ""
        self._publications: list[Publication] = []

    @property
    def refused(self) -> str:
        """Why no more work is begun: everything that is published is refused, for a reason that a person can mend."""
        return self._refused

    @property
    def in_doubt(self) -> bool:
        """True until this run has tried what an earlier one was refused: no worker is paid before."""
        return bool(self._before) and bool(self._publications) and not self._refused

    @property
    def working(self) -> bool:
        """True while another machine is asked."""
        return any(each.job is not None for each in self._publications)

    @property
    def busy(self) -> bool:
        """True while something is published, or is about to be."""
        now = self._context.clock.now()
        return any(each.job is not None or each.soon(now) for each in self._publications)

    def patience(self) -> tuple[float, str] | None:
        """Return until when a run with nothing else to do waits for the next try, and why; None where it may end.

        An outage is waited out as long as the run would wait for checks.
        """
        patience_s = self._context.settings.landing.follow_checks_s
        held = [each for each in self._publications if each.passing and each.not_before < each.since + patience_s]
        return min(((each.not_before, each.held) for each in held), default=None)

    @property
    def issues(self) -> frozenset[str]:
        """The issues whose work is being published."""
        return frozenset(each.entry.issue.id for each in self._publications)

    def add(self, entry: QueueEntry, proof: Proof) -> None:
        """Publish work that is proven."""
        self.drop(entry.issue.id)
        self._publications.append(Publication(entry, proof, moved=self._moved.get(entry.issue.id, 0)))
        self._tell(entry.issue.id, f"passed; being pushed to {branch_name(entry.issue.id)}")

    def resume(self, issue: Issue) -> bool:
        """Go on with what an earlier run has recorded for an issue that is to land; tell whether there is such."""
        row = self._context.pulls.row(issue.id)
        if row is None or row.state not in (PullStep.INTENT, PullStep.PUSHED):
            return False
        past = self._context.reader.past(issue.id)
        if not past or past[-1].number != row.attempt or self._context.env.plumbing.resolve(row.head) is None:
            return False
        step = _Step.OPEN if row.state == PullStep.PUSHED else _Step.PUSH
        self._publications.append(Publication(QueueEntry(issue, row.attempt, past[-1].candidate or ""), None, step))
        return True

    def step(self, *, begin: bool = True) -> None:
        """Take in what the threads bring, and start what is due if `begin`."""
        for each in tuple(self._publications):
            if each.job is not None and each.job.future.done():
                job, each.job = each.job, None
                if job.error is None:
                    self._came(each, job.future.result())
                else:  # noface itself broke, which ends the run: the next one goes on from what is recorded
                    self.drop(each.entry.issue.id)
        now = self._context.clock.now()
        for each in self._publications if begin else ():
            if each.job is None and each.not_before <= now:
                self._start(each)

    # Starting the steps

    def _start(self, each: Publication) -> None:
        context, issue = self._context, each.entry.issue
        run: Callable[[Canceller], Outcome]
        match each.step:
            case _Step.LOOK:
                run = partial(_guarded, partial(look_at_branch, context, issue.id))
            case _Step.PUSH:
                run = partial(_guarded, partial(_push, context, self._row(each)))
            case _Step.OPEN:
                draft = draft_of(context, self._row(each), issue)
                forge = context.forge
                assert forge is not None  # noqa: S101 - the start of the run has seen to it
                run = partial(_guarded, lambda _: forge.open(draft))
        each.job = self._jobs.start(Job(JobKind.REMOTE, issue.id, run, lambda _: None))

    def _row(self, each: Publication) -> PullRow:
        row = self._context.pulls.row(each.entry.issue.id)
        assert row is not None  # noqa: S101 - its intent is recorded
        return row

    # What comes of them

    def _came(self, each: Publication, outcome: Outcome) -> None:
        context, issue = self._context, each.entry.issue
        now = context.clock.now()
        if not isinstance(outcome, NotNow):
            each.failures, each.held = 0, ""
        match outcome:
            case Looked():
                self._looked(each, outcome)
            case Pushed(commit=commit):
                hit("branch_pushed")
                context.pulls.pushed(now, issue.id, commit)
                hit("push_recorded")
                each.step = _Step.OPEN
            case Rejected() if outcome.moved:
                each.step = _Step.LOOK
            case Rejected(reason=reason, said=said):
                why = f"{branch_name(issue.id)} cannot be pushed: {said or reason.line}"
                of_all = reason.cause.of_all and _OF_THE_WORK not in reason.line
                unsigned = "" if context.settings.landing.sign else reason.unsigned
                advice = unsigned or reason.own_branch or reason.advice
                self._hold(each, NotNow(f"{why}. {advice}".rstrip(), reason.cause.passing, of_all=of_all))
            case PullRequest():
                hit("pull_opened")
                self._accepted()
                notes = "".join(f"; without {note}" for note in outcome.notes)
                context.pulls.opened(now, issue.id, outcome, notes)
                hit("pull_recorded")
                self._moved.pop(issue.id, None)
                self.drop(issue.id)
            case NotNow():
                self._hold(each, outcome)

    def _looked(self, each: Publication, looked: Looked) -> None:
        context, issue, tip = self._context, each.entry.issue, looked.tip
        if tip and not self._holds(each, tip):
            number, candidate = each.entry.number, each.entry.candidate
            joined = with_commits_there(context, issue, number, candidate, tip) if candidate else None
            if joined is not None:
                self.drop(issue.id)
                self._tell(issue.id, f"passed; proven again with what was committed there meanwhile ({tip[:12]})")
                self._back(QueueEntry(issue, number, joined))
                return
        if tip and not _is_known(context, issue, looked):
            self.drop(issue.id)
            _take_over(context, issue, tip)
            return
        proof = each.proof
        main = context.env.plumbing.main()
        if proof is None or (proof.main != main and each.moved < MOVES_MAX):
            self._moved[issue.id] = each.moved + 1
            self.drop(issue.id)
            what = f"main moved there to {main[:12]}" if proof is not None else f"{branch_name(issue.id)} moved there"
            self._tell(issue.id, f"passed; {what}, so it is proven again")
            self._back(QueueEntry(issue, each.entry.number, each.entry.candidate))
            return
        row, number = context.pulls.row(issue.id), each.entry.number
        same = row is not None and (row.attempt, row.base, row.tree) == (number, proof.main, proof.tree)
        again = row is not None and same and (tip == row.head or (tip == row.pushed and row.state == PullStep.INTENT))
        try:
            head = row.head if row is not None and again else proven_commit(context, issue, number, proof, tip)
        except SigningError as error:
            self._hold(each, NotNow(f"{error.message}. {error.hint}", passing=True))
            return
        context.pulls.intended(
            context.clock.now(),
            Intended(
                issue.id, number, branch_name(issue.id), head, tip, proof.main, proof.tree, proof.gate_keys, proof.gates
            ),
        )
        hit("pull_intent")
        each.step = _Step.PUSH

    def _accepted(self) -> None:
        if self._before or self._refused:
            self._context.journal.fact(REFUSED, "")
        self._before = self._refused = ""

    def _holds(self, each: Publication, tip: str) -> bool:
        """Tell whether what stands on the branch is noface's, or in the work that is about to be pushed there."""
        row, plumbing = self._context.pulls.row(each.entry.issue.id), self._context.env.plumbing
        refs = scratch_of(self._context, each.entry.issue).refs
        given = {commit for name, commit in refs.items() if name.startswith(PERSON)}
        ours = row is None or (tip in (row.head, row.pushed) and tip not in given)
        return ours or (bool(each.entry.candidate) and plumbing.is_ancestor(tip, each.entry.candidate))

    def _hold(self, each: Publication, why: NotNow) -> None:
        """Try again later: soon at first, then seldom; at the time that the other side has named.

        What everything is refused for stops the run's work: more of it would be paid for in vain.
        """
        self._before = self._before if why.of_all else ""
        if why.of_all and not self._refused:
            self._refused = " ".join(why.reason.split()).rstrip(".")
            self._context.journal.fact(REFUSED, self._refused)
            self._context.log_event("publishing_refused", None, reason=self._refused)
        now = self._context.clock.now()
        pause = _PAUSES_S[min(each.failures, len(_PAUSES_S) - 1)] if why.passing else _REFUSED_PAUSE_S
        each.since = each.since if each.failures else now
        each.failures += 1
        was_soon, each.passing = each.soon(now), why.passing
        each.not_before = max(why.until or 0.0, now + pause)
        if each.held != why.reason or (was_soon and not each.soon(now) and each.failures <= len(_PAUSES_S)):
            each.held = why.reason
            self._tell(each.entry.issue.id, why.reason, each.not_before)

    def _tell(self, issue_id: str, reason: str, until: float | None = None) -> None:
        self._context.set_status(issue_id, IssueStatus.LANDING, reason, until)

    def drop(self, issue_id: str) -> None:
        """Leave an issue's work alone: a person decides about it, or it has landed elsewhere."""
        self._publications = [each for each in self._publications if each.entry.issue.id != issue_id]


def _is_known(context: RunContext, issue: Issue, looked: Looked) -> bool:
    """Tell whether what stands on an issue's branch is noface's, or was given to it by a person.

    A commit's own word that it is noface's counts only where the record of what was pushed is lost.
    """
    row, refs = context.pulls.row(issue.id), scratch_of(context, issue).refs
    given = {commit for name, commit in refs.items() if name.startswith(PERSON)}
    if row is None:
        return looked.ours or looked.tip in given
    return looked.tip in given | {row.head, row.pushed}


def _take_over(context: RunContext, issue: Issue, tip: str) -> None:
    """Leave an issue's branch on the remote, where a person has pushed `tip`, to them; the issue waits for them."""
    pulls, now, branch = context.pulls, context.clock.now(), branch_name(issue.id)
    context.env.plumbing.refs.apply(RefUpdate(hold_ref(issue.id, TAKEN), tip))  # a retry goes on from there
    row = pulls.row(issue.id)
    if row is None or row.number is None:
        with context.questions.together():
            pulls.taken(now, issue.id, branch, tip)
            remote = context.remote.name if context.remote is not None else ""
            wait_for_person(context, history(context, issue), BranchTaken(branch, tip, remote=remote))
        return
    taken = TakenByPerson(tip, f"a person has pushed to {branch} ({tip[:12]}) and owns it; a retry goes on from there")
    followed = Followed(issue.id, row.number, row.head, row.base, row.rounds, Seen(), branch, row.url, row.attempt)
    masked = masked_issue(issue, context.env.masker)
    document = taken_pull_document(masked, taken, followed, history(context, issue), configured(context, issue))
    with context.questions.together():
        pulls.ended(now, issue.id, PullStep.TAKEN)
        context.journal.blocked(now, issue.id, taken.reason, document)


def _guarded(ask: Callable[[Canceller], Outcome], cancel: Canceller) -> Outcome:
    """Ask another machine; a refusal and an outage are outcomes."""
    try:
        return ask(cancel)
    except ForgeAwayError as error:
        return NotNow(error.message, passing=True, until=error.until)
    except ForgeError as error:
        of_all = isinstance(error, RefusedError) and error.status in NOT_FOR_US
        return NotNow(f"{error.message} {error.hint}".strip(), passing=False, of_all=of_all)
    except RemoteError as error:
        return NotNow(f"{error.message}. {error.hint}".strip(), passing=error.passing)


def look_at_branch(context: RunContext, issue_id: str, cancel: Canceller) -> Looked:
    """Fetch main, and what stands on an issue's branch, which a ref holds then. Raises RemoteError."""
    remote, plumbing = context.remote, context.env.plumbing
    assert remote is not None  # noqa: S101 - the start of the run has seen to it
    remote.fetch_main(cancel)
    ref = f"refs/heads/{branch_name(issue_id)}"
    tip = remote.read(ref, cancel=cancel).refs.get(ref, "")
    if not tip:
        return Looked("")
    held = hold_ref(issue_id, SEEN)
    remote.fetch(f"+{ref}:{held}", cancel=cancel)
    tip = plumbing.resolve(held) or tip
    return Looked(tip, any(each.issue == issue_id for each in plumbing.landings(f"{tip}^!")))


def _push(context: RunContext, row: PullRow, cancel: Canceller) -> Outcome:
    remote = context.remote
    assert remote is not None  # noqa: S101 - the start of the run has seen to it
    return remote.push(row.head, f"refs/heads/{row.branch}", row.pushed, cancel)
