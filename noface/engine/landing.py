"""The merge queue: one landing at a time, first come first served. Main moves only here (law 1).

An attempt whose proof is for the present main lands at once. Otherwise its merge with the present main is proven
first, in a thread: the merge result is gated. The entries behind it wait, since another landing would make that proof
worthless.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Protocol

from noface.attempt.environment import LANDING_SLOT
from noface.attempt.gate_session import GateTask
from noface.attempt.held_secrets import why_held_back, without_history
from noface.attempt.judge import conflict
from noface.attempt.prove import Proving
from noface.attempt.prove import prove as prove_tree
from noface.attempt.trial import CutShort
from noface.engine.changed_tests import let_for
from noface.engine.context import RunContext
from noface.engine.ground import fetch_again
from noface.engine.jobs import JobKind, Jobs
from noface.engine.landing_commits import landing_commit
from noface.engine.lessons import keep_lesson
from noface.engine.merged_branches import remove_merged
from noface.engine.outages import PUSH_PAUSES_S, PUSH_REFUSED_S, Outage
from noface.engine.outside import branch_in_the_way, wait_for_person
from noface.engine.prompt_context import attempt_directory, history_of
from noface.engine.pushed_landing import LandedThere, follow_push, landed_there, push_landing, was_pushed
from noface.engine.stations import R, Stations, Steps, Tick, call
from noface.engine.unasked_landings import rewritten_beside, unasked_landings
from noface.errors import RefLockedError, RemoteError, SigningError
from noface.git.fast_forward import Blocked, Landed, Moved
from noface.git.landing import advance
from noface.git.refs import ZERO, RefUpdate, hold_ref
from noface.git.remote import Pushed, Rejected
from noface.git.taken_back import merge_and_hold, taken_back
from noface.model.attempt import CHANGED_TESTS, UNFINISHED, landing_note, noted
from noface.model.failure import Failure
from noface.model.gate import Proof
from noface.model.history import Verdict
from noface.model.issue import Issue, joined
from noface.model.scratch import needed_until_landed
from noface.model.taxonomy import Cause, IssueStatus
from noface.process.failpoints import hit
from noface.process.supervise import Canceller
from noface.recovery.schedule import Contest
from noface.secrets.masked_records import masked_issue

_HELD_RETRY_S = 5.0
_PASSING_RETRY_S = 0.5
_UNSEEN_RETRY_S = 0.2
PATIENCE_S = 30.0
"""How long a run with nothing else to do waits for another git's lock before it ends with the issue in landing.

An editor's git, or a commit with slow hooks, holds one for seconds; a lock that stays longer usually has no holder.
"""


class Publisher(Protocol):
    """Takes what is proven where it does not land here: it is pushed, and a pull request is opened."""

    def add(self, entry: "QueueEntry", proof: Proof) -> None:
        """Publish the work of an entry."""

    def drop(self, issue_id: str) -> None:
        """Leave an issue's work alone."""

    def resume(self, issue: Issue) -> bool:
        """Go on with what an earlier run has recorded for an issue; tell whether there is such."""

    @property
    def issues(self) -> frozenset[str]:
        """The issues whose work is on its way."""


Proven = Proof | Failure | LandedThere | None
"""A proof, the failure of the merge result, or None if a cancel ended the proving."""


LastLook = Callable[["QueueEntry"], Failure | bool]
"""Looks at an issue right before main moves: may its work land? A failure is why it is done once more.

False: not now, or no more; then it is out of the queue by itself.
"""


@dataclass(slots=True)
class QueueEntry:
    """A passed attempt that waits to land. `not_before` is set while something of the person's is in the way.

    `held` says what that is; `cause` distinguishes it from the next, and `passing_since` is set where such a thing
    usually goes by itself. Both times are the clock's. `intended` is a landing of which it is not known whether it was
    pushed. `mains` are the commits where main stood when work began, as far as they are recorded. `ready_at` is since
    when nothing but a last look is missing.
    """

    issue: Issue
    number: int
    candidate: str
    proof: Proof | None = None
    not_before: float = 0.0
    held: str = ""
    cause: tuple[str, bool] = ("", False)
    passing_since: float | None = None
    intended: "IntendedLanding | None" = None
    mains: frozenset[str] = frozenset()
    ready_at: float | None = None

    def worth_waiting(self, now: float) -> bool:
        """True if a run should go on for this entry alone."""
        return not self.held or (self.passing_since is not None and now < self.passing_since + PATIENCE_S)


