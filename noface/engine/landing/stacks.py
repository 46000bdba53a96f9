"""Stacks: candidates merged one on the other, from main on, and the proof of a stack (laws 1, 11). In threads.

Main never gets the merges between: what lands is made of the same trees (`commits.py`). With `[landing] push = true`
the push is the compare-and-swap. What was pushed has landed; main here follows, and after a kill the remote tells.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from noface.attempt.changes import history_failure, without_history
from noface.attempt.gate_session import CutShort, GateTask
from noface.attempt.judge import conflict
from noface.attempt.prove import Proving, Unproven
from noface.attempt.prove import prove as prove_tree
from noface.engine.changed_tests import let_for
from noface.engine.context import RunContext
from noface.engine.ground import fetch_again
from noface.engine.landing.waiting import QueueEntry
from noface.engine.prompt_context import attempt_directory, history_of
from noface.errors import GitError
from noface.git.fast_forward import Blocked, Landed
from noface.git.landing import advance
from noface.git.landings import in_the_way, landings
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate, hold_ref
from noface.git.remote import Rejected
from noface.git.taken_back import bring_onto
from noface.integrity.judges import Part, lifted, part_of
from noface.model.failure import Failure
from noface.model.gate import Proof
from noface.model.history import Verdict
from noface.model.issue import Issue, joined
from noface.model.quoting import some
from noface.process.failpoints import hit
from noface.process.supervise import Canceller


def push_landing(context: RunContext, old: str, new: str, cancel: Canceller) -> Rejected | None:
    """Move the remote's main from `old` to `new`, in a thread; harmless to repeat. Raises RemoteError."""
    remote = context.remote
    assert remote is not None  # noqa: S101 - the start of the run has seen to it
    return remote.push(new, remote.main, old, cancel)


def follow_push(context: RunContext, old: str, new: str, note: str) -> None:
    """Have main follow what was pushed, and remember that the remote has it; tell where something is in the way."""
    remote, plumbing = context.remote, context.env.plumbing
    assert remote is not None  # noqa: S101 - the start of the run has seen to it
    with suppress(GitError):  # a fetch may have been faster
        plumbing.refs.apply(RefUpdate(remote.fetched, new, old))
    main, name = plumbing.local_main(), plumbing.repository.main_name
    if plumbing.is_ancestor(new, main):
        return
    if not plumbing.is_ancestor(main, new):
        why = f"{name} has commits that {remote.main_name} lacks: bring them together"
    else:
        result = advance(plumbing, main, new, note if main == old else f"noface: follow {remote.main_name}")
        if isinstance(result, Landed):
            return
        why = result.text if isinstance(result, Blocked) else f"{name} was moved meanwhile"
    context.announce("remote_main", None, {"state": "behind", "text": f"{name} stays behind {remote.main_name}: {why}"})


def was_pushed(context: RunContext, commit: str) -> bool:
    fetched = context.env.plumbing.resolve(context.remote.fetched) if context.remote is not None else None
    return fetched is not None and context.env.plumbing.is_ancestor(commit, fetched)


_NAMED_MAX = 5


@dataclass(frozen=True, slots=True)
class StackedEntry:
    """An entry on a stack: the commit that brings its work, `commit`, a merge with what is below it, and their tree."""

    entry: QueueEntry
    candidate: str
    tree: str
    commit: str


@dataclass(slots=True)
class StackBuilt:
    """A stack on the commit `main`. `refused` cannot be on main; who is in neither list goes on a later stack."""

    main: str
    steps: list[StackedEntry] = field(default_factory=list)
    refused: list[tuple[QueueEntry, Failure | Landed]] = field(default_factory=list)


