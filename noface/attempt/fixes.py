"""Takes into the work what a gate with `fixes` writes, and gates the result again.

A formatter writes the work's own files. A generator (documents, schemas, lock files) writes others: where it leaves
main's own tree alone, that follows from the work. What comes in so is examined like all work, and is never a file that
judges or is protected (law 11): gates run the work's own code, which could write them.
"""

from dataclasses import replace

from noface.attempt.environment import Scope, attempt_message
from noface.attempt.examine import PATCH_BYTES_MAX, Change, adds_secrets, examine_change, masked_patch, own_values
from noface.attempt.gating import Gated, gate_task, made_of, run_gates
from noface.attempt.judges import gates_decide
from noface.attempt.protected_files import reached
from noface.git.plumbing import make_and_hold
from noface.git.refs import hold_ref
from noface.integrity.judges import lifted, may_be_made
from noface.model.attempt import AttemptOrder, FileChange, Judgement, Snapshot
from noface.model.failure import Failure
from noface.model.gate import GateSpec
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind

_SHOWN_MAX = 10


def with_fixes(
    order: AttemptOrder, scope: Scope, judged: Judgement, main: str, gated: Gated
) -> tuple[Judgement, Gated | None]:
    """Take what gates with `fixes` wrote into the work, and gate the result, until they leave it alone.

    One may follow another, as a formatter does a generator; none may write again on what itself has made.
    """
    rounds_max = 2 * sum(gate.fixes for gate in order.gates)
    wrote: list[str] = []
    now: Gated | None = gated
    while now is not None and now.fixed:
        gate = now.results[-1].gate
        written = scope.env.plumbing.changes(now.tree, now.fixed)
        if wrote[-1:] == [gate.name] or len(wrote) == rounds_max:
            return judged, replace(now, failure=_never_done(gate, _named(written)))
        taken = _taken(order, scope, judged.snapshot, main, now)
        if isinstance(taken, Failure):
            return judged, replace(now, failure=taken)
        wrote.append(gate.name)
        note = f"the gate {gate.name} changed {_named(written)}; that became part of the work"
        judged = replace(judged, snapshot=taken, notes=(*judged.notes, note))
        now = run_gates(scope, gate_task(order, now.fixed, taken.candidate, main), order.gates)
    return judged, now


def _taken(order: AttemptOrder, scope: Scope, before: Snapshot, main: str, gated: Gated) -> Snapshot | Failure:
    """Return the work with what its last gate wrote, or what speaks against taking that."""
    env, gate, plumbing = scope.env, gated.results[-1].gate, scope.env.plumbing
    of_work = {change.path for change in plumbing.changes(main, gated.tree)}
    others = tuple(c for c in plumbing.changes(gated.tree, gated.fixed) if c.path not in of_work)
    judging = reached(plumbing, main, order.gates).files if others else ()
    refused = tuple(
        c
        for c in others
        if order.protection.covers(c.path, c.new_mode)
        or not (may_be_made(c.path, judging) or lifted(c.path, order.issue))
    )
    if refused:
        return _judging(gate, refused)
    if others and not _leaves_main_alone(order, scope, main, gate):
        return _not_its_own(gate, others)
    diff = plumbing.diff(main, gated.fixed)
    patch = diff.patch[:PATCH_BYTES_MAX]
    snapshot = replace(before, candidate_tree=gated.fixed, changes=diff.changes)
    masked = masked_patch(env, main, patch, own_values(env, main, snapshot, patch))
    change = Change(diff.changes, patch, masked, by_worker=True, cut=len(patch) < len(diff.patch))
    against = _against(replace(order, main=main), scope, change)
    if against is not None:
        return replace(against, message=f"with what the gate {gate.name} wrote: {against.message}")
    commit = make_and_hold(
        plumbing,
        hold_ref(order.issue.id, str(order.number)),
        order.start,
        lambda: plumbing.commit_tree(gated.fixed, (before.candidate,), attempt_message(order, "")),
        str,
    )
    return replace(snapshot, candidate=commit)


def _leaves_main_alone(order: AttemptOrder, scope: Scope, main: str, gate: GateSpec) -> bool:
    """Tell whether a gate changes nothing in main's own tree: what it writes on the work then follows from the work."""
    env, tree = scope.env, scope.env.plumbing.tree(main)
    known = env.memo.get(env.key(tree, gate))
    if known is not None and known.failure is None:
        return True
    return made_of(scope, gate_task(order, tree, main, main), tree, gate, order.gates) == tree


def _against(order: AttemptOrder, scope: Scope, change: Change) -> Failure | None:
    """Return what speaks against the work as it is now; what main's tests are to decide is for later."""
    found = adds_secrets(order, scope.env, change)
    failures = (found,) if found is not None else examine_change(order, scope.env, change)
    return next((failure for failure in failures if not gates_decide(failure, order)), None)


def _named(changes: tuple[FileChange, ...]) -> str:
    return some(tuple(change.path for change in changes), _SHOWN_MAX)


def _not_its_own(gate: GateSpec, others: tuple[FileChange, ...]) -> Failure:
    message = (
        f"gate {gate.name}: it changed files that the work does not touch, and it changes main itself:"
        f" {_named(others)}. Have main as this gate wants it first, or leave these files out of it"
    )
    return _misconfigured(gate, "gate-fixed-others", message, others)


def _judging(gate: GateSpec, refused: tuple[FileChange, ...]) -> Failure:
    message = (
        f"gate {gate.name}: it changed files that judge the work or are protected: {_named(refused)}. These come from"
        " no gate: have it leave them alone, or only check them; or let this issue change them, by `may_change`"
    )
    return _misconfigured(gate, "gate-fixed-judges", message, refused)


def _never_done(gate: GateSpec, written: str) -> Failure:
    message = f"gate {gate.name}: it changed {written}, and run on the result a gate changes files again: it never ends"
    return _misconfigured(gate, "gate-fixes-again", message)


def _misconfigured(gate: GateSpec, rule: str, message: str, files: tuple[FileChange, ...] = ()) -> Failure:
    paths = tuple(change.path for change in files)
    signature = f"{rule}:{','.join(paths)}" if paths else rule
    return Failure(
        FailureKind.MISCONFIGURED,
        message,
        rule=rule,
        signature=signature,
        evidence=paths[:_SHOWN_MAX],
        gate=gate.name,
        charged=False,
    )
