"""Takes into the work what a gate with `fixes` writes, and gates the result again.

A formatter writes the work's own files, a generator others as well: if it leaves main's own tree alone, that follows
from the work. What comes in so is examined like all work, and is never a file that judges or is protected (law 11).
"""

from dataclasses import replace

from noface.attempt.attempt import Attempt, Judging
from noface.attempt.changes import change_of
from noface.attempt.examine import adds_secrets, examine_change
from noface.attempt.gating import Gating, Ran, carried_out
from noface.attempt.judges import made_of
from noface.attempt.protected_files import reached
from noface.integrity.diff.rules import gates_decide
from noface.integrity.judges import lifted, may_be_made
from noface.model.attempt import FileChange, Snapshot
from noface.model.failure import Failure
from noface.model.gate import GateSpec
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind

_SHOWN_MAX = 10
_FROM_NO_GATE = "Have it leave these alone, or only check them; or let this issue change them, by `may_change`"
_NOT_ITS_OWN = "Have main as this gate wants it first, or leave these files out of it"


def take_fixes(attempt: Judging) -> Failure | None:
    """Take what gates with `fixes` wrote into the work, and gate that; none may write again on what it has made."""
    main, rounds_max = attempt.proving.task.main, 2 * sum(gate.fixes for gate in attempt.order.gates)
    wrote: list[str] = []
    while (ran := attempt.proving.ran).fixed:
        gate = ran.results[-1].gate
        written = attempt.plumbing.changes(ran.tree, ran.fixed)
        if wrote[-1:] == [gate.name] or len(wrote) == rounds_max:
            again = f"it changed {_named(written)}, and run on the result a gate changes files again: it never ends"
            return _misconfigured(gate, "gate-fixes-again", again)
        taken = _taken(attempt, main, ran)
        if isinstance(taken, Failure):
            return taken
        wrote.append(gate.name)
        note = f"the gate {gate.name} changed {_named(written)}; that became part of the work"
        attempt.snapshot, attempt.notes = taken, (*attempt.notes, note)
        attempt.proving = attempt.prove(ran.fixed, main)
        attempt.proving.run_gates()
    return None


def _taken(attempt: Judging, main: str, ran: Ran) -> Snapshot | Failure:
    order, plumbing, gate = attempt.order, attempt.plumbing, ran.results[-1].gate
    of_work = {change.path for change in plumbing.changes(main, ran.tree)}
    others = tuple(c for c in plumbing.changes(ran.tree, ran.fixed) if c.path not in of_work)
    calls = reached(plumbing, main, order.gates).files if others else ()
    refused = tuple(
        c
        for c in others
        if order.protection.covers(c.path, c.new_mode)
        or not (may_be_made(c.path, calls) or lifted(c.path, order.issue))
    )
    if refused:
        judging = f"it changed files that judge the work or are protected: {_named(refused)}. {_FROM_NO_GATE}"
        return _misconfigured(gate, "gate-fixed-judges", judging, refused)
    tree = plumbing.tree(main)
    if others and attempt.env.memory.green(attempt.env.key(tree, gate)) is None:
        # What it writes follows from the work only if it changes nothing in main's own tree.
        gating = Gating(attempt.scope, attempt.task(tree, main, main), order.gates)
        made = carried_out(made_of(tree, gate, order.gates), gating.carry_out)
    else:
        made = tree
    if made != tree:
        both = "it changed files that the work does not touch, and it changes main itself"
        return _misconfigured(gate, "gate-fixed-others", f"{both}: {_named(others)}. {_NOT_ITS_OWN}", others)
    diff = plumbing.diff(main, ran.fixed)
    change = change_of(attempt.env, main, diff.changes, diff.patch)
    work = Attempt(replace(order, main=main), attempt.scope)
    secret = adds_secrets(work, change)
    failures = (secret,) if secret is not None else examine_change(work, change)
    # What main's tests are to decide is for later.
    against = next((failure for failure in failures if not gates_decide(failure, order.issue)), None)
    if against is not None:
        return replace(against, message=f"with what the gate {gate.name} wrote: {against.message}")
    commit = attempt.commit(ran.fixed, attempt.snapshot.candidate)
    return replace(attempt.snapshot, candidate=commit, candidate_tree=ran.fixed, changes=change.files)


def _named(changes: tuple[FileChange, ...]) -> str:
    return some(tuple(change.path for change in changes), _SHOWN_MAX)


def _misconfigured(gate: GateSpec, rule: str, message: str, files: tuple[FileChange, ...] = ()) -> Failure:
    paths = tuple(change.path for change in files)
    signature = f"{rule}:{','.join(paths)}" if paths else rule
    return Failure(
        FailureKind.MISCONFIGURED,
        f"gate {gate.name}: {message}",
        rule=rule,
        signature=signature,
        evidence=paths[:_SHOWN_MAX],
        gate=gate.name,
        charged=False,
    )
