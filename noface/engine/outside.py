"""What people change during a run: the backlog, the repository, an issue's scratch branch."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from noface.attempt.changes import fit_to_show, why_held_back
from noface.engine.context import RunContext
from noface.engine.going_on import as_ordered, broken_files, masked_text
from noface.errors import GitError
from noface.git.plumbing import Plumbing
from noface.git.refs import ZERO, RefUpdate, hold_ref, scratch_branch
from noface.git.survey import PersonsState, checkout_and_stash, differences, main_moved, persons_state
from noface.git.worktrees import holding
from noface.integrity.accepting import without_gates
from noface.model.attempt import AttemptOrder, PastAttempt, failure_of
from noface.model.backlog import numbered_again, without_unknown_models
from noface.model.failure import Failure
from noface.model.history import Decided, History, Verdict
from noface.model.issue import Backlog, Issue, IssueState
from noface.model.quoting import some
from noface.model.scratch import LEFT, PERSON, BranchTaken, Scratch
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.recovery.pull_rounds import TAKEN
from noface.recovery.requests import branch_request
from noface.recovery.retry_policy import REJECTED_BY_PERSON, TEXT_EDITED
from noface.recovery.schedule import with_parts
from noface.recovery.start import best_left
from noface.secrets.masked_records import masked_record
from noface.store.pull_requests import PullStep
from noface.store.questions import Questions

_NAMED_MAX = 5
_LIFTED_BY_EDITING = (IssueStatus.BLOCKED, IssueStatus.SKIPPED)


_WITHDRAWN_THERE = "was closed or taken from noface at the tracker"
_WITHDRAWN_HERE = "was deleted, moved or closed"


class BacklogWatch:
    """Keeps issues and issue rows up to date with what people write."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._seen: tuple[str, str] | None = None
        self._present: dict[str, tuple[str, str]] = {}
        self._known: set[str] = set()
        self._masked: dict[str, tuple[Issue, Issue]] = {}
        self._by_id: dict[str, Issue] = {}
        self.backlog = Backlog()

    def refresh(self) -> None:
        """Read the backlog again if it has changed."""
        context = self._context
        fingerprint = context.tracker.fingerprint()
        seen = (fingerprint, context.reader.agreements())
        if seen == self._seen and not context.backlog_stale:
            return
        context.backlog_stale = False
        landed = context.reader.merged()
        listed = without_unknown_models(context.tracker.backlog(tuple(landed)), context.settings.models)
        listed = numbered_again(listed, {issue_id: source for issue_id, source in landed.items() if source})
        self.backlog = replace(listed, issues=with_parts(listed.issues, context.questions.children()))
        self._seen = seen
        context.journal.sync_backlog(self._without_secrets(), fingerprint)
        states = context.reader.states()
        gates = context.settings.gates
        agreed = tuple(without_gates(as_agreed(issue, states[issue.id]), gates) for issue in self.backlog.issues)
        agreed = with_rechecks(agreed, states, context.questions)
        self.backlog = replace(self.backlog, issues=agreed)
        self._by_id = {issue.id: issue for issue in agreed}
        context.issues = agreed
        if context.at_first is None:
            context.at_first = frozenset(issue.id for issue in agreed)
        self._known = {issue.id for issue in self.backlog.issues} | {each.id for each in listed.faults if each.id}
        place = ("", "") if context.issues_elsewhere else checkout_and_stash(context.env.plumbing)
        self._present |= dict.fromkeys(self._known, place)
        self.lift_edited()

    def withdrew(self, issue_id: str) -> str:
        """Tell how people have taken an issue from noface, "" if they have not, or if that is not clear.

        Files also go while another branch is checked out, or with a stash: they may come back.
        """
        if issue_id in self._known:
            return ""
        if self._context.issues_elsewhere:
            return self.backlog.gone.get(issue_id, _WITHDRAWN_THERE)
        stays = self._present.get(issue_id) == checkout_and_stash(self._context.env.plumbing)
        return self.backlog.gone.get(issue_id, _WITHDRAWN_HERE) if stays else ""

    def not_now(self, issue_id: str) -> str:
        """Tell why an issue's work must not land as the issue is written now, "" if it may; the plan waits for that."""
        faults = (fault for fault in self.backlog.faults if fault.id == issue_id)
        if (fault := next(faults, None)) is not None:
            return f"it is faulty as it is written now: {fault.problem}"
        issue, states = self._by_id.get(issue_id), self._context.reader.states()
        needed = issue.depends_on if issue is not None else ()
        open_ones = tuple(name for name in needed if name in states and not states[name].done)
        return f"it depends on {some(open_ones, _NAMED_MAX)} by now" if open_ones else ""

    def lift_edited(self) -> None:
        """Unblock blocked and skipped issues whose text a person has edited (N14)."""
        context = self._context
        states = context.reader.states()
        for issue in self.backlog.issues:
            state = states[issue.id]
            if state.status in _LIFTED_BY_EDITING and state.content_hash != issue.content_hash:
                now, row = context.clock.now(), context.reader.issue(issue.id)
                if row is not None and row.block is not None and row.block.question:
                    answer = Decided(0, Verdict.NOTED, state.epoch + 1, at=now, question=row.block.question)
                    context.questions.decided(issue.id, answer)
                context.journal.unblocked(now, issue.id, "its text was edited")

    def issue(self, issue_id: str) -> Issue | None:
        return self._by_id.get(issue_id)

    def wanted(self) -> tuple[Issue, ...]:
        issues, only = self.backlog.issues, self._context.settings.only_issues
        return tuple(issue for issue in issues if issue.id in only or issue.parent in only) if only else issues

    def _without_secrets(self) -> Backlog:
        """Return the backlog as it may be stored; an issue that is as it was is not masked again."""
        before, issues = self._masked, self.backlog.issues
        new = tuple(issue for issue in issues if issue.id not in before or before[issue.id][0] is not issue)
        masked = masked_record(replace(self.backlog, issues=new), self._context.env.masker)
        made = {issue.id: (issue, one) for issue, one in zip(new, masked.issues, strict=True)}
        self._masked = {issue.id: made.get(issue.id) or before[issue.id] for issue in issues}
        return replace(masked, issues=tuple(one for _, one in self._masked.values()))


