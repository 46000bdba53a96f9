"""The merge queue: main moves only here (law 1).

`MergeLine` says which stacks of candidates are proven next, each in a gate slot of its own, and what follows of each
result. Here they are built and proven in threads, and what is proven lands: as one commit for each proven prefix. A
candidate whose attempt was proven on the present main lands at once, if nothing is under way that it would make
worthless. What is proven for a pull request goes to the `Publisher` instead.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Protocol

from noface.attempt.environment import LANDING_SLOT
from noface.attempt.held_secrets import why_held_back
from noface.engine.context import RunContext
from noface.engine.jobs import JobKind, Jobs
from noface.engine.landing.commits import LandingCommits, commits_of
from noface.engine.landing.entries import QueueEntry
from noface.engine.landing.line import LineVerdict, MergeLine, Stack
from noface.engine.landing.merged_branches import remove_merged
from noface.engine.landing.pushed import follow_push, push_landing, was_pushed
from noface.engine.landing.stacks import StackBuilt, StackedEntry, build, has_leave, is_judged, overruled, proof_of
from noface.engine.lessons import keep_lesson
from noface.engine.outages import PUSH_PAUSES_S, PUSH_REFUSED_S, Outage
from noface.engine.outside import branch_in_the_way, wait_for_person
from noface.engine.prompt_context import history_of
from noface.engine.stations import OpenStory, R, Stations, Steps, Tick, call
from noface.errors import RefLockedError, RemoteError, SigningError
from noface.git.fast_forward import Blocked, Landed, Moved, MoveResult
from noface.git.landing import advance
from noface.git.refs import ZERO, RefUpdate, hold_ref
from noface.git.remote import PushResult, Rejected
from noface.git.taken_back import taken_back
from noface.model.attempt import CHANGED_TESTS, UNFINISHED, noted
from noface.model.failure import Failure
from noface.model.gate import Proof
from noface.model.issue import Issue
from noface.model.scratch import needed_until_landed
from noface.model.taxonomy import Cause, IssueStatus
from noface.process.failpoints import hit
from noface.process.supervise import Canceller
from noface.recovery.schedule import Contest

_UNSEEN_RETRY_S = 0.2
_SIGNED_AT_ONCE_S = 1.0
"""A signature that takes longer waits for somebody: what a tracker elsewhere said before is old by then."""
_STACKS_MAX = 4
"""Each stack is proven in a checkout with its setup; beyond this, more of them land hardly more."""
_ENDING_S = 0.5
"""How long the next round waits for the slots of proofs that nobody needs any more: most end within a tick."""


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


LastLook = Callable[[QueueEntry], Failure | Blocked | bool]
"""Looks at an issue right before main moves: may its work land? A failure is why it is done once more.

