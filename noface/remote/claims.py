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
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from noface.engine.context import RunContext
from noface.engine.engine import RunParts
from noface.engine.ground import fetch_again, mark_landed_elsewhere
from noface.engine.outages import Outage
from noface.engine.stations import Station, Steps, Tick, call
from noface.errors import GitError, RemoteError
from noface.git.claims import ClaimRefs, claim_ref
from noface.git.remote import Push, Pushed, Rejected
from noface.model.taxonomy import Cause, IssueStatus
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
class HeldClaim:
    """A claim of this run, and the commit that its ref points to."""

    claim: Claim
    commit: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """What came of asking for issues: those that this run has now, and those that others have.

    `refused` is what the server says where it takes no claims at all. `fetched` are the commits that the remote's main
    had gained by then, as a range: what another machine had in hand may have landed meanwhile.
    """

    held: tuple[tuple[str, HeldClaim], ...] = ()
    elsewhere: tuple[tuple[str, Claim], ...] = ()
    refused: str = ""
    fetched: str = ""


class ClaimKeeper(Station):
    """The claims of a run. Without a remote, or if nothing is published, all issues are free."""

    def __init__(self, run: RunParts) -> None:
        self._run, self._context = run, run.context
        landing, remote = run.context.settings.landing, run.context.remote
        self._refs = ClaimRefs(run.context.env.plumbing, remote) if landing.publishes and remote is not None else None
        self._held: dict[str, HeldClaim] = {}
        self._waits: dict[str, tuple[float, Waiting]] = {}
        self._asking: frozenset[str] = frozenset()
        self._pause_s = max(_ASK_AGAIN_S, landing.poll_s)
        self._outage = Outage(run.context.clock, (self._pause_s,), (self._pause_s,))
        self._refused = False

    def at_work(self, *, stopping: bool) -> bool:
        """True if issues are being claimed."""
        del stopping
        return bool(self._asking)

    @property
    def busy(self) -> frozenset[str]:
        """The issues that cannot start now, since they are being claimed, or for a while by others."""
        now = self._context.clock.now()
        return self._asking | {issue_id for issue_id, (ask_at, _) in self._waits.items() if ask_at > now}

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """Why issues wait for their claims."""
        return tuple(waiting for _, waiting in self._waits.values())

    @property
    def elsewhere(self) -> frozenset[str]:
        """The issues that others have, as far as is known: what is said of them is theirs to say."""
        return frozenset(self._waits)

    def admitted(self, issue_ids: Collection[str]) -> Collection[str]:
        """Return the issues that this run has, and claim the others; what came of it is there at a later tick."""
        if self._refs is None or self._refused:
            return issue_ids
        wanted = tuple(issue_id for issue_id in issue_ids if issue_id not in self._held)
        if wanted and not self._asking:
            self._asking = frozenset(wanted)
            self._run.stations.begin(self._claim(self._refs, wanted))
        return self._held.keys() & issue_ids

    def stories(self) -> Iterable[Steps[None]]:
        """Keep the claims of the run."""
        return () if self._refs is None else (self._keep(self._refs),)

    def release(self) -> None:
        """Give back everything but what outlasts the run; what cannot be given back ends with its lease."""
        if self._refs is not None and self._held and (due := self._due(ending=True)):
            with suppress(GitError):
                change_all(self._refs, due, Canceller())
            hit("claims_released")

    # Asking

    def _claim(self, refs: ClaimRefs, wanted: tuple[str, ...]) -> Steps[None]:
        """Claim issues that are about to start; those that others have, or that cannot be claimed now, wait."""
        context, fact = self._context, self._context.reader.fact
        given = frozenset(issue_id for issue_id in wanted if fact(taken_over_fact(issue_id)))
        asked = claims_of(context, wanted), state_began(context), given
        try:
            came = yield from call(partial(claim, context, refs, *asked), always=True)
        except RemoteError as error:
            hit("claimed")
            self._outage.met(error)
            waited = context.clock.now() < self._outage.since + context.settings.policy.outage_max_s
            for issue_id in wanted:
                self._wait(issue_id, f"cannot be claimed: {error.reason}", waited_for=waited)
            return
        finally:
            self._asking = frozenset()
        hit("claimed")
        self._outage.over()
        for issue_id in mark_landed_elsewhere(context, came.fetched) if came.fetched else ():
            self._run.queue.drop(issue_id)
        for issue_id in wanted:
            self._waits.pop(issue_id, None)
        self._held.update(came.held)
        for issue_id, _ in came.held:
            if fact(taken_over_fact(issue_id)):
                context.journal.fact(taken_over_fact(issue_id), "")
        for issue_id, other in came.elsewhere:
            self._wait(issue_id, reason(other, _clock(other.until)), waited_for=False, cause=Cause.CLAIMED)
        if came.refused:
            self._refused = True
            context.announce("claims_refused", None, {"reason": came.refused})

    def _wait(self, issue_id: str, why: str, *, waited_for: bool, cause: Cause = Cause.NONE) -> None:
        context = self._context
        ask_at = context.clock.now() + self._pause_s
        self._waits[issue_id] = ask_at, Waiting(issue_id, why, ask_at if waited_for else None)
        state = context.reader.state(issue_id)
        if state.status in (IssueStatus.READY, IssueStatus.WAITING) and state.reason != why:
            context.set_status(issue_id, IssueStatus.WAITING, why, cause=cause)

    # Keeping

    def _keep(self, refs: ClaimRefs) -> Steps[None]:
        """Take in what an earlier run of this clone has claimed; then renew claims, and give back what is done with."""
        try:
            own = yield from call(partial(own_claims, refs, holder_of(self._context)), always=True)
        except RemoteError:
            own = {}
        known = {claim_ref(issue.id): issue.id for issue in self._context.issues}
        known |= {claim_ref(issue_id): issue_id for issue_id in self._context.reader.states()}
        for ref, held in own.items():
            issue_id = known.get(ref, held.claim.issue)
            self._held.setdefault(issue_id, HeldClaim(replace(held.claim, issue=issue_id), held.commit))
        while not self._refused:
            yield Tick(always=True)
            if self._asking or not (due := self._due()):
                continue
            with suppress(GitError):
                commits = yield from call(partial(change_all, refs, due), always=True)
                self._change(due, commits)

    def _due(self, *, ending: bool = False) -> "tuple[_Change, ...]":
        """Return the claims that shall change, with what they shall be, None for nothing."""
        context, lease_s = self._context, self._context.settings.landing.lease_s
        now, states, at_work, due = context.clock.now(), context.reader.states(), self._run.jobs.issues(), []
        for issue_id, held in self._held.items():
            wanted = purpose(states[issue_id].status if issue_id in states else None, ending=ending)
            if wanted is None and issue_id in at_work and not ending:
                wanted = ""
            changed = change(held.claim, wanted, now, lease_s)
            if changed != held.claim:
                due.append((issue_id, held, changed))
        return tuple(due)

    def _change(self, due: "tuple[_Change, ...]", commits: dict[str, str | None]) -> None:
        """Take in what became of claims; work on an issue that another machine has taken over ends, and is kept."""
        for issue_id, _, changed in due:
            commit = commits.get(issue_id, "")
            if commit and changed is not None:
                self._held[issue_id] = HeldClaim(changed, commit)
            elif commit != "":
                self._held.pop(issue_id, None)
            if commit is None:
                self._context.log_event("claim_lost", issue_id)
                self._run.jobs.withdraw(issue_id)