def edited_since(context: RunContext, issue: Issue, number: int) -> Failure | None:
    """Return the failure, charged to nobody, of an attempt whose issue asks for something else by now."""
    before, now = as_ordered(context, issue, number), masked_text(context, issue)
    if before is None or (before.title, before.body, before.accept) == (now.title, now.body, now.accept):
        return None
    digest = hashlib.sha256(f"{now.title}\n{now.body}\n{now.accept}".encode()).hexdigest()[:_SHORT]
    return Failure(
        FailureKind.REVIEW_REJECTED,
        "its text was edited while the worker was at it; once more, with the new text",
        rule=TEXT_EDITED,
        signature=f"{TEXT_EDITED}:{digest}",
        excerpt="The text of the task was edited while this work was done: it may ask for more, or for something else."
        " Where the work does already what the text above asks for, change nothing.",
        charged=False,
    )


def rejected_before(past: Sequence[PastAttempt]) -> Failure | None:
    """Return the failure of the last attempt if it is the very work that a person has rejected since its unblocking."""
    last = past[-1] if past else None
    for each in past[:-1] if last is not None and last.patch_hash else ():
        failure = failure_of(each)
        if last and (each.patch_hash, each.epoch, failure.rule) == (last.patch_hash, last.epoch, REJECTED_BY_PERSON):
            return replace(failure, message=f"the same work as that of attempt {each.number}, {failure.message}")
    return None


def as_agreed(issue: Issue, state: IssueState) -> Issue:
    """Add what was agreed later: paths that a person has allowed (as `may_change` does), issues that come first."""
    if not state.granted_paths and not state.needs:
        return issue
    paths = tuple(dict.fromkeys(issue.paths + state.granted_paths)) if issue.paths else ()
    may_change = tuple(dict.fromkeys(issue.may_change + state.granted_paths))
    depends_on = tuple(dict.fromkeys(issue.depends_on + state.needs))
    return replace(issue, paths=paths, may_change=may_change, depends_on=depends_on)


def with_rechecks(
    issues: tuple[Issue, ...], states: Mapping[str, IssueState], questions: Questions
) -> tuple[Issue, ...]:
    """Give issues with a wider boundary the accept commands of the merged issues that they may now break (K5)."""
    widened = [issue.id for issue in issues if states[issue.id].granted_paths]
    if not widened:
        return issues
    merged = {issue.id: issue.accept for issue in issues if states[issue.id].status is IssueStatus.MERGED}
    again = dict[str, tuple[str, ...]]()
    for name in widened:
        others = [other for advice in questions.advice(name) for other in advice.recheck]
        again[name] = tuple(command for other in others for command in merged.get(other, ()))
    return tuple(replace(issue, recheck=again.get(issue.id, issue.recheck)) for issue in issues)


_SHORT = 12


