"""Publishes what is proven: looks at the issue's branch, pushes to it, opens or updates its pull request.

Each step waits in a thread, is recorded by the loop's before the next, and can be repeated: after a kill the next run
finds the intent. Work that was proven on an older main is proven again; a branch with a person's commit is theirs.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial

from noface.engine.context import RunContext
from noface.engine.dispatch import configured
from noface.engine.landing.waiting import QueueEntry
from noface.engine.outages import PUSH_PAUSES_S, PUSH_REFUSED_S, SOON_S, Outage
from noface.engine.outside import scratch_of, wait_for_person
from noface.engine.parts import RunParts
from noface.engine.prompt_context import history_of
from noface.engine.stations import OpenStory, Patience, Station, Steps, Tick, call
from noface.errors import ForgeError, NofaceError, RemoteError, SigningError
from noface.forge.rest import NOT_FOR_US, RefusedError
from noface.git.landings import landings
from noface.git.refs import RefUpdate, branch_name, hold_ref
from noface.model.gate import Proof
from noface.model.issue import Issue
from noface.model.pull_request import PullDraft, PullRequest
from noface.model.scratch import PERSON, SEEN, BranchTaken
from noface.model.taxonomy import Cause, IssueStatus
from noface.process.command import Canceller
from noface.process.failpoints import hit
from noface.recovery.pull_rounds import TAKEN, TakenByPerson
from noface.recovery.requests import taken_pull_request
from noface.remote.proposing import draft_of, proven_commit
from noface.remote.web_commits import with_commits_there
from noface.secrets.masked_records import masked_record
from noface.store.pull_requests import PullStep
from noface.store.records import PullRow

MOVES_MAX = 3
"""How often work is proven again since main has moved there. Then it is pushed: the forge tells whether it merges."""
REFUSED = "publishing_refused"
"""The fact that says why everything was refused, "" if it was not."""
_OF_THE_WORK = "workflow `"
"""Stands in what GitHub says of a token that may not change files of workflows: other work is let in."""


class _PushRefusedError(RemoteError):
    """The remote does not take a branch. `of_all`: nor any other work."""

    of_all = False


@dataclass(slots=True, eq=False)
class PendingPublication:
    """The work of an issue on its way to a pull request. If there is no `proof`, the intent is recorded."""

    entry: QueueEntry
    proof: Proof | None
    outage: Outage
    story: OpenStory | None = None


class Publishing(Station):
    """The publications under way."""

    def __init__(self, run: RunParts) -> None:
        self._run, self._context = run, run.context
        self._moved: dict[str, int] = {}
        self._refused = ""
        self._before = run.context.reader.fact(REFUSED) or ""
        self._publications: dict[str, PendingPublication] = {}
        run.queue.publisher = self

    @property
    def refused(self) -> str:
        """Why no more work is begun: everything that is published is refused, for a reason that a person can mend."""
        return self._refused

    def admitted(self, issue_ids: Collection[str]) -> Collection[str]:
        """Pay no worker if all is refused, or before this run has tried what an earlier one was refused."""
        return () if self._refused or (self._before and self._publications) else issue_ids

    def at_work(self, *, stopping: bool) -> bool:
        now = self._context.clock.now()
        under_way = self._publications.values()
        # What is tried again so soon that a run only looks round meanwhile counts, too.
        soon = not stopping and any(each.outage.until <= now + SOON_S for each in under_way)
        return soon or any(each.story is not None and each.story.job is not None for each in under_way)

    def next_try(self) -> Patience | None:
        """Return until when an idle run waits for the next try: as long as it would wait for checks."""
        patience_s = self._context.settings.config.landing.follow_checks
        away = [each.outage for each in self._publications.values() if each.outage.passing]
        held = [Patience(each.until, each.reason) for each in away if each.until < each.since + patience_s]
        return min(held, key=lambda each: each.until, default=None)

    @property
    def issues(self) -> frozenset[str]:
        return frozenset(self._publications)

    def add(self, entry: QueueEntry, proof: Proof) -> None:
        self._begin(entry, proof)
        self._tell(entry.issue.id, f"passed; being pushed to {branch_name(entry.issue.id)}")

    def resume(self, issue: Issue) -> bool:
        """Go on with what an earlier run has recorded for an issue that is to land; tell whether there is such."""
        row = self._context.pulls.row(issue.id)
        if row is None or row.state not in (PullStep.INTENT, PullStep.PUSHED):
            return False
        past = self._context.reader.past(issue.id)
        if not past or past[-1].number != row.attempt or self._context.env.plumbing.resolve(row.head) is None:
            return False
        self._begin(QueueEntry(issue, row.attempt, past[-1].candidate or ""), None)
        return True

    def _begin(self, entry: QueueEntry, proof: Proof | None) -> None:
        issue_id = entry.issue.id
        self.drop(issue_id)
        tell = partial(self._held, issue_id)
        outage = Outage(self._context.clock, PUSH_PAUSES_S, PUSH_REFUSED_S, tell, each_reason=True)
        each = self._publications[issue_id] = PendingPublication(entry, proof, outage)
        each.story = self._run.stations.begin(self._publish(each))

    def drop(self, issue_id: str) -> None:
        """Leave an issue's work alone: a person decides about it, or it has landed elsewhere."""
        dropped = self._publications.pop(issue_id, None)
        if dropped is not None and dropped.story is not None:
            self._run.stations.end(dropped.story)

    def _publish(self, each: PendingPublication) -> Steps[None]:
        """Look, push and open, each again until it is answered; what is recorded says which of them comes next."""
        context, issue_id, recorded = self._context, each.entry.issue.id, each.proof is None
        while True:
            row = context.pulls.row(issue_id) if recorded else None
            try:
                if row is None:
                    tip, ours = yield from call(partial(look_at_branch, context, issue_id), issue_id)
                    recorded = self._intend(each, tip, ours=ours)
                    if not recorded:  # it is proven again, or the branch is a person's
                        self._publications.pop(issue_id)
                        return
                    hit("pull_intent")
                elif row.state == PullStep.INTENT:
                    commit = yield from call(partial(_push, context, row), issue_id)
                    recorded = commit is not None  # else somebody was faster there: look again
                    if commit is not None:
                        hit("branch_pushed")
                        context.pulls.pushed(context.clock.now(), issue_id, commit)
                        hit("push_recorded")
                else:
                    draft = draft_of(context, row, each.entry.issue)
                    pull = yield from call(partial(_open, context, draft), issue_id)
                    hit("pull_opened")
                    self._opened(issue_id, pull)
                    hit("pull_recorded")
                    return
                each.outage.over()
            except (ForgeError, RemoteError, SigningError) as error:
                self._failed(each, error)
                yield Tick(each.outage.until)

    def _intend(self, each: PendingPublication, tip: str, *, ours: bool) -> bool:
        """Record what is to be pushed; False if it is not, since main moved, or others did something on the branch."""
        context, issue, number = self._context, each.entry.issue, each.entry.number
        candidate, proof, main = each.entry.candidate, each.proof, context.env.plumbing.main()
        if tip and not self._holds(each, tip):
            joined = with_commits_there(context, issue, number, candidate, tip) if candidate else None
            if joined is not None:
                self._tell(issue.id, f"passed; proven again with what was committed there meanwhile ({tip[:12]})")
                self._run.queue.add(QueueEntry(issue, number, joined))
                return False
        row = context.pulls.row(issue.id)
        # A commit's own word that it is noface's counts only if the record of what was pushed is lost.
        known = ours if row is None else tip in (row.head, row.pushed)
        if tip and not known and tip not in _given(context, issue):
            _take_over(context, issue, tip)
            return False
        moved = self._moved.get(issue.id, 0)
        if proof is None or (proof.main != main and moved < MOVES_MAX):
            self._moved[issue.id] = moved + 1
            what = f"main moved there to {main[:12]}" if proof is not None else f"{branch_name(issue.id)} moved there"
            self._tell(issue.id, f"passed; {what}, so it is proven again")
            self._run.queue.add(QueueEntry(issue, number, candidate))
            return False
        same = row is not None and (row.attempt, row.base, row.tree) == (number, proof.main, proof.tree)
        again = row is not None and same and (tip == row.head or (tip == row.pushed and row.state == PullStep.INTENT))
        head = row.head if row is not None and again else proven_commit(context, issue, number, proof, tip)
        columns = {"attempt": number, "branch": branch_name(issue.id), "head": head, "pushed": tip}
        columns |= {"base": proof.main, "tree": proof.tree}
        context.pulls.intended(context.clock.now(), issue.id, proof.gate_keys, proof.gates, **columns)
        return True

    def _opened(self, issue_id: str, pull: PullRequest) -> None:
        if self._before or self._refused:
            self._context.journal.fact(REFUSED, "")
        self._before = self._refused = ""
        notes = "".join(f"; without {note}" for note in pull.notes)
        self._context.pulls.opened(self._context.clock.now(), issue_id, pull, notes)
        self._moved.pop(issue_id, None)
        self._publications.pop(issue_id)

    def _holds(self, each: PendingPublication, tip: str) -> bool:
        """True if what stands on the branch is noface's, or in the work that is about to be pushed there."""
        row, plumbing = self._context.pulls.row(each.entry.issue.id), self._context.env.plumbing
        ours = row is None or (tip in (row.head, row.pushed) and tip not in _given(self._context, each.entry.issue))
        return ours or (bool(each.entry.candidate) and plumbing.is_ancestor(tip, each.entry.candidate))

    def _failed(self, each: PendingPublication, error: NofaceError) -> None:
        """Try again later; what everything is refused for stops the run's work, which would be paid for in vain."""
        of_all = isinstance(error, _PushRefusedError) and error.of_all
        of_all = of_all or (isinstance(error, RefusedError) and error.status in NOT_FOR_US)
        self._before = self._before if of_all else ""
        if of_all and not self._refused:
            self._refused = " ".join(error.reason.split()).rstrip(".")
            self._context.journal.fact(REFUSED, self._refused)
            self._context.log_event("publishing_refused", None, reason=self._refused)
        each.outage.met(error)

    def _held(self, issue_id: str, error: NofaceError, until: float, _: str | None) -> None:
        self._context.set_status(issue_id, IssueStatus.LANDING, error.reason, until, cause=Cause.HELD)

    def _tell(self, issue_id: str, reason: str) -> None:
        self._context.set_status(issue_id, IssueStatus.LANDING, reason)


