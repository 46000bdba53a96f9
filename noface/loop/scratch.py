"""Looks at an issue's scratch branch and moves it, by compare-and-swap from where noface left it (law 2)."""

from noface.core.actions import Block
from noface.core.attempt import PastAttempt
from noface.core.blocking import taken_document
from noface.core.history import History
from noface.core.issue import Issue
from noface.core.masked_records import masked_issue
from noface.core.scratch import LEFT, PERSON, Scratch, Taken
from noface.core.taxonomy import FailureKind
from noface.errors import GitError
from noface.git.refs import ZERO, RefUpdate, hold_ref, scratch_branch
from noface.git.worktrees import holding
from noface.loop.context import RunContext


def scratch_of(context: RunContext, issue: Issue) -> Scratch:
    """Return where an issue's scratch branch stands, and where noface left it."""
    plumbing, ref, prefix = context.shop.plumbing, scratch_branch(issue.id), hold_ref(issue.id, "")
    refs = {name.removeprefix(prefix): oid for name, oid in plumbing.references(prefix.rstrip("/")).items()}
    return Scratch(ref.removeprefix("refs/heads/"), plumbing.resolve(ref), refs)


def taken(context: RunContext, issue: Issue, past: tuple[PastAttempt, ...]) -> Taken | None:
    """Return why the issue waits before it is worked on; where a person has retried it, their commit becomes its own.

    What they committed is held by a ref from then on.
    """
    scratch, plumbing = scratch_of(context, issue), context.shop.plumbing
    given = context.reader.given_branch(issue.id)
    theirs = _of_a_person(context, scratch, past)
    if theirs and not given:
        return Taken(scratch.name, scratch.at or "")
    if theirs and scratch.at is not None:
        number = past[-1].number if past else 0
        plumbing.refs.apply(
            RefUpdate(hold_ref(issue.id, f"{PERSON}{number}-{scratch.at[:12]}"), scratch.at),
            RefUpdate(hold_ref(issue.id, LEFT), scratch.at),
        )
        context.journal.event(context.clock.now(), "branch_adopted", issue.id, commit=scratch.at)
    if given:
        context.journal.give_branch(issue.id, given=False)
    return None


def committed(context: RunContext, issue: Issue) -> Taken | None:
    """Return why an issue waits whose work has passed: a person has committed to its branch meanwhile."""
    scratch = scratch_of(context, issue)
    theirs = _of_a_person(context, scratch, context.reader.past(issue.id))
    return Taken(scratch.name, scratch.at or "") if theirs else None


def move(context: RunContext, issue: Issue, past: tuple[PastAttempt, ...]) -> Taken | None:
    """Point the branch at the best work since a person's last commit there; return why not where it is taken.

    It is what a person looks at, and what the next attempt builds on.
    """
    scratch = scratch_of(context, issue)
    if _of_a_person(context, scratch, past):
        return Taken(scratch.name, scratch.at or "")
    kept = kept_since(scratch, past)
    best = max(kept, key=_merit, default=None)
    if best is None or best.candidate is None or best.candidate == scratch.at == scratch.left:
        return None
    ref = scratch_branch(issue.id)
    places = holding(context.shop.plumbing.repository, ref) if scratch.at not in (None, best.candidate) else ()
    if places:
        return Taken(scratch.name, place=str(places[0].path))
    left = RefUpdate(hold_ref(issue.id, LEFT), best.candidate)
    try:
        context.shop.plumbing.refs.apply(RefUpdate(ref, best.candidate, scratch.at or ZERO), left)
    except GitError:
        now = context.shop.plumbing.resolve(ref)
        if now in (scratch.at, None):
            raise
        return Taken(scratch.name, now or "")
    return None


def _merit(attempt: PastAttempt) -> tuple[bool, int, int, int]:
    return attempt.outcome == "PASSED", attempt.gates_passed, -(attempt.failing_tests or 0), attempt.number


def kept_since(scratch: Scratch, past: tuple[PastAttempt, ...]) -> list[PastAttempt]:
    """Return the attempts with work in them that came after what a person gave to noface."""
    after = scratch.adopted[0] if scratch.adopted is not None else 0
    return [a for a in past if a.number > after and a.candidate is not None and a.patch_hash]


def wait_for_person(context: RunContext, told: History, why: Taken) -> Block:
    """Let an issue wait until a person has said what becomes of the branch; return the action this is."""
    action = Block(FailureKind.MERGE_CONFLICT, why.reason)
    stored = masked_issue(told.issue, context.shop.masker)
    document = taken_document(stored, action, told, why)
    context.journal.blocked(context.clock.now(), told.issue.id, why.reason, document)
    return action


def _of_a_person(context: RunContext, scratch: Scratch, past: tuple[PastAttempt, ...]) -> bool:
    made = {commit for attempt in past for commit in (attempt.commit, attempt.candidate) if commit}
    plumbing = context.shop.plumbing
    return scratch.of_a_person(made) and not plumbing.is_ancestor(str(scratch.at), plumbing.main())