class OutsideChanges:
    """Compares the repository before and after attempts; for the loop's thread only."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._last: PersonsState | None = None

    def before_attempt(self, *, alone: bool) -> None:
        if alone or self._last is None:
            self._last = persons_state(self._context.env.plumbing)

    def after_attempt(self, order: AttemptOrder) -> tuple[str, ...]:
        """Return, and announce, what has changed since the last comparison; each change is reported for one attempt."""
        context, plumbing = self._context, self._context.env.plumbing
        before, now = self._last, persons_state(plumbing)
        self._last = now
        if before is None:
            return ()
        main = plumbing.repository.main
        during = f"while attempt {order.number} was at work, not by noface"
        changes = [f"{what} {during}" for what in differences(before, now, main)]
        old, new = before[0].get(main), now[0].get(main)
        if old is not None and new is not None and main_moved(plumbing, old, new, context.reader.landed_commits()):
            old, new = old[:_SHORT], new[:_SHORT]
            changes.insert(0, f"main moved from {old} to {new} {during}: git log {old}..{new}")
        if changes:
            context.log_event("repository_changed", order.issue.id, number=order.number, what=changes)
        return tuple(changes)


def scratch_of(plumbing: Plumbing, issue: Issue) -> Scratch:
    ref, prefix = scratch_branch(issue.id), hold_ref(issue.id, "")
    refs = {name.removeprefix(prefix): oid for name, oid in plumbing.references(prefix.rstrip("/")).items()}
    return Scratch(ref.removeprefix("refs/heads/"), plumbing.resolve(ref), refs)


def adopt_branch(context: RunContext, issue: Issue, past: tuple[PastAttempt, ...]) -> BranchTaken | None:
    """Take a person's commit as the issue's own, where they have retried the issue, and hold it; else why it waits."""
    given, plumbing = bool(context.reader.fact(f"branch_given:{issue.id}")), context.env.plumbing
    if (taken := _pull_taken(context, issue, past, given=given)) is not None:
        return taken
    scratch = scratch_of(plumbing, issue)
    theirs = _persons_commit(context, scratch, past)
    if theirs is not None and not given:
        return theirs
    if theirs is not None and scratch.at is not None:
        plumbing.refs.apply(*_holds(issue, past, scratch.at))
        context.log_event("branch_adopted", issue.id, commit=scratch.at)
    if given:
        context.journal.give_branch(issue.id, given=False)
    return None


def _holds(issue: Issue, past: tuple[PastAttempt, ...], commit: str) -> list[RefUpdate]:
    name = f"{PERSON}{past[-1].number if past else 0}-{commit[:12]}"
    return [RefUpdate(hold_ref(issue.id, each), commit) for each in (name, LEFT)]


def _pull_taken(context: RunContext, issue: Issue, past: tuple[PastAttempt, ...], *, given: bool) -> BranchTaken | None:
    row, plumbing = context.pulls.row(issue.id), context.env.plumbing
    if row is None or row.state != PullStep.TAKEN:
        return None
    commit = plumbing.resolve(hold_ref(issue.id, TAKEN))
    if commit is None or not given:
        return BranchTaken(row.branch, commit or "", remote=context.remote.name if context.remote is not None else "")
    scratch, updates, ref = scratch_of(plumbing, issue), _holds(issue, past, commit), scratch_branch(issue.id)
    is_free = not holding(plumbing.repository, ref) and _persons_commit(context, scratch, past) is None
    if is_free and not why_held_back(context.env, commit):
        updates.append(RefUpdate(ref, commit, scratch.at or ZERO))
    plumbing.refs.apply(*updates)
    context.pulls.adopted(context.clock.now(), issue.id, commit)
    context.log_event("branch_adopted", issue.id, commit=commit)
    return None


def branch_in_the_way(context: RunContext, issue: Issue) -> BranchTaken | None:
    return _persons_commit(context, scratch_of(context.env.plumbing, issue), context.reader.past(issue.id))


def move_branch(context: RunContext, issue: Issue, past: tuple[PastAttempt, ...]) -> BranchTaken | None:
    """Point the branch at the best work since a person's last commit there; return why not if that is not possible."""
    scratch = scratch_of(context.env.plumbing, issue)
    if (theirs := _persons_commit(context, scratch, past)) is not None:
        return theirs
    plumbing = context.env.plumbing
    after = scratch.adopted[0] if scratch.adopted is not None else 0
    own = (a for a in past if a.number > after and a.candidate is not None and a.patch_hash)
    kept = tuple(a for a in own if plumbing.resolve(str(a.candidate)) is not None)
    best = best_left(kept, broken_files(plumbing, kept))
    if best is None or best.candidate is None or best.candidate == scratch.at == scratch.left:
        return None
    branch_tip = fit_to_show(context.env, hold_ref(issue.id, "shown"), best.candidate, scratch.at)
    if branch_tip == scratch.at == scratch.left:
        return None
    ref = scratch_branch(issue.id)
    if places := holding(plumbing.repository, ref) if scratch.at not in (None, branch_tip) else ():
        return BranchTaken(scratch.name, place=str(places[0].path))
    left = RefUpdate(hold_ref(issue.id, LEFT), branch_tip)
    try:
        plumbing.refs.apply(RefUpdate(ref, branch_tip, scratch.at or ZERO), left)
    except GitError:
        now = plumbing.resolve(ref)
        if now in (scratch.at, None):
            raise
        return BranchTaken(scratch.name, now or "")
    return None


def wait_for_person(context: RunContext, history: History, why: BranchTaken) -> None:
    issue = masked_record(history.issue, context.env.masker)
    context.journal.blocked(context.clock.now(), issue.id, why.reason, branch_request(issue, history, why))


def _persons_commit(context: RunContext, scratch: Scratch, past: tuple[PastAttempt, ...]) -> BranchTaken | None:
    made = {commit for attempt in past for commit in (attempt.commit, attempt.candidate) if commit}
    plumbing = context.env.plumbing
    theirs = scratch.of_a_person(made) and not plumbing.is_ancestor(str(scratch.at), plumbing.main())
    return BranchTaken(scratch.name, scratch.at or "") if theirs else None