@dataclass(frozen=True, slots=True)
class IntendedLanding:
    """A landing whose intent is recorded, as row `landing`: to `commit`, by `proof`.

    `unfinished`: its worker did not finish; `changed_tests`: main's tests contradict it, and its issue asks for that.
    """

    landing: int
    commit: str
    proof: Proof
    unfinished: bool
    changed_tests: bool


def prove(
    context: RunContext,
    entry: QueueEntry,
    cancel: Canceller,
    *,
    approved: bool,
    let: frozenset[str] | None = None,
    landed: tuple[tuple[str, str], ...] = (),
) -> Proven:
    """Merge an entry with main as it is now and run every gate on the result, unless that tree has passed.

    If it alters its judges, it must be green with main's as well, unless a person or the issue's own commands want the
    change, or it contradicts but those tests of main that it was `let` to. `landed` are the run's landings that nobody
    let change tests.
    """
    scope, issue, gates = context.scope(cancel), entry.issue, context.gates_for(entry.issue)
    plumbing = scope.env.plumbing
    if context.settings.landing.push:
        fetch_again(context, cancel)
    main = plumbing.main()
    if context.settings.landing.push and (there := landed_there(plumbing, issue.id, entry.candidate, main)) is not None:
        return there
    brought = merge_and_hold(plumbing, hold_ref(issue.id, "merge"), main, entry.candidate, entry.mains)
    merge = brought.merge
    if merge.tree is None:
        return conflict(merge.conflicts)
    fit = without_history(scope.env, hold_ref(issue.id, "merge"), main, brought.commit, merge.tree)
    if isinstance(fit, Failure):
        return fit
    hit("merge_built")
    logs = Path(attempt_directory(context.settings.attempts_dir, issue.id, entry.number)) / "landing"
    token, known = f"landing-{issue.id}", context.known
    task = GateTask(issue.id, entry.number, token, LANDING_SLOT, merge.tree, fit, main, logs, known)
    proving = Proving(scope, task, gates, joined((issue,)), landed, tuple(let or ()))
    try:
        proven = prove_tree(proving, judged=not (approved or issue.accept), let=let)
    except CutShort:
        return None
    if isinstance(proven, Proof):
        return proven
    return _overruled(proven.failure, main) if proven.of_work else proven.failure


def _overruled(failure: Failure, main: str) -> Failure:
    message = f"passed alone, but merged with main ({main[:12]}) {failure.message}"
    return replace(failure, message=message)


