"""The merge queue: main moves only here (law 1).

`MergeLine` says which stacks of candidates are proven next, each in a gate slot of its own, and what follows of each
result. Here they are built and proven in threads, and what is proven lands: as one commit for each proven prefix. A
candidate whose attempt was proven on the present main lands at once, if nothing is under way that it would make
worthless. What is proven for a pull request goes to the `Publisher` instead.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Protocol

from noface.attempt.changes import why_held_back
from noface.engine.context import RunContext
from noface.engine.jobs import Jobs
from noface.engine.landing.commits import LandingCommits, commits_of
from noface.engine.landing.line import MergeLine
from noface.engine.landing.merged_branches import remove_merged
from noface.engine.landing.proofs import Proofs, ProvenStack
from noface.engine.landing.stacks import follow_push, push_landing, was_pushed
from noface.engine.landing.waiting import QueueEntry, WaitingWork
from noface.engine.lessons import keep_lesson
from noface.engine.outages import PUSH_PAUSES_S, PUSH_REFUSED_S, Outage
from noface.engine.stations import Stations, Steps, Tick
from noface.errors import RefLockedError, RemoteError, SigningError
from noface.git.fast_forward import Blocked, Landed
from noface.git.landing import advance
from noface.git.refs import ZERO, RefUpdate, hold_ref
from noface.git.remote import Rejected
from noface.git.remote_causes import RemoteCause
from noface.git.taken_back import taken_back
from noface.model.attempt import CHANGED_TESTS, UNFINISHED, noted
from noface.model.failure import Failure
from noface.model.gate import Proof
from noface.model.issue import Issue
from noface.model.scratch import needed_until_landed
from noface.model.taxonomy import Cause, IssueStatus
from noface.process.failpoints import hit
from noface.process.supervise import Canceller

_UNSEEN_RETRY_S = 0.2


class Publisher(Protocol):
    """Takes what is proven where it does not land here: it is pushed, and a pull request is opened."""

    def add(self, entry: QueueEntry, proof: Proof) -> None:
        """Publish the work of an entry."""

    def drop(self, issue_id: str) -> None:
        """Leave an issue's work alone."""

    def resume(self, issue: Issue) -> bool:
        """Go on with what an earlier run has recorded for an issue; tell whether there is such."""

    @property
    def issues(self) -> frozenset[str]:
        """The issues whose work is on its way."""


LastLook = Callable[[QueueEntry], Failure | bool]
"""Looks at an issue right before main moves: may its work land? A failure is why it is done once more.

Blocked: it waits for a person, as what they have changed is. False: not now, or no more; then it is out of the queue.
"""