_Change = tuple[str, HeldClaim, Claim | None]
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
    """Claim issues, in a thread; what another run has claimed and still holds is left to it. Raises RemoteError.

    `began` is when this clone's state did, `taken_over` are issues that a person has given to this clone.
    """
    asked, elsewhere, pushes = dict[str, HeldClaim](), list[tuple[str, Claim]](), list[Push]()
    there = refs.read(cancel)
    for each in wanted:
        ref = claim_ref(each.issue)
        there_now = there.get(ref)
        held = read(there_now.message, each.issue, there_now.made_at) if there_now is not None else None
        given = each.issue in taken_over
        other = obstacle(held, each, context.clock.now(), began=began, taken_over=given)
        if other is not None:
            elsewhere.append((each.issue, other))
            continue
        mine = successor(held, each)
        asked[ref] = HeldClaim(mine, refs.make(written(mine)))
        pushes.append(Push(ref, asked[ref].commit, there_now.commit if there_now is not None else ""))
    results = refs.push(pushes, cancel)
    taken = tuple((asked[ref].claim.issue, asked[ref]) for ref, result in results.items() if isinstance(result, Pushed))
    refusals = [result for result in results.values() if isinstance(result, Rejected)]
    lost = [replace(asked[each.ref].claim, machine="another machine, just now") for each in refusals if each.moved]
    refused = next((each.server_words or each.reason.line for each in refusals if not each.moved), "")
    others = (*elsewhere, *((each.issue, each) for each in lost))
    return Claimed(taken, others, refused=refused, fetched=fetch_again(context, cancel) if taken else "")


def own_claims(refs: ClaimRefs, holder: str, cancel: Canceller) -> dict[str, HeldClaim]:
    """Return the claims that a holder has on the remote, by their refs. Raises RemoteError."""
    there = refs.read(cancel)
    claims = {ref: HeldClaim(read(each.message, "", each.made_at), each.commit) for ref, each in there.items()}
    return {ref: held for ref, held in claims.items() if held.claim.holder == holder}


def change_all(refs: ClaimRefs, due: tuple[_Change, ...], cancel: Canceller) -> dict[str, str | None]:
    """Renew or give back claims; return the new commit of each issue, None for those that were lost.

    Issues of which nothing is known are left out. What was given back has its old commit. Raises GitError.
    """
    pushes = {
        issue_id: Push(claim_ref(issue_id), "" if changed is None else refs.make(written(changed)), held.commit)
        for issue_id, held, changed in due
    }
    results = refs.push(pushes.values(), cancel)
    commits = dict[str, str | None]()
    for issue_id, push in pushes.items():
        result = results[push.ref]
        if isinstance(result, Pushed):
            commits[issue_id] = push.commit or push.expected
        elif result.moved:
            commits[issue_id] = None
    return commits
