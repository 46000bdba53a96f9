"""Claims the issues that a run works on, where several machines may run noface on one repository.

Only a run that publishes claims anything: without that nothing is ever pushed. An issue is claimed before anything is
started for it, its claim is renewed well before the lease ends, and given back when nothing is left to do for it here.
An issue that another machine has waits, and so does one that cannot be claimed since the remote is away. All asking is
done in threads. What a killed run had claimed is this clone's own at the next run, and anybody's after the lease.
"""

import hashlib
import os
import platform
import secrets
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from noface.engine.context import RunContext
from noface.engine.ground import fetch_again, mark_landed_elsewhere
from noface.engine.jobs import Job, JobKind, Jobs
from noface.errors import GitError, RemoteError
from noface.git.claims import ClaimRefs, claim_ref
from noface.git.remote import Push, Pushed, Rejected
from noface.model.taxonomy import IssueStatus
from noface.process.command import Canceller
from noface.process.failpoints import hit
from noface.recovery.claims import Claim, change, obstacle, purpose, read, reason, successor, written
from noface.recovery.schedule import Waiting
from noface.store.decisions import taken_over_fact

MACHINE = "NOFACE_MACHINE"
"""The variable that names a machine; one that is made anew for each run is the same machine by it."""
_HOLDER, _BEGAN = "holder", "holder_since"
_ASK_AGAIN_S = 30.0


@dataclass(frozen=True, slots=True)
class Held:
    """A claim of this run, and the commit that its ref points to."""

    claim: Claim
    commit: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """What came of asking for issues: those that this run has now, those that others have, and why it failed.

    `refused` is what the server says where it takes no claims at all. `fetched` are the commits that the remote's main
    had gained by then, as a range: what another machine had in hand may have landed meanwhile.
    """

    held: tuple[tuple[str, Held], ...] = ()
    elsewhere: tuple[tuple[str, Claim], ...] = ()
    away: str = ""
    refused: str = ""
    fetched: str = ""


@dataclass(frozen=True, slots=True)
class _Wait:
    """Why an issue is not startable, until when nobody asks again, and whether a run waits for that."""

    reason: str
    ask_at: float
    waited_for: bool