class MergeQueue:
    """Lands what is proven, as stories that the loop's thread resumes."""

    def __init__(self, context: RunContext, jobs: Jobs, stations: Stations) -> None:
        self._context, self._jobs, self._stations = context, jobs, stations
        rules = context.settings.config.landing
        self._line = MergeLine(each=rules.each, apart=rules.by_pull_request)
        self._waiting = WaitingWork(context, jobs)
        self._proofs = Proofs(context, stations, self._waiting, self._line)
        self.pushing = frozenset[str]()
        self._pushed = False
        self._remote = Outage(context.clock, PUSH_PAUSES_S, PUSH_REFUSED_S)
        self.publisher: Publisher | None = None
        self._last_look: LastLook = lambda _: True

    def decide_by(self, last_look: LastLook, rejected: Callable[[QueueEntry, Failure], None]) -> None:
        self._last_look, self._waiting.rejected = last_look, rejected

    def news(self) -> bool:
        has_news, self._proofs.has_news = self._proofs.has_news, False
        return has_news

    @property
    def working(self) -> bool:
        return self._waiting.at_work > 0

    @property
    def tries_first_push(self) -> bool:
        """True while it is not known whether the remote takes what this run pushes."""
        return bool(self.pushing) and not self._pushed and not self._remote.away

    @property
    def due(self) -> frozenset[str]:
        return frozenset(name for name, entry in self._waiting.by_issue.items() if not entry.held)

    @property
    def waiting(self) -> frozenset[str]:
        return frozenset(self._waiting.by_issue) - self.pushing

    @property
    def published(self) -> frozenset[str]:
        return self.publisher.issues if self.publisher is not None else frozenset()

    def resume(self, issue: Issue) -> bool:
        return self.publisher is not None and self.publisher.resume(issue)

    @property
    def busy(self) -> bool:
        now = self._context.clock.now()
        return self.working or any(entry.worth_waiting(now) for entry in self._waiting.by_issue.values())

    def add(self, entry: QueueEntry) -> None:
        """Queue a passed attempt; an entry of the same issue is replaced. What has worked alone lands first."""
        issue_id = entry.issue.id
        self._waiting.take_out(issue_id)
        env, mains = self._context.env, self._context.reader.mains()
        # It may have brought back what a person took away, of which its attempt knew nothing; or it is held back.
        lost = entry.proof is not None and taken_back(env.plumbing, mains, env.plumbing.main())
        if lost or (entry.proof is not None and why_held_back(env, entry.proof.candidate)):
            entry.proof = None
        self._waiting.by_issue[issue_id] = entry
        self._line.add(issue_id, first=issue_id in self._context.reader.lost_to_main())

    def drop(self, issue_id: str) -> None:
        self._waiting.take_out(issue_id)
        if self.publisher is not None:
            self.publisher.drop(issue_id)

    def land_all(self) -> Steps[None]:
        """Land what can land, and prove what is next."""
        while True:
            yield Tick(always=True)
            self._waiting.tried.clear()
            while (proven := self._proofs.next()) is not None:
                yield from self._land_in_order(proven)
            if not self._stations.stopping:
                yield from self._proofs.prove_next()

    # What lands

    def _land_in_order(self, stacks: tuple[ProvenStack, ...]) -> Steps[None]:
        self._waiting.at_work += 1
        main, landed = stacks[0].main, 0
        for each in stacks:
            proven = ProvenStack(each.steps[landed:], each.proof, main)
            self._waiting.tried |= {entry.issue.id for entry in proven.entries}
            commit = yield from self._land(proven)
            if commit is None:
                break
            main, landed = commit, len(each.steps)
        self._waiting.at_work -= 1
        left = [step.entry for step in stacks[-1].steps[landed:] if self._waiting.holds(step.entry)]
        self._line.again(entry.issue.id for entry in left)
        # What holds it up may go before main moves; a push may have found it moved.
        if len(stacks) == len(left) == len(stacks[0].steps) == 1:
            left[0].proof = stacks[0].proof if left[0].not_before > self._context.clock.now() else None

    def _land(self, proven: ProvenStack) -> Steps[str | None]:
        context = self._context
        if not (yield from self._may_land_now(proven)):
            return None
        if self.publisher is not None:
            for entry in proven.entries:
                self._waiting.take_out(entry.issue.id)
                self.publisher.add(entry, proven.proof)
            return proven.main
        if context.settings.config.landing.push and self._remote.until > context.clock.now():
            self._hold(proven, self._remote_blocked(), self._remote.until)  # another has just met what this would
            return None
        make = commits_of(context, proven.steps, proven.main)
        try:
            if context.signs:  # a key may be slow, and there is a commit for each issue
                commits = yield from self._waiting.in_thread(proven.entries[0], make, always=True)
                self._look_anew(proven.entries)
            else:
                commits = make(Canceller())
        except SigningError as error:
            self._hold(proven, Blocked(f"{error.message}. {error.hint}"))
            return None
        if not (yield from self._may_land_now(proven)):  # the last look: after it only main moves
            return None
        landings = self._intend(proven, commits)
        hit("landing_intent")
        if context.settings.config.landing.push:
            return (yield from self._push(proven, commits, landings))
        # The engine waits meanwhile: only for a lock that nobody has met before.
        patient = all(each.passing_since is None for each in self._waiting.by_issue.values())
        old, new, note = proven.main, commits.main, commits.note
        wanted = partial(self._may_land, proven)
        result = advance(context.env.plumbing, old, new, note, patient=patient, wanted=lambda: wanted() is True)
        if isinstance(result, Landed):
            self._landed(proven, commits, landings)
            return new
        self._drop_intent(landings)
        if isinstance(result, Blocked):
            self._hold(proven, result)
        return None

    def _may_land_now(self, proven: ProvenStack) -> Steps[bool]:
        while (may := self._may_land(proven)) is None:
            yield Tick(self._context.clock.now() + _UNSEEN_RETRY_S, always=True)
        if may:
            self._context.keep_hold()
        return may

    def _may_land(self, proven: ProvenStack) -> bool | None:
        """Tell whether a stack may land now; None: not yet. What must not is out of the queue, or proven again."""
        context = self._context
        for entry in proven.entries:
            if not self._waiting.holds(entry) or not self._waiting.is_free(entry):
                return False
        names = frozenset(entry.issue.id for entry in proven.entries)
        if context.env.plumbing.main() != proven.main or self._waiting.without_rivals(names) != names:
            return False
        for entry in proven.entries:
            entry.ready_at = entry.ready_at if entry.ready_at is not None else context.clock.now()
            look = self._last_look(entry)
            if isinstance(look, Failure):
                self._waiting.refuse(entry, look)
                return False
            if not look:
                return None if self._waiting.holds(entry) and not self._stations.stopping else False
        return all(map(self._waiting.holds, proven.entries))

    def _push(self, proven: ProvenStack, commits: LandingCommits, landings: tuple[int, ...]) -> Steps[str | None]:
        """Move the remote's main; a push of which nothing is known stays intended, and is repeated as it is."""
        context, first = self._context, proven.entries[0]
        run = partial(push_landing, context, proven.main, commits.main)
        self.pushing = frozenset(entry.issue.id for entry in proven.entries)
        try:
            result: Rejected | None = None
            while True:
                try:
                    result = yield from self._waiting.in_thread(first, run, always=True)
                    break
                except RemoteError as error:
                    self._remote.met(error, quietly=True)
                    self._hold(proven, self._remote_blocked(), self._remote.until)
                    self._waiting.at_work -= 1  # a run with nothing else to do may end meanwhile
                    yield Tick(self._remote.until)
                    self._waiting.at_work += 1
                    if was_pushed(context, commits.main):
                        break
                    pushing, self.pushing = self.pushing, frozenset()
                    self._look_anew(proven.entries)
                    if not (yield from self._may_land_now(proven)):
                        self._drop_intent(landings)
                        return None
                    self.pushing = pushing
        finally:
            self.pushing = frozenset()
        if isinstance(result, Rejected):
            self._drop_intent(landings)
            if result.moved:
                self._remote.over()
            else:  # a refusal is met like an outage
                why = f"main cannot be pushed: {result.server_words or result.reason.line}"
                self._remote.met(RemoteError(why, result.reason.advice), quietly=True)
                if result.reason.cause is RemoteCause.PROTECTED:  # whatever is worked on next would be refused as well
                    context.landing_refused = f"{why}. {result.reason.advice}"
                self._hold(proven, self._remote_blocked(), self._remote.until)
            return None
        self._remote.over()
        context.landing_refused, self._pushed = "", True
        hit("landing_pushed")
        follow_push(context, proven.main, commits.main, commits.note)
        self._landed(proven, commits, landings)
        return commits.main

    def _remote_blocked(self) -> Blocked:
        reason = self._remote.reason
        return Blocked(reason, passing=reason if self._remote.passing else "")

    def _intend(self, proven: ProvenStack, commits: LandingCommits) -> tuple[int, ...]:
        context, proof = self._context, proven.proof
        return context.journal.landing_intents(
            context.clock.now(),
            tuple((entry.issue.id, entry.number) for entry in proven.entries),
            old=proven.main,
            new=commits.main,
            tree=proof.tree,
            gates=proof.gate_keys,
            results=proof.gates,
        )

    def _landed(self, proven: ProvenStack, commits: LandingCommits, landings: tuple[int, ...]) -> None:
        context, proof = self._context, proven.proof
        names = tuple(entry.issue.id for entry in proven.entries)
        for entry, landing, commit in zip(proven.entries, landings, commits.own, strict=True):
            notes = context.reader.notes(entry.issue.id, entry.number)
            marks = {"unfinished": bool(noted(notes, UNFINISHED)), "changed_tests": bool(noted(notes, CHANGED_TESTS))}
            context.journal.landed(context.clock.now(), landing, entry.issue.id, commit, proof.flaky, **marks)
            hit("landing_recorded")
            keep_lesson(context, entry.issue)
            self._waiting.take_out(entry.issue.id)
        self._line.decided(names, red=False)
        if context.known is not None:
            context.known = tuple((result.gate.name, result.failing_tests) for result in proof.gates)

    def _drop_intent(self, landings: tuple[int, ...]) -> None:
        for landing in landings:
            self._context.journal.landing_dropped(landing)

    @staticmethod
    def _look_anew(entries: Iterable[QueueEntry]) -> None:
        """Have the next look wait for what a tracker elsewhere says from now on."""
        for entry in entries:
            entry.ready_at = None

    def _hold(self, proven: ProvenStack, held: Blocked, until: float | None = None) -> None:
        plumbing, below, touching = self._context.env.plumbing, proven.main, list[QueueEntry]()
        for step in proven.steps if held.paths and len(proven.steps) > 1 else ():
            if {change.path for change in plumbing.changes(below, step.tree)} & {*held.paths}:
                touching.append(step.entry)
            below = step.tree
        now = self._context.clock.now()
        self._look_anew(proven.entries)
        for entry in filter(self._waiting.holds, touching or proven.entries):
            if entry.hold_up(held, now, until):
                self._context.journal.status(now, entry.issue.id, IssueStatus.LANDING, entry.held, cause=Cause.HELD)


def release_merged(context: RunContext) -> None:
    """Remove the refs that only the way to main needs, and the scratch branches that may go."""
    plumbing = context.env.plumbing
    merged = {issue_id for issue_id, state in context.reader.states().items() if state.status is IssueStatus.MERGED}
    prefixes = tuple(hold_ref(issue_id, "") for issue_id in merged)
    held = plumbing.references("refs/noface/issues")
    passing = [ref for ref in held if needed_until_landed(ref.rpartition("/")[2]) and ref.startswith(prefixes)]
    try:
        plumbing.refs.apply(*(RefUpdate(ref, ZERO) for ref in passing))
        remove_merged(plumbing, context.reader)
    except RefLockedError as error:  # the next run does it
        context.log_event("refs_kept", reason=error.hint)
    hit("cleaned_up")