def build(context: RunContext, entries: Sequence[QueueEntry], cancel: Canceller, *, apart: bool = False) -> StackBuilt:
    """Merge entries with main as it is now, each on the one before or, if `apart`, each by itself."""
    plumbing, env, pushes = context.env.plumbing, context.env, context.settings.config.landing.push
    if pushes:
        fetch_again(context, cancel)
    built = StackBuilt(plumbing.main())
    for entry in entries:
        below = built.steps[-1].commit if built.steps and not apart else built.main
        landed = landings(plumbing, f"{entry.candidate}..{built.main}") if pushes else ()
        there = next((Landed(each.commit) for each in landed if each.issue == entry.issue.id), None)
        if there is not None:
            built.refused.append((entry, there))
            continue
        hold = hold_ref(entry.issue.id, "merge")
        if below != built.main and history_failure(env, entry.candidate) is not None:
            continue  # what lands in its place is a commit on main itself
        brought = bring_onto(plumbing, below, entry.candidate, entry.mains)
        tree = brought.merge.tree
        if below != built.main and (tree is None or brought.commit != entry.candidate):
            continue  # it may fit on main; if not, that is told once those below it have landed
        if tree is None:
            paths = brought.merge.conflicts
            built.refused.append((entry, conflict(paths, in_the_way(plumbing, entry.candidate, built.main, paths))))
            continue
        fit = without_history(env, hold, built.main, brought.commit, tree)
        if isinstance(fit, Failure):
            built.refused.append((entry, fit))
            continue
        is_top = apart or entry is entries[-1]
        merged = "A candidate on those that were stacked before it\n"
        commit = fit if is_top else plumbing.commit_tree(tree, (below, fit), merged)
        built.steps.append(StackedEntry(entry, fit, tree, commit))
    hit("merge_built")
    return built


def prove_stack(
    context: RunContext,
    steps: tuple[StackedEntry, ...],
    main: str,
    slot: str,
    judged: bool,
    let: frozenset[str] | None,
    decides: bool,
    cancel: Canceller,
) -> Proof | Unproven | None:
    """Run every gate on a stack's tree; None if cancelled. What alters judges is judged by main's, too.

    All of it are `judged`, or no person and no issue's own commands want it. `let`: tests of main that it may
    contradict. `decides`: a red result rejects the entry.
    """
    last, entry = steps[-1], steps[-1].entry
    logs = Path(attempt_directory(context.settings.attempts_dir, entry.issue.id, entry.number)) / "landing"
    whose = (entry.issue.id, entry.number, f"landing-{slot}-{entry.issue.id}", slot)
    task = GateTask(*whose, last.tree, last.commit, main, logs, context.known, steady=decides)
    task = replace(task, shown=context.env.as_landed(entry.issue, entry.number, last.tree, main))
    issues, shared = tuple(step.entry.issue for step in steps), context.settings.gates
    issue, gates = joined(issues), context.gates_for(entry.issue)
    if len(steps) > 1:
        issue = replace(issue, paths=(), may_change=())
        own = ((each, gate) for each in issues for gate in context.gates_for(each)[len(shared) :])
        gates = (*shared, *(replace(gate, name=f"{gate.name} of {each.id}") for each, gate in own))
    try:
        return prove_tree(Proving(context.scope(cancel), task, gates, issue), judged=judged, let=let)
    except CutShort:
        return None


def is_judged(context: RunContext, entry: QueueEntry) -> bool:
    """True if main's judges have to accept an entry: no person has approved it, and it has no commands of its own."""
    return not (entry.issue.accept or is_approved(context, entry.issue, entry.number))


def is_approved(context: RunContext, issue: Issue, number: int) -> bool:
    """True if a person has approved an attempt, or another one's work that is the same."""
    verdict = history_of(context, issue).verdict(number)
    return verdict is not None and verdict.verdict is Verdict.APPROVED


def has_leave(context: RunContext, entry: QueueEntry) -> bool:
    """True if an entry alters a judge of main's by leave of its issue or a model: nobody beside it has it (law 11)."""
    row, plumbing = context.reader.attempt(entry.issue.id, entry.number), context.env.plumbing
    altered = {*row.changed} & plumbing.whole(plumbing.main()).paths if row is not None else frozenset[str]()
    judging = any(lifted(path, entry.issue) and part_of(path) is not Part.PRODUCT for path in altered)
    return judging or let_for(context.questions.advice(entry.issue.id), entry.number) is not None


def overruled(plumbing: Plumbing, entry: QueueEntry, failure: Failure, main: str) -> Failure:
    landed = landings(plumbing, f"{entry.candidate}..{main}")
    names = some(tuple(each.issue for each in landed), _NAMED_MAX)
    brought = f", which holds {names} by now" if names else ""
    return replace(failure, message=f"passed alone, but merged with main ({main[:12]}{brought}) {failure.message}")
