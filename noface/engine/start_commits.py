"""Makes the commit that an attempt starts from: main with the work that `recovery/start` names, and what is good in it.

If files were left out, the commit has main as its only parent: what was wrong is in no history that lands.
"""

from collections.abc import Collection
from dataclasses import replace

from noface.engine.context import RunContext
from noface.engine.going_on import broken_files, broken_places
from noface.engine.outside import scratch_of
from noface.git.plumbing import Plumbing, entries_before, make_and_hold
from noface.git.refs import hold_ref
from noface.git.taken_back import began_on, merge_onto
from noface.model.attempt import PastAttempt
from noface.model.history import AdviceOutcome, History, Topic
from noface.model.issue import Issue
from noface.model.patterns import matches_any
from noface.model.start import Origin, StartPoint, StartReason
from noface.model.taxonomy import FailureKind
from noface.recovery.start import from_main, start_of

_DIVIDED = (AdviceOutcome.ADVISED, AdviceOutcome.PARTS_FAILED, AdviceOutcome.PARTS_LANDED)


def next_start(context: RunContext, history: History, main: str, accept_failing: int | None) -> tuple[str, StartPoint]:
    """Return the commit from which the next attempt starts, and why. Attempts before a breakdown do not count."""
    issue, plumbing = history.issue, context.env.plumbing
    breakdowns = (a.after for a in history.advice if a.topic is Topic.BREAKDOWN and a.outcome in _DIVIDED)
    divided = max(breakdowns, default=0)
    point = start_of(
        history.attempts,
        accept_failing=accept_failing,
        divided=divided,
        by_person=scratch_of(context.env.plumbing, issue).adopted,
        broken=broken_files(plumbing, history.attempts),
        allowed=(*issue.paths, *issue.may_change),
        anew=issue.parent is None,
        chosen=history.chosen[1] if history.chosen is not None else None,
    )
    # Who has found nothing to do there, or has written the same once more, begins on main.
    untried = all(past.outcome != FailureKind.NO_DIFF for past in history.attempts if past.number > divided)
    if point.reason is StartReason.DIVIDED and untried:
        return _after_parts(context, history, point, main)
    if point.reason is StartReason.NOTHING_YET and issue.parent is not None and untried:
        return _of_whole(context, issue, main)
    if point.commit is None:
        return main, point
    if plumbing.resolve(point.commit) is None:
        return main, from_main(point, StartReason.GONE)
    what = "a person's work" if point.origin is Origin.PERSON else f"attempt {point.number}"
    lost = began_on(plumbing, context.reader.mains(), point.commit, main) is not None
    made = None if point.without or lost else _with_main(plumbing, issue, point.commit, main, what)
    if made is None:
        made, conflicts = _put_on(context, issue, main, main, point.commit, point.without)
        reason = StartReason.CONFLICT if conflicts else point.reason
        if made == main:
            return main, from_main(point, reason)
        point = replace(point, reason=reason, without=tuple(dict.fromkeys((*point.without, *conflicts))))
    if any(past.number == point.number and past.failing_tests is None for past in history.attempts):
        last = next((past for past in reversed(history.attempts) if past.failure is not None), None)
        named = last is not None and (last.number, last.outcome) == (point.number, FailureKind.SYNTAX_ERROR)
        explained = named or point.reason is StartReason.CUT_OFF  # by its failure, or beside what cut it off
        point = replace(point, broken=() if explained else broken_places(plumbing, main, made))
    return made, point


def _of_whole(context: RunContext, issue: Issue, main: str) -> tuple[str, StartPoint]:
    """Return the start of a part: what the best attempt at the whole issue did in the part's paths."""
    plumbing, past = context.env.plumbing, context.reader.past(str(issue.parent))
    whole, mine = _best_of(plumbing, past), (*issue.paths, *issue.may_change)
    commit, before = main, tuple(path for part in context.issues if part.id in issue.depends_on for path in part.paths)
    parent = next((each for each in context.issues if each.id == issue.parent), None)
    rest = parent is not None and parent.paths == issue.paths
    if whole.commit is not None:
        changed = {change.path for change in plumbing.diff(main, whole.commit).changes}
        others = {path for path in changed if mine and not matches_any(path, mine)}
        others |= {path for path in changed if rest and matches_any(path, before)}
        commit, _ = _put_on(context, issue, main, main, whole.commit, {*whole.without, *others})
    if commit == main:
        return main, StartPoint(StartReason.NOTHING_YET)
    broken = broken_places(plumbing, main, commit)
    return commit, StartPoint(StartReason.OF_WHOLE, commit=commit, broken=broken)


def _after_parts(context: RunContext, history: History, point: StartPoint, main: str) -> tuple[str, StartPoint]:
    issue, plumbing, states = history.issue, context.env.plumbing, context.reader.states()
    parts = [part for part in context.issues if part.parent == issue.id]
    landed = tuple(path for part in parts if states[part.id].done for path in part.paths)
    commit = main
    for part in parts:
        left = _best_of(plumbing, context.reader.past(part.id)) if not states[part.id].done else None
        if left is not None and left.commit is not None:
            commit, _ = _put_on(context, issue, main, commit, left.commit, left.without)
    before = _best_of(plumbing, tuple(past for past in history.attempts if past.number <= point.number))
    if before.commit is not None:
        newer = {change.path for change in plumbing.diff(main, commit).changes}
        done = {c.path for c in plumbing.diff(main, before.commit).changes if matches_any(c.path, landed)}
        commit, _ = _put_on(context, issue, main, commit, before.commit, {*before.without, *newer, *done})
    if commit == main:
        return main, point
    return commit, replace(point, commit=commit, broken=broken_places(plumbing, main, commit))


def _best_of(plumbing: Plumbing, past: tuple[PastAttempt, ...]) -> StartPoint:
    point = start_of(past, broken=broken_files(plumbing, past))
    there = point.commit is not None and plumbing.resolve(point.commit) is not None
    return point if there else from_main(point, point.reason)


def _put_on(
    context: RunContext, issue: Issue, main: str, onto: str, commit: str, wrong: Collection[str]
) -> tuple[str, tuple[str, ...]]:
    plumbing, conflicts = context.env.plumbing, tuple[str, ...]()
    began = began_on(plumbing, context.reader.mains(), commit, main)
    message = f"Take over what is good of the work on issue {issue.id}\n"

    def make() -> tuple[str | None, tuple[str, ...]]:
        files = (each for each in plumbing.diff(onto, commit).changes if each.path in {*wrong, *conflicts})
        without = plumbing.tree_with(commit, entries_before(files))
        merge = merge_onto(plumbing, onto, plumbing.commit_tree(without, (commit,), "Work without files\n"), began)
        if merge.tree is None or merge.tree == plumbing.tree(onto):
            return (None, merge.conflicts) if merge.tree is None else (onto, ())
        return plumbing.commit_tree(merge.tree, (main,), message), ()

    for _ in range(2):
        made, others = make_and_hold(plumbing, hold_ref(issue.id, "start"), make, lambda done: done[0])
        if made is not None:
            return made, conflicts
        conflicts = others
    return onto, conflicts


def _with_main(plumbing: Plumbing, issue: Issue, commit: str, main: str, what: str) -> str | None:
    if plumbing.is_ancestor(main, commit):
        return commit
    message = f"Merge main into {what} of issue {issue.id}\n"

    def merge() -> str | None:
        tree = plumbing.merge(main, commit).tree
        return None if tree is None else plumbing.commit_tree(tree, (commit, main), message)

    return make_and_hold(plumbing, hold_ref(issue.id, "start"), merge, lambda merged: merged)