class MergeQueue:
    """Lands what is proven, as a story that the loop's thread resumes.

    `last_look` looks at an issue right before main moves; `rejected` takes what passed alone and failed when merged.
    """

    def __init__(self, context: RunContext, jobs: Jobs, stations: Stations) -> None:
        self._context, self._jobs, self._stations = context, jobs, stations
        self._entries: list[QueueEntry] = []
        self._remote = Outage(context.clock, PUSH_PAUSES_S, PUSH_REFUSED_S)
        self._tried: set[int] = set()  # in this tick: of several that one lock holds up, one is always due again
        self.working = False
        self.publisher: Publisher | None = None
        self.last_look: LastLook = lambda _: True
        self.rejected: Callable[[QueueEntry, Failure], None] = lambda _entry, _failure: None

    @property
    def due(self) -> frozenset[str]:
        """The issues that land soon; what a person's doing holds up may take any time."""
        return frozenset(entry.issue.id for entry in self._entries if not entry.held)

    @property
    def waiting(self) -> frozenset[str]:
        """All issues whose work waits to land and is not on its way to a remote."""
        return frozenset(entry.issue.id for entry in self._entries if entry.intended is None)

    @property
    def published(self) -> frozenset[str]:
        """The issues whose work is on its way to a pull request."""
        return self.publisher.issues if self.publisher is not None else frozenset()

    def resume(self, issue: Issue) -> bool:
        """Go on with what an earlier run began to publish for an issue; tell whether there is such."""
        return self.publisher is not None and self.publisher.resume(issue)

    @property
    def busy(self) -> bool:
        """True while something can land without a person's doing."""
        now = self._context.clock.now()
        return self.working or any(entry.worth_waiting(now) for entry in self._entries)

    def add(self, entry: QueueEntry) -> None:
        """Queue a passed attempt; an entry of the same issue is replaced. What has worked alone lands first."""
        self._entries = [e for e in self._entries if e.issue.id != entry.issue.id]
        alone = entry.issue.id in self._context.reader.lost_to_main()
        env, mains = self._context.env, self._context.reader.mains()
        # It may have brought back what a person took away, of which its attempt knew nothing; or it is held back.
        lost = entry.proof is not None and taken_back(env.plumbing, mains, env.plumbing.main())
        if lost or (entry.proof is not None and why_held_back(env, entry.proof.candidate)):
            entry.proof = None
        if entry.proof is not None and rewritten_beside(self._context, entry.issue.id, entry.number):
            entry.proof = None
        self._entries.insert(0 if alone else len(self._entries), entry)

    def drop(self, issue_id: str) -> None:
        """Take an issue out of the queue: it has landed elsewhere, or a person decides about it."""
        self._entries = [entry for entry in self._entries if entry.issue.id != issue_id]
        if self.publisher is not None:
            self.publisher.drop(issue_id)

    def land_all(self) -> Steps[None]:
        """Land what can land, one entry at a time."""
        while True:
            yield Tick(always=True)
            self._tried.clear()
            while (entry := self._next()) is not None:
                self._tried.add(id(entry))
                if (yield from self._go_on_with(entry)):
                    break

    def _go_on_with(self, entry: QueueEntry) -> Steps[bool]:
        """Land an entry, or make its proof; True if the others wait for the next tick."""
        context, main = self._context, self._context.env.plumbing.main()
        if (why := branch_in_the_way(context, entry.issue)) is not None:
            self._remove(entry)
            state = context.reader.state(entry.issue.id)
            wait_for_person(context, history_of(context.reader, context.questions, entry.issue, state), why)
        elif entry.intended is not None and was_pushed(context, entry.intended.commit):
            self._pushed(entry, entry.intended)
        elif entry.proof is not None and entry.proof.main == main:
            return (yield from self._look_and_land(entry, entry.proof))
        elif self._stations.stopping:
            return True
        else:
            if entry.intended is not None:
                self._drop_intent(entry, entry.intended)
            yield from self._prove(entry)
        return False

    def _next(self) -> QueueEntry | None:
        """Return the next entry that may land: none beside an issue that works alone, for which it could move main."""
        now = self._context.clock.now()
        free = [entry for entry in self._entries if entry.not_before <= now and id(entry) not in self._tried]
        if not free or not (working := self._jobs.issues(JobKind.ATTEMPT, JobKind.QUESTION)):
            return next(iter(free), None)
        if working & self._context.suspects:  # which would not be alone: nothing could be told from another death
            return None
        lost = self._context.reader.lost_to_main()
        alone = tuple(issue for issue in self._context.issues if issue.id in working and issue.id in lost)
        contest = Contest(lost)
        return next((entry for entry in free if contest.rival(entry.issue, alone) is None), None)

    def _in_thread(self, entry: QueueEntry, run: Callable[[Canceller], R], *, always: bool = False) -> Steps[R]:
        """Have a thread do something for an entry; return what it returns, and raise what it raises, at the next tick.

        In the loop's turn an error ends the run at once.
        """
        self.working = True
        try:
            result = yield from call(run, entry.issue.id, kind=JobKind.LANDING, always=always)
        except Exception:
            yield Tick(always=True)
            raise
        else:
            yield Tick(always=True)
        finally:
            self.working = False
            self._tried.clear()
        return result

    def _prove(self, entry: QueueEntry) -> Steps[None]:
        context, issue_id, number = self._context, entry.issue.id, entry.number
        approvals = context.questions.approvals(issue_id)
        approved = any(each.attempt == number and each.verdict is Verdict.APPROVED for each in approvals)
        let = let_for(context.questions.advice(issue_id), number)
        landed = unasked_landings(context)
        entry.mains, entry.ready_at = context.reader.mains(), None
        run = partial(prove, context, entry, approved=approved, let=let, landed=landed)
        try:
            proven = yield from self._in_thread(entry, run)
        except Exception:
            if self._holds(entry):
                raise
            return
        if not self._holds(entry):
            return  # it was withdrawn, has landed elsewhere, or a person decides about it
        match proven:
            case Proof():
                entry.proof = proven
                if proven.candidate != entry.candidate:
                    left_out = "secret" if why_held_back(context.env, entry.candidate) else "history"
                    context.log_event(f"{left_out}_left_out", issue_id, number=number, main=proven.main)
            case Failure():
                self._remove(entry)
                self.rejected(entry, proven)
            case LandedThere(commit):
                self._remove(entry)
                context.journal.merged(context.clock.now(), issue_id, commit)
            case None:
                pass

    def _holds(self, entry: QueueEntry) -> bool:
        return any(each is entry for each in self._entries)

    def _look_and_land(self, entry: QueueEntry, proof: Proof) -> Steps[bool]:
        """Land an entry whose issue still asks for this very work; True if the others wait for the next tick."""
        now = self._context.clock.now()
        entry.ready_at = entry.ready_at if entry.ready_at is not None else now
        # A push of which nothing is known may have moved main there: it is repeated, whoever wants the work by now.
        match entry.intended is not None or self.last_look(entry):
            case Failure() as failure:
                self._remove(entry)
                self.rejected(entry, failure)
            case True if self._context.settings.landing.push and self.publisher is None:
                yield from self._push(entry, proof)
            case True:
                self._land(entry, proof)
            case False:
                entry.not_before = now + _UNSEEN_RETRY_S
        return False

    def _land(self, entry: QueueEntry, proof: Proof) -> None:
        context = self._context
        context.keep_hold()
        if self.publisher is not None:
            self._remove(entry)
            self.publisher.add(entry, proof)
            return
        intended = self._intended(entry, proof)
        if intended is None:
            return
        entry.intended = None
        note = f"noface: land issue {entry.issue.id}"
        # The engine waits meanwhile: only for a lock that nobody has met before.
        patient = all(each.passing_since is None for each in self._entries)
        result = advance(context.env.plumbing, proof.main, intended.commit, note, patient=patient)
        match result:
            case Landed():
                self._landed(entry, intended)
            case Moved():
                context.journal.landing_dropped(intended.landing)
                entry.proof = None
            case Blocked():
                context.journal.landing_dropped(intended.landing)
                self._hold(entry, result)

    def _push(self, entry: QueueEntry, proof: Proof) -> Steps[None]:
        """Move the remote's main; a push of which nothing is known stays intended, and is repeated as it is."""
        self._context.keep_hold()
        if self._remote.until > self._context.clock.now():  # another entry has just met what this one would
            self._hold(entry, self._remote_blocked(), self._remote.until)
            return
        intended = self._intended(entry, proof)
        if intended is None:
            return
        run = partial(push_landing, self._context, proof.main, intended.commit)
        try:
            result = yield from self._in_thread(entry, run, always=True)
            if isinstance(result, Rejected) and not result.moved:
                self._drop_intent(entry, intended)
                why = f"main cannot be pushed: {result.server_words or result.reason.line}"
                raise RemoteError(why, result.reason.advice)  # noqa: TRY301 - a refusal is met like an outage
        except RemoteError as error:
            self._remote.met(error, quietly=True)
            self._hold(entry, self._remote_blocked(), self._remote.until)
            return
        self._remote.over()
        if isinstance(result, Pushed):
            self._pushed(entry, intended)
        else:
            self._drop_intent(entry, intended)
            entry.proof = None

    def _remote_blocked(self) -> Blocked:
        reason = self._remote.reason
        return Blocked(reason, passing=reason if self._remote.passing else "")

    def _intended(self, entry: QueueEntry, proof: Proof) -> IntendedLanding | None:
        """Return the recorded intent to land an entry, None if its commit cannot be signed now."""
        if entry.intended is None:
            try:
                entry.intended = self._intend(entry, proof)
            except SigningError as error:
                self._hold(entry, Blocked(f"{error.message}. {error.hint}"))
                return None
            hit("landing_intent")
        return entry.intended

    def _intend(self, entry: QueueEntry, proof: Proof) -> IntendedLanding:
        """Make the commit that is to be main, and record the intent."""
        context = self._context
        parents = (proof.main,) if context.settings.squash else (proof.main, proof.candidate)
        named = masked_issue(entry.issue, context.env.masker)
        rows = context.reader.attempts(entry.issue.id)
        notes = next((row.notes for row in rows if row.number == entry.number), ())
        base = "" if parents[1:] else proof.main
        commit = landing_commit(context, named, entry.number, proof.tree, parents, base=base, note=landing_note(notes))
        landing = context.journal.landing_intent(
            context.clock.now(),
            entry.issue.id,
            entry.number,
            old=proof.main,
            new=commit,
            tree=proof.tree,
            gates=proof.gate_keys,
            results=proof.gates,
        )
        return IntendedLanding(
            landing, commit, proof, bool(noted(notes, UNFINISHED)), bool(noted(notes, CHANGED_TESTS))
        )

    def _landed(self, entry: QueueEntry, intended: IntendedLanding) -> None:
        context, proof = self._context, intended.proof
        now, marks = context.clock.now(), {"unfinished": intended.unfinished, "changed_tests": intended.changed_tests}
        context.journal.landed(now, intended.landing, entry.issue.id, intended.commit, proof.flaky, **marks)
        hit("landing_recorded")
        keep_lesson(context, entry.issue)
        self._remove(entry)
        if context.known is not None:
            context.known = tuple((result.gate.name, result.failing_tests) for result in proof.gates)

    def _pushed(self, entry: QueueEntry, intended: IntendedLanding) -> None:
        hit("landing_pushed")
        follow_push(self._context, intended.proof.main, intended.commit, f"noface: land issue {entry.issue.id}")
        self._landed(entry, intended)

    def _drop_intent(self, entry: QueueEntry, intended: IntendedLanding) -> None:
        self._context.journal.landing_dropped(intended.landing)
        entry.intended = None

    def _hold(self, entry: QueueEntry, held: Blocked, until: float | None = None) -> None:
        paths = f": {', '.join(held.paths)}" if held.paths else ""
        reason = held.reason + paths
        now = self._context.clock.now()
        if not held.passing:
            entry.passing_since = None
        elif entry.passing_since is None:
            entry.passing_since = now
        entry.held = entry.held or reason
        entry.not_before = until or now + (_PASSING_RETRY_S if held.passing else _HELD_RETRY_S)
        # The reason names the age of a lock: it is shown when the lock appears, and when it has stayed.
        cause = held.passing or reason, not entry.worth_waiting(now)
        if entry.cause != cause:
            entry.cause, entry.held = cause, reason
            self._context.journal.status(now, entry.issue.id, IssueStatus.LANDING, reason, cause=Cause.HELD)

    def _remove(self, entry: QueueEntry) -> None:
        self._entries = [e for e in self._entries if e is not entry]


def release_merged(context: RunContext) -> None:
    """Remove the refs that only the way to main needs, and the scratch branches that may go.

    Attempts keep their refs until `noface clean`.
    """
    plumbing = context.env.plumbing
    merged = {issue_id for issue_id, state in context.reader.states().items() if state.status is IssueStatus.MERGED}
    prefixes = tuple(hold_ref(issue_id, "") for issue_id in merged)
    held = plumbing.references("refs/noface/issues")
    passing = [ref for ref in held if needed_until_landed(ref.rpartition("/")[2]) and ref.startswith(prefixes)]
    try:
        plumbing.refs.apply(*(RefUpdate(ref, ZERO) for ref in passing))
        if not context.settings.landing.keep_branches:
            remove_merged(plumbing, context.reader)
    except RefLockedError as error:  # the next run does it
        context.log_event("refs_kept", reason=error.hint)
    hit("cleaned_up")
