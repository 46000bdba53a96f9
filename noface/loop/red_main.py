"""Asks whether main itself fails a gate, before a failure on a merge with it is held against a worker (law 8)."""

from dataclasses import replace

from noface.core.failure import Failure
from noface.core.gate import GateKind, GateResult, GateSpec
from noface.core.proof import worst
from noface.core.taxonomy import FailureKind
from noface.loop.gating import Task, run_gates
from noface.loop.workshop import Tell, Workshop
from noface.system.supervise import Canceller


def main_is_red(
    shop: Workshop,
    task: Task,
    failed: GateResult,
    gates: tuple[GateSpec, ...],
    cancel: Canceller,
    tell: Tell,
) -> Failure | None:
    """Return the failure of main itself at the gate that `failed` on the task's tree; None where main passes it.

    Nothing is run where the gate is known to be green on main's tree, which it is unless somebody else moved main.
    An issue's own `accept` is red on main by right.
    """
    tree = shop.plumbing.tree(task.main)
    known = shop.memo.get(shop.key(tree, failed.gate))
    if failed.gate.accept or (known is not None and known.failure is None):
        return None
    needed = tuple(gate for gate in gates if gate.kind is GateKind.BUILD and gate != failed.gate)
    on_main = replace(task, tree=tree, commit=task.main, logs=task.logs / "main")
    gated = run_gates(shop, on_main, (*needed, failed.gate), cancel, tell, None)
    red = worst(gated.results) if gated is not None and gated.failure is None else None
    if red is None or red.failure is None:
        return None
    name = shop.plumbing.repository.main_name
    return replace(
        red.failure,
        kind=FailureKind.BASELINE_RED,
        message=(
            f"{name} itself is red at gate {red.gate.name} ({task.main[:12]}, which noface has not proven):"
            f" {red.failure.message}"
        ),
        rule="main-is-red",
        charged=False,
    )