def _given(context: RunContext, issue: Issue) -> set[str]:
    return {commit for name, commit in scratch_of(context.env.plumbing, issue).refs.items() if name.startswith(PERSON)}


def _take_over(context: RunContext, issue: Issue, tip: str) -> None:
    """Leave an issue's branch on the remote, if a person has pushed `tip`, to them; the issue waits for them."""
    pulls, now, branch = context.pulls, context.clock.now(), branch_name(issue.id)
    context.env.plumbing.refs.apply(RefUpdate(hold_ref(issue.id, TAKEN), tip))  # a retry goes on from there
    row = pulls.row(issue.id)
    if row is None or row.number is None:
        with context.questions.together():
            pulls.taken(now, issue.id, branch, tip)
            remote = context.remote.name if context.remote is not None else ""
            wait_for_person(context, history_of(context, issue), BranchTaken(branch, tip, remote=remote))
        return
    taken = TakenByPerson(tip, f"a person has pushed to {branch} ({tip[:12]}) and owns it; a retry goes on from there")
    masked = masked_record(issue, context.env.masker)
    request = taken_pull_request(taken, masked, row.followed, history_of(context, issue), configured(context, issue))
    with context.questions.together():
        pulls.ended(now, issue.id, PullStep.TAKEN)
        context.journal.blocked(now, issue.id, taken.reason, request)


