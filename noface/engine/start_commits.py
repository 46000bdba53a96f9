"""Makes the commit that an attempt starts from: main with the work that `recovery/start` names, and what is good in it.

Where files were left out, the commit has main as its only parent: what was wrong is in no history that lands.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import partial

from noface.engine.context import RunContext
from noface.engine.going_on import broken_files, broken_places
from noface.engine.outside import scratch_of
from noface.git.plumbing import Plumbing, entries_before, make_and_hold, tree_with
from noface.git.refs import hold_ref
from noface.model.attempt import PastAttempt
from noface.model.history import Advice, AdviceOutcome, History, Topic
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.model.start import Origin, StartPoint, StartReason
from noface.model.taxonomy import FailureKind
from noface.recovery.start import from_main, start_of


@dataclass(frozen=True, slots=True)
class Start:
    """A start that is made: the commit of the workspace, and where it comes from and why."""

    commit: str
    point: StartPoint


def next_start(context: RunContext, history: History, main: str, accept_failing: int | None) -> Start:
    """Return where the next attempt starts, with its commit made. Attempts before a breakdown do not count."""
    issue, plumbing = history.issue, context.env.plumbing
    divided = max((a.after for a in history.asked if a.topic is Topic.BREAKDOWN and _divided(a)), default=0)
    point = start_of(
        history.attempts,
        accept_failing=accept_failing,
        divided=divided,
        by_person=scratch_of(context, issue).adopted,
        broken=broken_files(plumbing, history.attempts),
        allowed=(*issue.paths, *issue.may_change),
    )
    # Who has found nothing to do there, or has written the same once more, begins on main.
    untried = all(past.outcome != FailureKind.NO_DIFF for past in history.attempts if past.number > divided)
    if point.reason is StartReason.DIVIDED and untried:
        return _after_parts(context, history, point, main)
    if point.reason is StartReason.NOTHING_YET and issue.parent is not None and untried:
        return _of_whole(context, issue, main)
    if point.commit is None:
        return Start(main, point)
    if plumbing.resolve(point.commit) is None:
        return Start(main, from_main(point, StartReason.GONE))
    what = "a person's work" if point.origin is Origin.PERSON else f"attempt {point.number}"
    made = None if point.without else _with_main(context, issue, point.commit, main, what)
    if made is None:
        made, conflicts = _put_on(context, issue, main, main, point.commit, point.without)
        reason = StartReason.CONFLICT if conflicts else point.reason
        if made == main:
            return Start(main, from_main(point, reason))
        point = replace(point, reason=reason, without=tuple(dict.fromkeys((*point.without, *conflicts))))
    if any(past.number == point.number and past.failing_tests is None for past in history.attempts):
        last = next((past for past in reversed(history.attempts) if past.failure is not None), None)
        named = last is not None and (last.number, last.outcome) == (point.number, FailureKind.SYNTAX_ERROR)
        told = named or point.reason is StartReason.CUT_OFF  # by its failure, or beside what cut it off
        point = replace(point, broken=() if told else broken_places(plumbing, main, made))
    return Start(made, point)


def _of_whole(context: RunContext, issue: Issue, main: str) -> Start:
    """Return the start of a part: what the best attempt at the whole issue did in the part's paths."""
    plumbing, past = context.env.plumbing, context.reader.past(str(issue.parent))
    whole, mine = _best_of(plumbing, past), (*issue.paths, *issue.may_change)
    commit = main
    if whole.commit is not None:
        others = {c.path for c in plumbing.diff(main, whole.commit).changes if mine and not matches_any(c.path, mine)}
        commit, _ = _put_on(context, issue, main, main, whole.commit, {*whole.without, *others})
    if commit == main:
        return Start(main, StartPoint(StartReason.NOTHING_YET))
    broken = broken_places(plumbing, main, commit)
    return Start(commit, StartPoint(StartReason.OF_WHOLE, commit=commit, broken=broken))


