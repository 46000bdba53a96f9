"""Asks whether main itself fails a gate, before a failure on a merge with it is held against a worker (law 8)."""

from dataclasses import replace

from noface.core.failure import Failure
from noface.core.gate import GateKind, GateResult, GateSpec
from noface.core.proof import worst
from noface.core.taxonomy import FailureKind
from noface.loop.gating import Task, run_gates
from noface.loop.workshop import Tell, Workshop
from noface.system.supervise import Canceller

_BELIEVED_S = 300.0
_BELIEVED_RUNS = 10
"""So long, in seconds and in the gate's own runs, a gate that passed on main is believed to pass there still."""


def main_is_red(
    shop: Workshop,
    task: Task,
    failed: GateResult,
    gates: tuple[GateSpec, ...],
    cancel: Canceller,
    tell: Tell,
) -> Failure | None:
    """Return the failure of main itself at the gate that `failed` on the task's tree; None where main passes it.

    That it was green there before does not count: the machine may have changed since (a tool gone, a service down). So
    it runs once in a run, and again where that is long ago by the time the gate takes. An issue's own `accept` is red
    on main by right.
    """
    tree = shop.plumbing.tree(task.main)
    key, now = shop.key(tree, failed.gate), shop.clock.now()
    green_at = shop.seen.main_green.get(key)
    believed_s = max(_BELIEVED_S, _BELIEVED_RUNS * failed.seconds)
    if failed.gate.accept or (green_at is not None and now < green_at + believed_s):
        return None
    needed = tuple(gate for gate in gates if gate.kind is GateKind.BUILD and gate != failed.gate)
    on_main = replace(task, tree=tree, commit=task.main, logs=task.logs / "main")
    gated = run_gates(shop, on_main, (*needed, failed.gate), cancel, tell, None, anew=True)
    if gated is None or gated.failure is not None:
        return None
    red = worst(gated.results)
    if red is None or red.failure is None:
        shop.seen.main_green[key] = now
        return None
    name = shop.plumbing.repository.main_name
    return replace(
        red.failure,
        kind=FailureKind.BASELINE_RED,
        message=(f"{name} itself is red at gate {red.gate.name} ({task.main[:12]}): {red.failure.message}"),
        rule="main-is-red",
        charged=False,
    )