class ClaimKeeper:
    """The claims of a run; for the loop's thread. Without a remote, or where nothing is published, all is free.

    `drop` takes an issue that has landed elsewhere out of the merge queue.
    """

    def __init__(self, context: RunContext, jobs: Jobs, drop: Callable[[str], None]) -> None:
        self._context = context
        self._jobs = jobs
        self._drop = drop
        landing, remote = context.settings.landing, context.remote
        self._refs = ClaimRefs(context.env.plumbing, remote) if landing.publishes and remote is not None else None
        self._held: dict[str, Held] = {}
        self._waits: dict[str, _Wait] = {}
        self._asking: frozenset[str] = frozenset()
        self._changing = False
        self._own: bool | None = None
        self._away_since: float | None = None
        self._refused = ""

    @property
    def working(self) -> bool:
        """True while issues are being claimed."""
        return bool(self._asking)

    @property
    def busy(self) -> frozenset[str]:
        """The issues that cannot start now, since they are being claimed, or for a while by others."""
        now = self._context.clock.now()
        return self._asking | {issue_id for issue_id, wait in self._waits.items() if wait.ask_at > now}

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """Why issues wait for their claims."""
        return tuple(
            Waiting(issue_id, wait.reason, wait.ask_at if wait.waited_for else None)
            for issue_id, wait in self._waits.items()
        )

    @property
    def elsewhere(self) -> frozenset[str]:
        """The issues that others have, as far as is known: what is said of them is theirs to say."""
        return frozenset(self._waits)

    def machine(self, issue_id: str) -> str:
        """Return the name for people of the machine that an issue is claimed for by this run, "" where it is not."""
        held = self._held.get(issue_id)
        return held.claim.machine if held is not None else ""

    def may_start(self, issue_id: str) -> bool:
        """Tell whether this run has an issue."""
        return self._refs is None or bool(self._refused) or issue_id in self._held

    def ask(self, issue_ids: Collection[str]) -> None:
        """Claim issues that are about to start; what came of it is there at a later tick."""
        wanted = tuple(issue_id for issue_id in issue_ids if not self.may_start(issue_id))
        if self._refs is None or self._asking or not wanted:
            return
        self._asking = frozenset(wanted)
        given = frozenset(issue_id for issue_id in wanted if self._context.reader.fact(taken_over_fact(issue_id)))
        began = state_began(self._context)
        run = partial(claim, self._context, self._refs, claims_of(self._context, wanted), began, given)
        self._jobs.start(Job(JobKind.REMOTE, "", run, self._came))

    def step(self) -> None:
        """Renew what has been held for a while, and give back what this run is done with."""
        if self._refs is None or self._refused or self._changing or self._asking:
            return
        if self._own is None:
            self._changing = True
            run = partial(own_claims, self._refs, holder_of(self._context))
            self._jobs.start(Job(JobKind.REMOTE, "", run, self._own_came))
        elif due := self._due():
            self._changing = True
            self._jobs.start(Job(JobKind.REMOTE, "", partial(change_all, self._refs, due), partial(self._changed, due)))

    def release(self, cancel: Canceller) -> None:
        """Give back everything at the end of a run but what outlasts it; waits for the remote.

        What cannot be given back ends with its lease.
        """
        if self._refs is not None and self._held and (due := self._due(ending=True)):
            change_all(self._refs, due, cancel)
            hit("claims_released")

    # Asking

    def _now(self) -> float:
        return self._context.clock.now()

    def _came(self, job: Job[Claimed]) -> None:
        asked, self._asking, came, now = self._asking, frozenset[str](), job.result, self._now()
        if came is None:
            return
        hit("claimed")
        if came.fetched:
            for issue_id in mark_landed_elsewhere(self._context, came.fetched):
                self._drop(issue_id)
        for issue_id in asked:
            self._waits.pop(issue_id, None)
        self._held.update(came.held)
        for issue_id, _ in came.held:
            if self._context.reader.fact(taken_over_fact(issue_id)):
                self._context.journal.fact(taken_over_fact(issue_id), "")
        pause = max(_ASK_AGAIN_S, self._context.settings.landing.poll_s)
        for issue_id, other in came.elsewhere:
            self._waits[issue_id] = _Wait(reason(other, _clock(other.until)), now + pause, waited_for=False)
        if came.refused and not self._refused:
            self._refused = came.refused
            self._context.announce("claims_refused", None, {"reason": came.refused})
        if not came.away:
            self._away_since = None
        else:
            self._away_since = now if self._away_since is None else self._away_since
            waited = now < self._away_since + self._context.settings.policy.outage_max_s
            for issue_id in asked:
                self._waits[issue_id] = _Wait(f"cannot be claimed: {came.away}", now + pause, waited_for=waited)
        for issue_id in asked & self._waits.keys():
            self._tell(issue_id, self._waits[issue_id].reason)

    def _tell(self, issue_id: str, why: str) -> None:
        state = self._context.reader.state(issue_id)
        if state.status in (IssueStatus.READY, IssueStatus.WAITING) and state.reason != why:
            self._context.set_status(issue_id, IssueStatus.WAITING, why)

    # Keeping

    def _own_came(self, job: Job[dict[str, Held]]) -> None:
        """Take in what an earlier run of this clone has claimed."""
        self._changing, self._own = False, True
        known = {claim_ref(issue.id): issue.id for issue in self._context.issues}
        known |= {claim_ref(issue_id): issue_id for issue_id in self._context.reader.states()}
        for ref, held in (job.result or {}).items():
            issue_id = known.get(ref, held.claim.issue)
            self._held.setdefault(issue_id, Held(replace(held.claim, issue=issue_id), held.commit))

    def _due(self, *, ending: bool = False) -> "tuple[_Change, ...]":
        """Return the claims that shall change, with what they shall be, None for nothing."""
        now, lease_s, states = self._now(), self._context.settings.landing.lease_s, self._context.reader.states()
        at_work, due = self._jobs.issues(), list[_Change]()
        for issue_id, held in self._held.items():
            wanted = purpose(states[issue_id].status if issue_id in states else None, ending=ending)
            if wanted is None and issue_id in at_work and not ending:
                wanted = ""
            changed = change(held.claim, wanted, now, lease_s)
            if changed != held.claim:
                due.append((issue_id, held, changed))
        return tuple(due)

    def _changed(self, due: "tuple[_Change, ...]", job: Job[dict[str, str | None]]) -> None:
        self._changing = False
        commits = job.result or {}
        for issue_id, _, changed in due:
            commit = commits.get(issue_id, "")
            if commit is None:
                self._lost(issue_id)
            elif commit and changed is not None:
                self._held[issue_id] = Held(changed, commit)
            elif commit:
                self._held.pop(issue_id, None)

    def _lost(self, issue_id: str) -> None:
        """End the work on an issue that another machine has taken over; what was done is kept."""
        self._held.pop(issue_id, None)
        self._context.log_event("claim_lost", issue_id)
        self._jobs.withdraw(issue_id)


_Change = tuple[str, Held, Claim | None]
"""An issue, the claim that this run has on it, and what shall stand there: None for nothing."""