def look_at_branch(context: RunContext, issue_id: str, cancel: Canceller) -> tuple[str, bool]:
    """Fetch main and an issue's branch, which a ref holds then; return its commit ("": none), and if noface made it."""
    remote, plumbing = context.remote, context.env.plumbing
    assert remote is not None  # noqa: S101 - the start of the run has seen to it
    remote.fetch_main(cancel)
    ref = f"refs/heads/{branch_name(issue_id)}"
    tip = remote.read(ref, cancel=cancel)[0].get(ref, "")
    if not tip:
        return "", False
    held = hold_ref(issue_id, SEEN)
    remote.fetch(f"+{ref}:{held}", cancel=cancel)
    tip = plumbing.resolve(held) or tip
    return tip, any(each.issue == issue_id for each in landings(plumbing, f"{tip}^!"))


def _push(context: RunContext, row: PullRow, cancel: Canceller) -> str | None:
    """Push what is recorded; return the commit that stands there now, None if another one does. Raises RemoteError."""
    remote = context.remote
    assert remote is not None  # noqa: S101 - the start of the run has seen to it
    result = remote.push(row.head, f"refs/heads/{row.branch}", row.pushed, cancel)
    if result is None:
        return row.head
    if result.moved:
        return None
    reason = result.reason
    why = f"{row.branch} cannot be pushed: {result.server_words or reason.line}"
    refused = _PushRefusedError(why, reason.advice, passing=reason.cause.passing)
    refused.of_all = reason.cause.of_all and _OF_THE_WORK not in reason.line
    raise refused


def _open(context: RunContext, draft: PullDraft, _cancel: Canceller) -> PullRequest:
    assert context.forge is not None  # noqa: S101 - the start of the run has seen to it
    return context.forge.open(draft)
