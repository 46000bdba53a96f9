"""Makes the merge of a proven attempt with the present main, and proves it (law 1: the merge result is gated)."""

from dataclasses import replace
from pathlib import Path

from noface.core.failure import Failure
from noface.core.gate import GateResult, GateSpec, Proof
from noface.core.issue import Issue
from noface.core.proof import all_hard_passed, worst
from noface.core.taxonomy import FailureKind
from noface.git.plumbing import merge_and_hold
from noface.git.refs import hold_ref
from noface.loop.gating import Known, Task, run_gates
from noface.loop.judge import conflict, told
from noface.loop.judges import CutShort, Judges
from noface.loop.red_main import main_is_red
from noface.loop.workshop import LANDING_SLOT, Tell, Workshop
from noface.system.failpoints import hit
from noface.system.supervise import Canceller

Proven = Proof | Failure | None
"""A proof, the failure of the merge result, or None where it was interrupted."""


def prove(
    shop: Workshop,
    issue: Issue,
    number: int,
    candidate: str,
    gates: tuple[GateSpec, ...],
    logs: Path,
    cancel: Canceller,
    tell: Tell,
    known: Known | None,
    *,
    approved: bool = False,
) -> Proven:
    """Merge `candidate` with main as it is now and run every gate on the result, unless that tree has passed.

    What it altered of its judges must not be what makes it green here either, unless a person or the issue's own
    commands want it.
    """
    main = shop.plumbing.main()
    merge = merge_and_hold(shop.plumbing, hold_ref(issue.id, "merge"), main, candidate)
    if merge.tree is None:
        return conflict(merge.conflicts)
    hit("merge_built")
    token = f"landing-{issue.id}"
    task = Task(issue.id, number, token, LANDING_SLOT, merge.tree, candidate, main, logs)
    gated = run_gates(shop, task, gates, cancel, tell, known)
    if gated is None:
        return None
    if gated.failure is not None:
        return gated.failure
    if gated.fixed:
        return _to_be_fixed(gated.results[-1])
    red = worst(gated.results)
    if red is not None:
        on_main = main_is_red(shop, task, red, gates, cancel, tell) if known is None else None
        return on_main or _overruled(told(red, gated.results), main)
    if not all_hard_passed(gates, gated.results):
        return Failure(FailureKind.ENVIRONMENT, "not every hard gate was run", rule="gates-missing", charged=False)
    try:
        judges = Judges(shop, task, issue, gates, cancel, tell, known)
        bought = None if approved or issue.accept else judges.failure()
    except CutShort:
        return None
    if bought is not None:
        return _overruled(bought, main)
    keys = tuple(shop.key(merge.tree, result.gate) for result in gated.results)
    return Proof(merge.tree, main, candidate, gated.results, keys)


def _to_be_fixed(result: GateResult) -> Failure:
    """Return the failure of work that a gate with `fixes` changes once more after main moved: it is done again."""
    message = f"gate {result.gate.name} changes files of the work once it is merged with the present main"
    return Failure(FailureKind.MERGE_CONFLICT, message, rule="gate-changed-files", gate=result.gate.name, charged=False)


def _overruled(failure: Failure, main: str) -> Failure:
    message = f"passed alone, but merged with main ({main[:12]}) {failure.message}"
    return replace(failure, message=message)
