"""Runs the gates on a tree in a slot that no agent has touched; results that are remembered are not run again."""

from dataclasses import dataclass, replace
from pathlib import Path

from noface.core.model import AttemptOrder, Failure, GateKind, GateResult, GateSpec
from noface.core.taxonomy import FailureKind
from noface.gates.run import GatePlace, remembered, run_gate
from noface.git.refs import RefUpdate
from noface.git.repo import hold_ref
from noface.git.slots import Slot, give_git
from noface.loop.prepare import forget_setup, kept_listing, prepare_gate_slot
from noface.loop.workshop import GateRan, Progress, Tell, Workshop
from noface.system.failpoints import hit
from noface.system.supervise import Canceller

Known = tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Gated:
    """The results of the gates on `tree`; `failure` where the slot could not even be made ready."""

    tree: str
    results: tuple[GateResult, ...]
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Task:
    """What to gate, and where: `main` is what the slot's kept paths come from; `name` picks the slot."""

    issue_id: str
    number: int
    token: str
    name: str
    tree: str
    commit: str
    main: str
    logs: Path


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
    logs = Path(order.directory) / "gates"
    task = Task(order.issue.id, order.number, order.token, str(order.slot), tree, commit, main, logs)
    return run_gates(shop, task, order.gates, cancel, tell, known)


def run_gates(
    shop: Workshop, task: Task, gates: tuple[GateSpec, ...], cancel: Canceller, tell: Tell, known: Known | None
) -> Gated | None:
    """Run `gates` on the task's tree, in order; a red hard build gate ends it, since the rest would only echo it."""
    slot = shop.gate_slot(task.name)
    hold = hold_ref(task.issue_id, f"gating-{task.name}")
    prepared = False
    results: list[GateResult] = []
    remembered_from = _first_remembered(shop, task.tree, gates)
    for position, gate in enumerate(gates):
        if position >= remembered_from:
            result: GateResult | None = remembered(shop.memo[shop.key(task.tree, gate)])
        else:
            if not prepared:
                if task.commit != task.main:
                    shop.plumbing.refs.apply(RefUpdate(hold, task.tree))
                failure = _ready(shop, slot, task, cancel)
                if failure is not None:
                    return None if cancel.cancelled else Gated(task.tree, tuple(results), failure)
                prepared = True
            result = _run(shop, slot, task, gate, cancel, tell, known)
        if result is None:
            return None
        results.append(result)
        if not result.passed and gate.hard and gate.kind is GateKind.BUILD:
            break
    return Gated(task.tree, tuple(results))


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


def _ready(shop: Workshop, slot: Slot, task: Task, cancel: Canceller) -> Failure | None:
    failure = prepare_gate_slot(shop, slot, task.tree, task.main, task.token, cancel)
    if failure is None:
        give_git(slot, task.issue_id or "main", task.commit)
        hit("gate_checkout")
    return failure


def _run(
    shop: Workshop, slot: Slot, task: Task, gate: GateSpec, cancel: Canceller, tell: Tell, known: Known | None
) -> GateResult | None:
    tell(Progress(task.issue_id, task.number, "gate", gate.name))
    place = GatePlace(
        folder=slot.path,
        logs=task.logs,
        tree=task.tree,
        list_files=lambda: shop.plumbing.paths(task.tree),
        log_bytes_max=shop.log_bytes_max,
        markers=shop.markers(task.token),
    )
    before = kept_listing(slot)
    known_here = dict(known).get(gate.name) if known is not None else None
    allowed = frozenset(known_here or ()) if known is not None else None
    result = run_gate(shop.launcher, gate, place, shop.clock.now(), cancel, allowed)
    if kept_listing(slot) != before:
        forget_setup(slot)
    if result is not None and result.failure is not None and result.failure.kind is FailureKind.ENVIRONMENT:
        result = _blamed(shop, task, gate, result)
    if result is not None and result.failure is None:
        tell(GateRan(shop.key(task.tree, gate), result))
        hit("gate_passed")
    return result


def _blamed(shop: Workshop, task: Task, gate: GateSpec, result: GateResult) -> GateResult:
    """Charge an environment failure to the change where the same gate has passed on main with the same set-up."""
    green = shop.memo.get(shop.key(shop.plumbing.tree(task.main), gate))
    if green is None or green.failure is not None or result.failure is None:
        return result
    note = f"the same gate passes on main ({task.main[:12]}), so the change is to blame"
    failure = replace(result.failure, charged=True, evidence=(*result.failure.evidence, note))
    return replace(result, failure=failure)
