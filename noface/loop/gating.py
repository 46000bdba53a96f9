"""Runs the gates on a tree in a slot that no agent has touched; results that are remembered are not run again."""

from dataclasses import dataclass, replace
from pathlib import Path

from noface.core.attempt import AttemptOrder
from noface.core.failure import Failure
from noface.core.gate import GateKind, GateResult, GateSpec
from noface.gates.run import remembered
from noface.loop.bench import CHANGED_FILES, Bench, Known, Task
from noface.loop.workshop import GateFlaked, GateRan, Tell, Workshop
from noface.system.failpoints import hit
from noface.system.supervise import Canceller

__all__ = ["Gated", "Known", "Task", "gate_task", "gate_tree", "run_gates"]


@dataclass(frozen=True, slots=True)
class Gated:
    """The results of the gates on `tree`; `failure` where the slot could not even be made ready.

    `fixed` is another tree where a gate that may (`fixes`) has changed files: its own result is the last, and nothing
    is proven before the gates have passed on that tree.
    """

    tree: str
    results: tuple[GateResult, ...]
    failure: Failure | None = None
    fixed: str = ""


def gate_tree(
    order: AttemptOrder,
    shop: Workshop,
    tree: str,
    commit: str,
    main: str,
    cancel: Canceller,
    tell: Tell,
    *,
    known: Known | None = None,
) -> Gated | None:
    """Gate an attempt's tree, merged with main; None where it was cancelled."""
    return run_gates(shop, gate_task(order, tree, commit, main), order.gates, cancel, tell, known)


def gate_task(order: AttemptOrder, tree: str, commit: str, main: str) -> Task:
    """Return what to gate for an attempt, in the gate slot beside its own."""
    logs = Path(order.directory) / "gates"
    return Task(order.issue.id, order.number, order.token, str(order.slot), tree, commit, main, logs)


def run_gates(
    shop: Workshop,
    task: Task,
    gates: tuple[GateSpec, ...],
    cancel: Canceller,
    tell: Tell,
    known: Known | None,
    *,
    anew: bool = False,
) -> Gated | None:
    """Run `gates` on the task's tree, in order; a red hard build gate ends it, since the rest would only echo it.

    What a lint or test gate left is removed before the next. Where one of them wrote to the kept paths, or over what a
    build gate made, the slot is made ready anew and the build gates run again. `anew`: nothing that is remembered
    counts.
    """
    bench = Bench(shop, shop.gate_slot(task.name), task, cancel, tell, known)
    results: list[GateResult] = []
    remembered_from = len(gates) if anew else _first_remembered(shop, task.tree, gates)
    for position, gate in enumerate(gates):
        if position >= remembered_from:
            result: GateResult | None = remembered(shop.memo[shop.key(task.tree, gate)])
        else:
            failure = bench.settle(gates[:position]) if position else bench.ready()
            if failure is not None:
                return None if cancel.cancelled else Gated(task.tree, tuple(results), failure)
            result = _tried(bench, gate, gates[:position])
        if result is None:
            return None
        results.append(result)
        if bench.traces.fixed:
            return Gated(task.tree, tuple(results), fixed=bench.traces.fixed)
        if not result.passed and gate.hard and gate.kind is GateKind.BUILD:
            break
    return Gated(task.tree, tuple(results))


def _tried(bench: Bench, gate: GateSpec, before: tuple[GateSpec, ...]) -> GateResult | None:
    """Run a gate, and again where it fails and may be: each time on a clean checkout, after the builds before it.

    What a failed run left behind must not let the next one pass. A pass that needed another run is remembered for
    exactly this tree, marked as flaky, so that a landing does not wait for it twice; no other tree profits from it.
    """
    result = _undisturbed(bench, gate, before)
    first = result.failure if result is not None and not result.passed else None
    for again in range(1, gate.retries + 1):
        if result is None or result.failure is None or result.passed or result.failure.rule == CHANGED_FILES:
            break
        result = _once_more(bench, gate, before, f"again-{again}", result)
    if result is None:
        return None
    result = replace(result, first_failure=first)
    if result.flaky:
        bench.tell(GateFlaked(bench.task.issue_id, bench.task.number, result))
    if result.failure is None and not bench.traces.fixed:
        tests = bench.shop.seen.inventories.get((bench.task.tree, gate.command))
        bench.tell(GateRan(bench.shop.key(bench.task.tree, gate), result, tests))
        hit("gate_passed")
    return result


def _undisturbed(bench: Bench, gate: GateSpec, before: tuple[GateSpec, ...]) -> GateResult | None:
    """Run a gate; once more where files of the tree were written meanwhile, unless its run on main writes them, too.

    It may have been somebody else, who worked in the slot: then the verdict is about what was there for a moment. A
    gate that does it again does it by itself.
    """
    shop, task = bench.shop, bench.task
    result = bench.run(gate, "")
    if result is None or bench.traces.fixed:
        return result
    failure, traces = result.failure, bench.traces
    if task.on_main and traces.rewritten:
        shop.seen.rewriting.add(gate.command)
    by_others = traces.rewritten and result.passed and gate.command not in shop.seen.rewriting
    if by_others or (failure is not None and failure.rule == CHANGED_FILES):
        return _once_more(bench, gate, before, "undisturbed", result)
    return result


def _once_more(
    bench: Bench, gate: GateSpec, before: tuple[GateSpec, ...], folder: str, so_far: GateResult
) -> GateResult | None:
    """Run a gate again on a clean checkout; `so_far` counts where that cannot be made. None where it was cancelled."""
    if bench.ready() is not None:
        return None if bench.cancel.cancelled else so_far
    return bench.run(gate, folder) if bench.build(before, folder) else None


def _first_remembered(shop: Workshop, tree: str, gates: tuple[GateSpec, ...]) -> int:
    """Return the position from which on every gate is known to be green on `tree`.

    A green gate before one that must run is run again: what it built is gone with the slot's last cleaning.
    """
    position = len(gates)
    while position:
        result = shop.memo.get(shop.key(tree, gates[position - 1]))
        if result is None or result.failure is not None:
            break
        position -= 1
    return position