Blocked: it waits for a person, as what they have changed is. False: not now, or no more; then it is out of the queue.
"""


@dataclass(frozen=True, slots=True)
class ProvenStack:
    """Steps whose last tree, made on `main`, is proven: they land as one commit."""

    steps: tuple[StackedEntry, ...]
    proof: Proof
    main: str

    @property
    def entries(self) -> tuple[QueueEntry, ...]:
        """The entries that land with it."""
        return tuple(step.entry for step in self.steps)


@dataclass(frozen=True, slots=True)
class IntendedLanding:
    """A landing whose intent is recorded, as the rows `landings`, one for each issue."""

    landings: tuple[int, ...]
    commits: LandingCommits


@dataclass(slots=True, eq=False)
class _Proving:
    """A stack that is proven on `main`, in a slot. `moot_at` is since when nobody waits for the result any more."""

    stack: Stack
    steps: tuple[StackedEntry, ...]
    main: str
    slot: str
    moot_at: float | None = None
    story: OpenStory | None = None


class MergeQueue:
    """Lands what is proven, as stories that the loop's thread resumes.

    `last_look` looks at an issue right before main moves; `rejected` takes what passed alone and failed when merged.
    """

    def __init__(self, context: RunContext, jobs: Jobs, stations: Stations) -> None:
        self._context, self._jobs, self._stations = context, jobs, stations
        rules = context.settings.landing
        self._line = MergeLine(each=rules.each, apart=rules.pull_request)
        self._entries: dict[str, QueueEntry] = {}
        self._under_way: list[_Proving] = []
        self._green: dict[Stack, ProvenStack] = {}
        self._proven: list[tuple[ProvenStack, ...]] = []
        self._searched_last = False
        self._pushing = frozenset[str]()
        self._remote = Outage(context.clock, PUSH_PAUSES_S, PUSH_REFUSED_S)
        self._tried: set[str] = set()  # in this tick: of several that one lock holds up, one is always due again
        self._at_work = 0
        self._has_news = False
        self.publisher: Publisher | None = None
        self.last_look: LastLook = lambda _: True
        self.rejected: Callable[[QueueEntry, Failure], None] = lambda _entry, _failure: None

    def news(self) -> bool:
        """Tell, once, that a proof has ended: what follows of it is due at the next tick, which need not wait."""
        has_news, self._has_news = self._has_news, False
        return has_news

    @property
    def working(self) -> bool:
        """True while something is merged, proven or landed."""
        return self._at_work > 0

    @property
    def due(self) -> frozenset[str]:
        """The issues that land soon; what a person's doing holds up may take any time."""
        return frozenset(name for name, entry in self._entries.items() if not entry.held)

    @property
    def waiting(self) -> frozenset[str]:
        """All issues whose work waits to land and is not on its way to a remote."""
        return frozenset(self._entries) - self._pushing

    @property
    def pushing(self) -> frozenset[str]:
        """The issues whose work is on its way to a remote."""
        return self._pushing

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
        return self.working or any(entry.worth_waiting(now) for entry in self._entries.values())

    def add(self, entry: QueueEntry) -> None:
        """Queue a passed attempt; an entry of the same issue is replaced. What has worked alone lands first."""
        issue_id = entry.issue.id
        self._take_out(issue_id)
        env, mains = self._context.env, self._context.reader.mains()
        # It may have brought back what a person took away, of which its attempt knew nothing; or it is held back.
        lost = entry.proof is not None and taken_back(env.plumbing, mains, env.plumbing.main())
        if lost or (entry.proof is not None and why_held_back(env, entry.proof.candidate)):
            entry.proof = None
        self._entries[issue_id] = entry
        self._line.add(issue_id, first=issue_id in self._context.reader.lost_to_main())

    def drop(self, issue_id: str) -> None:
        """Take an issue out of the queue: it has landed elsewhere, or a person decides about it."""
        self._take_out(issue_id)
        if self.publisher is not None:
            self.publisher.drop(issue_id)

    def _take_out(self, issue_id: str) -> None:
        if self._entries.pop(issue_id, None) is not None:
            self._follow(self._line.withdraw(issue_id))

    def _holds(self, entry: QueueEntry) -> bool:
        return self._entries.get(entry.issue.id) is entry

    def land_all(self) -> Steps[None]:
        """Land what can land, and prove what is next."""
        while True:
            yield Tick(always=True)
            self._tried.clear()
            while (proven := self._next()) is not None:
                yield from self._land_in_order(proven)
            if not self._stations.stopping:
                yield from self._prove_next()

    # What is proven

    def _prove_next(self) -> Steps[None]:
        """Begin the proofs for which slots are free: suspects have one each, and the line keeps one at least."""
        slots, able, now = self._free_slots(), self._able(), self._context.clock.now()
        is_ending = any(each.moot_at is not None and now < each.moot_at + _ENDING_S for each in self._under_way)
        if not slots or not self._entries or is_ending:
            return
        in_turn = self._slots == 1 and not self._searched_last
        kept = 1 if self._line.awaits_round(able) and not in_turn else 0
        while len(slots) > kept and (stack := self._line.search()) is not None:
            self._searched_last = True
            yield from self._search(stack, slots.pop())
        wanted = self._alike(self._line.wanted(len(slots), able))
        built = yield from self._built(wanted, apart=self._line.apart)
        stacks = self._line.begin(tuple(step.entry.issue.id for step in built.steps), len(slots))
        if stacks:
            self._searched_last = False
            self._green.clear()
        for stack in stacks:
            of_stack = tuple(step for step in built.steps if step.entry.issue.id in stack.members)
            self._begin(_Proving(stack, of_stack, built.main, slots.pop(0)))

    def _search(self, stack: Stack, slot: str) -> Steps[None]:
        """Begin the proof of some suspects; those that do not fit on each other any more go back to the line."""
        built = yield from self._built(stack.members)
        if len(built.steps) == len(stack.members):
            self._begin(_Proving(stack, tuple(built.steps), built.main, slot))
            return
        self._follow(self._line.ended(stack, green=None))
        for name in stack.members:
            if name in self._entries and all(step.entry.issue.id != name for step in built.steps):
                self._line.withdraw(name)
                self._line.again((name,))

    @property
    def _slots(self) -> int:
        """How many stacks may be proven at the same time: one beside what may have killed an earlier noface.

        They have half of the gates that may run at once.
        """
        context = self._context
        if context.suspects:
            return 1
        at_once = (context.env.turns.limit or 0) // 2
        return max(1, min(_STACKS_MAX, context.settings.slots, at_once))

    def _free_slots(self) -> list[str]:
        taken = {each.slot for each in self._under_way}
        names = (LANDING_SLOT, *(f"l{number:03}" for number in range(1, self._slots)))
        return [name for name in names if name not in taken]

    def _able(self) -> frozenset[str]:
        """Return who may be proven or land now, and was not tried in this tick."""
        now, entries = self._context.clock.now(), self._entries.items()
        rest = any(not entry.held for _, entry in entries)
        due = (name for name, entry in entries if entry.due(now, rest=rest) and name not in self._tried)
        return self._without_rivals(frozenset(due))

    def _without_rivals(self, able: frozenset[str]) -> frozenset[str]:
        """Return which of these may land: none beside an issue that works alone, for which it could move main."""
        if not able or not (working := self._jobs.issues(JobKind.ATTEMPT, JobKind.QUESTION)):
            return able
        if working & self._context.suspects:  # which would not be alone: nothing could be told from another death
            return frozenset()
        lost = self._context.reader.lost_to_main()
        alone = tuple(issue for issue in self._context.issues if issue.id in working and issue.id in lost)
        contest = Contest(lost)
        return frozenset(name for name in able if contest.rival(self._entries[name].issue, alone) is None)

    def _alike(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the first of those that may be proven together: who is judged alike, and has no leave of its own.

        What may have killed noface is proven by itself, and so is what something of the person's holds up.
        """
        context, entries = self._context, [self._entries[name] for name in names]
        if not names or self._line.apart:
            return names

        def is_single(entry: QueueEntry) -> bool:
            return bool(entry.held) or entry.issue.id in context.suspects or has_leave(context, entry)

        judged = is_judged(context, entries[0])
        beside = takewhile(lambda each: is_judged(context, each) is judged and not is_single(each), entries[1:])
        return (names[0], *(() if is_single(entries[0]) else (entry.issue.id for entry in beside)))

    def _built(self, names: Sequence[str], *, apart: bool = False) -> Steps[StackBuilt]:
        """Merge entries in a thread; nothing is stacked if the run is stopped meanwhile."""
        entries = [self._entries[name] for name in names if self._is_free(self._entries[name])]
        for entry in entries:
            entry.mains, entry.ready_at = self._context.reader.mains(), None
        nothing = StackBuilt("")
        if not entries or self._stations.stopping:
            return nothing
        try:
            built = yield from self._in_thread(entries[0], partial(build, self._context, entries, apart=apart))
        except Exception:
            if any(map(self._holds, entries)):
                raise
            return nothing
        for entry, why in built.refused:
            self._refuse(entry, why)
        if self._stations.stopping:
            return nothing
        held = tuple(takewhile(lambda step: apart or self._holds(step.entry), built.steps))
        return replace(built, steps=[step for step in held if self._holds(step.entry)])

    def _is_free(self, entry: QueueEntry) -> bool:
        """True if no person has committed to the entry's branch; if one has, the issue waits for them."""
        context, issue = self._context, entry.issue
        if (why := branch_in_the_way(context, issue)) is None:
            return True
        self._take_out(issue.id)
        state = context.reader.state(issue.id)
        wait_for_person(context, history_of(context.reader, context.questions, issue, state), why)
        return False

    def _refuse(self, entry: QueueEntry, why: Failure | Landed) -> None:
        if not self._holds(entry):
            return  # it was withdrawn, has landed elsewhere, or a person decides about it
        self._take_out(entry.issue.id)
        if isinstance(why, Landed):
            self._context.journal.merged(self._context.clock.now(), entry.issue.id, why.commit)
        else:
            self.rejected(entry, why)

    def _in_thread(self, entry: QueueEntry, run: Callable[[Canceller], R], *, always: bool = False) -> Steps[R]:
        """Have a thread do something for an entry; return what it returns, and raise what it raises, at the next tick.

        In the loop's turn an error ends the run at once.
        """
        self._at_work += 1
        try:
            result = yield from call(run, entry.issue.id, kind=JobKind.LANDING, always=always)
        except Exception:
            yield Tick(always=True)
            raise
        else:
            yield Tick(always=True)
        finally:
            self._at_work -= 1
            self._tried.clear()
        return result

    def _begin(self, proving: _Proving) -> None:
        self._under_way.append(proving)
        proving.story = self._stations.begin(self._prove(proving))

    def _prove(self, proving: _Proving) -> Steps[None]:
        """Prove a stack, and tell the line what came of it."""
        context, steps = self._context, proving.steps
        decides = self._line.decides(proving.stack)
        proof = replace(proof_of(context, steps, proving.main, proving.slot), decides=decides)
        try:
            result = yield from self._in_thread(steps[-1].entry, partial(proof.prove, context))
        except Exception:
            if proving.moot_at is None:
                raise
            return
        finally:
            self._under_way.remove(proving)
            self._has_news = True
        if proving.moot_at is not None:
            return
        if isinstance(result, Proof):
            self._note_left_out(steps, result)
            self._green[proving.stack] = ProvenStack(steps, result, proving.main)
            self._follow(self._line.ended(proving.stack, green=True))
        elif result is None or (not result.of_work and len(steps) > 1):
            self._follow(self._line.ended(proving.stack, green=None))
        else:
            failure = result.failure
            if result.of_work:
                failure = overruled(context, steps[-1].entry, failure, proving.main)
            self._follow(self._line.ended(proving.stack, green=False), failure)

    def _note_left_out(self, steps: tuple[StackedEntry, ...], proof: Proof) -> None:
        for step in steps:
            entry, context = step.entry, self._context
            if step.candidate != entry.candidate:
                about = {"number": entry.number, "main": proof.main}
                if why := why_held_back(context.env, entry.candidate):
                    context.log_event("past_left_out", entry.issue.id, why=why, **about)
                else:
                    context.log_event("history_left_out", entry.issue.id, **about)

    def _follow(self, verdict: LineVerdict, failure: Failure | None = None) -> None:
        """Carry out what follows of a result; the `failure` is that of who is rejected."""
        for each in self._under_way:
            if each.stack in verdict.moot and each.moot_at is None:
                each.moot_at = self._context.clock.now()
                if each.story is not None and each.story.job is not None:
                    each.story.job.cancel.cancel()
        if verdict.rejected is not None and failure is not None:
            self._line.decided((verdict.rejected,), red=True)
            self._refuse(self._entries[verdict.rejected], failure)
        if verdict.lands:
            self._proven.append(tuple(self._green.pop(stack) for stack in verdict.lands))

    # What lands

    def _next(self) -> tuple[ProvenStack, ...] | None:
        """Return what lands next, each stack above the one before it; a fresh proof only if no round is under way."""
        if self._proven:
            return self._proven.pop(0)
        able = self._able() if self._line.awaits_round(self._entries) else frozenset()
        fresh = [self._entries[name] for name in self._line.line if name in able and self._entries[name].proof]
        if not fresh:
            return None
        main = self._context.env.plumbing.main()
        for entry in fresh:
            if (proof := entry.proof) is not None and proof.main == main:
                self._line.withdraw(entry.issue.id)
                return (ProvenStack((StackedEntry(entry, proof.candidate, proof.tree, proof.candidate),), proof, main),)
        return None

    def _land_in_order(self, stacks: tuple[ProvenStack, ...]) -> Steps[None]:
        """Land stacks one on the other. What does not land, and is wanted still, is proven again."""
        self._at_work += 1
        main, landed = stacks[0].main, 0
        for each in stacks:
            proven = ProvenStack(each.steps[landed:], each.proof, main)
            self._tried |= {entry.issue.id for entry in proven.entries}
            commit = yield from self._land(proven)
            if commit is None:
                break
            main, landed = commit, len(each.steps)
        self._at_work -= 1
        left = [step.entry for step in stacks[-1].steps[landed:] if self._holds(step.entry)]
        self._line.again(entry.issue.id for entry in left)
        # What holds it up may go before main moves; a push may have found it moved.
        if len(stacks) == len(left) == len(stacks[0].steps) == 1:
            left[0].proof = stacks[0].proof if left[0].not_before > self._context.clock.now() else None

    def _land(self, proven: ProvenStack) -> Steps[str | None]:
        """Land a stack if its issues still ask for this very work; return what main is then, None if it is not."""
        context = self._context
        if not (yield from self._may_land_now(proven)):
            return None
        if self.publisher is not None:
            for entry in proven.entries:
                self._take_out(entry.issue.id)
                self.publisher.add(entry, proven.proof)
            return proven.main
        if context.settings.landing.push and self._remote.until > context.clock.now():
            self._hold(proven, self._remote_blocked(), self._remote.until)  # another has just met what this would
            return None
        make = commits_of(context, proven.steps, proven.main)
        try:
            if context.settings.landing.sign:  # a key may be slow, and there is a commit for each issue
                began = context.clock.now()
                commits = yield from self._in_thread(proven.entries[0], make, always=True)
                if context.clock.now() - began > _SIGNED_AT_ONCE_S:
                    self._look_anew(proven.entries)
            else:
                commits = make(Canceller())
        except SigningError as error:
            self._hold(proven, Blocked(f"{error.message}. {error.hint}"))
            return None
        if not (yield from self._may_land_now(proven)):  # the last look: after it only main moves
            return None
        intended = self._intend(proven, commits)
        hit("landing_intent")
        if context.settings.landing.push:
            return (yield from self._push(proven, intended))
        # The engine waits meanwhile: only for a lock that nobody has met before.
        patient = all(each.passing_since is None for each in self._entries.values())
        old, new, note = proven.main, intended.commits.main, intended.commits.note
        wanted = partial(self._may_land, proven)
        result = advance(context.env.plumbing, old, new, note, patient=patient, wanted=lambda: wanted() is True)
        return self._moved(proven, intended, result)

    def _may_land_now(self, proven: ProvenStack) -> Steps[bool]:
        """Wait until it is known whether a stack may land, and tell. Raises LockLostError."""
        while (may := self._may_land(proven)) is None:
            yield Tick(self._context.clock.now() + _UNSEEN_RETRY_S, always=True)
        if may:
            self._context.keep_hold()
        return may

    def _may_land(self, proven: ProvenStack) -> bool | None:
        """Tell whether a stack may land now; None: not yet. What must not is out of the queue, or proven again."""
        context = self._context
        for entry in proven.entries:
            if not self._holds(entry) or not self._is_free(entry):
                return False
        names = frozenset(entry.issue.id for entry in proven.entries)
        if context.env.plumbing.main() != proven.main or self._without_rivals(names) != names:
            return False
        for entry in proven.entries:
            now = context.clock.now()
            entry.ready_at = entry.ready_at if entry.ready_at is not None else now
            match self.last_look(entry):
                case Failure() as failure:
                    self._refuse(entry, failure)
                    return False
                case Blocked() as held:
                    self._hold(proven, held, of=entry)
                    return False
                case False if self._holds(entry) and not self._stations.stopping:
                    return None
                case False:
                    return False
                case _:
                    pass
        return all(map(self._holds, proven.entries))

    def _moved(self, proven: ProvenStack, intended: IntendedLanding, result: MoveResult) -> str | None:
        match result:
            case Landed():
                self._landed(proven, intended)
                return intended.commits.main
            case Moved():
                self._drop_intent(intended)
            case Blocked():
                self._drop_intent(intended)
                self._hold(proven, result)
        return None

    def _push(self, proven: ProvenStack, intended: IntendedLanding) -> Steps[str | None]:
        """Move the remote's main; a push of which nothing is known stays intended, and is repeated as it is."""
        context, first = self._context, proven.entries[0]
        run = partial(push_landing, context, proven.main, intended.commits.main)
        self._pushing = frozenset(entry.issue.id for entry in proven.entries)
        try:
            result: PushResult | None = None
            while result is None:
                try:
                    result = yield from self._in_thread(first, run, always=True)
                except RemoteError as error:
                    self._remote.met(error, quietly=True)
                    self._hold(proven, self._remote_blocked(), self._remote.until)
                    self._at_work -= 1  # a run with nothing else to do may end meanwhile
                    yield Tick(self._remote.until)
                    self._at_work += 1
                    if was_pushed(context, intended.commits.main):
                        break
                    pushing, self._pushing = self._pushing, frozenset()
                    self._look_anew(proven.entries)
                    if not (yield from self._may_land_now(proven)):
                        self._drop_intent(intended)
                        return None
                    self._pushing = pushing
        finally:
            self._pushing = frozenset()
        if isinstance(result, Rejected):
            self._drop_intent(intended)
            if result.moved:
                self._remote.over()
            else:  # a refusal is met like an outage
                why = f"main cannot be pushed: {result.server_words or result.reason.line}"
                self._remote.met(RemoteError(why, result.reason.advice), quietly=True)
                self._hold(proven, self._remote_blocked(), self._remote.until)
            return None
        self._remote.over()
        hit("landing_pushed")
        follow_push(context, proven.main, intended.commits.main, intended.commits.note)
        self._landed(proven, intended)
        return intended.commits.main

    def _remote_blocked(self) -> Blocked:
        reason = self._remote.reason
        return Blocked(reason, passing=reason if self._remote.passing else "")

    def _intend(self, proven: ProvenStack, commits: LandingCommits) -> IntendedLanding:
        """Record that `commits` are to land."""
        context, proof = self._context, proven.proof
        landings = context.journal.landing_intents(
            context.clock.now(),
            tuple((entry.issue.id, entry.number) for entry in proven.entries),
            old=proven.main,
            new=commits.main,
            tree=proof.tree,
            gates=proof.gate_keys,
            results=proof.gates,
        )
        return IntendedLanding(landings, commits)

    def _landed(self, proven: ProvenStack, intended: IntendedLanding) -> None:
        context, proof = self._context, proven.proof
        names = tuple(entry.issue.id for entry in proven.entries)
        for entry, landing, commit in zip(proven.entries, intended.landings, intended.commits.own, strict=True):
            notes = context.reader.notes(entry.issue.id, entry.number)
            marks = {"unfinished": bool(noted(notes, UNFINISHED)), "changed_tests": bool(noted(notes, CHANGED_TESTS))}
            context.journal.landed(context.clock.now(), landing, entry.issue.id, commit, proof.flaky, **marks)
            hit("landing_recorded")
            keep_lesson(context, entry.issue)
            self._take_out(entry.issue.id)
        self._line.decided(names, red=False)
        if context.known is not None:
            context.known = tuple((result.gate.name, result.failing_tests) for result in proof.gates)

    def _drop_intent(self, intended: IntendedLanding) -> None:
        for landing in intended.landings:
            self._context.journal.landing_dropped(landing)

    def _look_anew(self, entries: Iterable[QueueEntry]) -> None:
        """Have the next look wait for what a tracker elsewhere says from now on."""
        for entry in entries:
            entry.ready_at = None

    def _hold(
        self, proven: ProvenStack, held: Blocked, until: float | None = None, of: QueueEntry | None = None
    ) -> None:
        """Hold up the entries that something of the person's is in the way of; the others may land without them."""
        plumbing, below, touching = self._context.env.plumbing, proven.main, [of] if of is not None else []
        for step in proven.steps if held.paths and len(proven.steps) > 1 else ():
            if {change.path for change in plumbing.changes(below, step.tree)} & {*held.paths}:
                touching.append(step.entry)
            below = step.tree
        now = self._context.clock.now()
        self._look_anew(proven.entries)
        for entry in filter(self._holds, touching or proven.entries):
            if entry.hold_up(held, now, until):
                self._context.journal.status(now, entry.issue.id, IssueStatus.LANDING, entry.held, cause=Cause.HELD)


def release_merged(context: RunContext) -> None:
    """Remove the refs that only the way to main needs, and the scratch branches that may go.

    Attempts keep their refs until `noface tools clean`.
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