def _clock(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def machine_name() -> str:
    """Return the name of the machine; the variable wins, since a container, or a runner, has another name each time."""
    return os.environ.get(MACHINE, "") or platform.node()


def holder_of(context: RunContext) -> str:
    """Return what names this clone on this machine, whatever the run; a copy of it elsewhere is another holder.

    It is a hash, since it is pushed: where this machine keeps its folders is nobody's business.
    """
    name = context.reader.fact(_HOLDER)
    if name is None:
        name = secrets.token_hex(8)
        context.journal.fact(_HOLDER, name)
        context.journal.fact(_BEGAN, str(context.clock.now()))
    return _named(context, name)


def _named(context: RunContext, name: str) -> str:
    place = os.fsencode(context.env.plumbing.repository.state_dir)
    return hashlib.sha256(f"{name} {machine_name()} ".encode() + place).hexdigest()[:32]


def _salt() -> str:
    """Return what nobody else knows of this machine, so that the hash of a clone's place cannot be guessed from paths.

    Where the machine is named by the variable it is made anew for each run, and its folders are no secret.
    """
    if os.environ.get(MACHINE):
        return ""
    try:
        return Path("/etc/machine-id").read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def state_began(context: RunContext) -> float:
    """Return when this clone's state began, by the clock of this machine; 0 if an earlier noface began it."""
    holder_of(context)
    return float(context.reader.fact(_BEGAN) or 0.0)


def claims_of(context: RunContext, issue_ids: Iterable[str]) -> tuple[Claim, ...]:
    """Return the claims that this run makes on issues."""
    now, lease_s = context.clock.now(), context.settings.landing.lease_s
    holder, machine, clone = holder_of(context), machine_name() or "a machine without a name", _named(context, _salt())
    return tuple(
        Claim(issue_id, holder, machine, context.run_id, now, now + lease_s, clone=clone) for issue_id in issue_ids
    )


def claim(
    context: RunContext,
    refs: ClaimRefs,
    wanted: tuple[Claim, ...],
    began: float,
    taken_over: frozenset[str],
    cancel: Canceller,
) -> Claimed:
    """Claim issues, in a thread; what another run has claimed and still holds is left to it.

    `began` is when this clone's state did, `taken_over` are issues that a person has given to this clone.
    """
    asked, elsewhere, pushes = dict[str, Held](), list[tuple[str, Claim]](), list[Push]()
    try:
        there = refs.read(cancel)
        for each in wanted:
            ref = claim_ref(each.issue)
            found = there.get(ref)
            held = read(found.message, each.issue, found.made_at) if found is not None else None
            given = each.issue in taken_over
            other = obstacle(held, each, context.clock.now(), began=began, taken_over=given)
            if other is not None:
                elsewhere.append((each.issue, other))
                continue
            mine = successor(held, each)
            asked[ref] = Held(mine, refs.make(written(mine)))
            pushes.append(Push(ref, asked[ref].commit, found.commit if found is not None else ""))
        results = refs.push(pushes, cancel)
    except RemoteError as error:
        return Claimed(away=f"{error.message}. {error.hint}".strip())
    taken = tuple((asked[ref].claim.issue, asked[ref]) for ref, result in results.items() if isinstance(result, Pushed))
    refusals = [result for result in results.values() if isinstance(result, Rejected)]
    lost = [replace(asked[each.ref].claim, machine="another machine, just now") for each in refusals if each.moved]
    refused = next((each.said or each.reason.line for each in refusals if not each.moved), "")
    others = (*elsewhere, *((each.issue, each) for each in lost))
    return Claimed(taken, others, refused=refused, fetched=fetch_again(context, cancel) if taken else "")


def own_claims(refs: ClaimRefs, holder: str, cancel: Canceller) -> dict[str, Held]:
    """Return the claims that a holder has on the remote, by their refs, in a thread; none where it is away."""
    try:
        there = refs.read(cancel)
    except RemoteError:
        return {}
    claims = {ref: Held(read(each.message, "", each.made_at), each.commit) for ref, each in there.items()}
    return {ref: held for ref, held in claims.items() if held.claim.holder == holder}


def change_all(refs: ClaimRefs, due: tuple[_Change, ...], cancel: Canceller) -> dict[str, str | None]:
    """Renew or give back claims, in a thread; return the new commit of each issue, None for those that were lost.

    Issues of which nothing is known, since the remote is away, are left out. What was given back has its old commit.
    """
    try:
        pushes = {
            issue_id: Push(claim_ref(issue_id), "" if changed is None else refs.make(written(changed)), held.commit)
            for issue_id, held, changed in due
        }
        results = refs.push(pushes.values(), cancel)
    except GitError:
        return {}
    commits = dict[str, str | None]()
    for issue_id, push in pushes.items():
        result = results[push.ref]
        if isinstance(result, Pushed):
            commits[issue_id] = push.commit or push.expected
        elif result.moved:
            commits[issue_id] = None
    return commits