def _after_parts(context: RunContext, history: History, point: StartPoint, main: str) -> Start:
    """Return the start after a breakdown: what unfinished parts have done, and elsewhere what the issue itself had."""
    issue, plumbing, states = history.issue, context.env.plumbing, context.reader.states()
    parts = [part for part in context.issues if part.parent == issue.id]
    landed = tuple(path for part in parts if states[part.id].done for path in part.paths)
    commit = main
    for part in parts:
        left = StartPoint(StartReason.NOTHING_YET)
        if not states[part.id].done:
            left = _best_of(plumbing, context.reader.past(part.id))
        if left.commit is not None:
            commit, _ = _put_on(context, issue, main, commit, left.commit, left.without)
    before = _best_of(plumbing, tuple(past for past in history.attempts if past.number <= point.number))
    if before.commit is not None:
        newer = {change.path for change in plumbing.diff(main, commit).changes}
        done = {c.path for c in plumbing.diff(main, before.commit).changes if matches_any(c.path, landed)}
        commit, _ = _put_on(context, issue, main, commit, before.commit, {*before.without, *newer, *done})
    if commit == main:
        return Start(main, point)
    return Start(commit, replace(point, commit=commit, broken=broken_places(plumbing, main, commit)))


def _best_of(plumbing: Plumbing, past: tuple[PastAttempt, ...]) -> StartPoint:
    """Return what another issue's attempts have come to; without a commit where that is nothing, or gone."""
    point = start_of(past, broken=broken_files(plumbing, past))
    there = point.commit is not None and plumbing.resolve(point.commit) is not None
    return point if there else from_main(point, point.reason)


def _put_on(
    context: RunContext, issue: Issue, main: str, onto: str, commit: str, wrong: Collection[str]
) -> tuple[str, tuple[str, ...]]:
    """Return a commit with the changes of `commit` on `onto`, but for those in the files `wrong` and in conflicts.

    These come with it. Where nothing is left it is `onto`.
    """
    conflicts: tuple[str, ...] = ()
    for _ in range(2):
        make = partial(_merged_without, context.env.plumbing, main, onto, commit, {*wrong, *conflicts}, issue.id)
        made = make_and_hold(context.env.plumbing, hold_ref(issue.id, "start"), main, make, lambda done: done[0])
        if made[0] is not None:
            return made[0], conflicts
        conflicts = made[1]
    return onto, conflicts


def _merged_without(
    plumbing: Plumbing, main: str, onto: str, commit: str, files: Collection[str], issue_id: str
) -> tuple[str | None, tuple[str, ...]]:
    changes = [change for change in plumbing.diff(onto, commit).changes if change.path in files]
    kept = plumbing.commit_tree(tree_with(plumbing, commit, entries_before(changes)), (commit,), "Work without files\n")
    merge = plumbing.merge(onto, kept)
    if merge.tree is None or merge.tree == plumbing.tree(onto):
        return (None, merge.conflicts) if merge.tree is None else (onto, ())
    return plumbing.commit_tree(merge.tree, (main,), f"Take over what is good of the work on issue {issue_id}\n"), ()


def _with_main(context: RunContext, issue: Issue, commit: str, main: str, what: str) -> str | None:
    """Return a commit that holds `commit` and main, None where they conflict."""
    plumbing = context.env.plumbing
    if plumbing.is_ancestor(main, commit):
        return commit
    message = f"Merge main into {what} of issue {issue.id}\n"
    merge = partial(_merged, plumbing, main, commit, message)
    return make_and_hold(plumbing, hold_ref(issue.id, "start"), main, merge, lambda merged: merged)


def _merged(plumbing: Plumbing, main: str, candidate: str, message: str) -> str | None:
    tree = plumbing.merge(main, candidate).tree
    return None if tree is None else plumbing.commit_tree(tree, (candidate, main), message)


def _divided(advice: Advice) -> bool:
    return advice.outcome in (AdviceOutcome.ADVISED, AdviceOutcome.PARTS_FAILED)
