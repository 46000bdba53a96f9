"""Runs the gates on a tree in a slot that no agent has touched; results that are remembered are not run again."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from noface.core.attempt import AttemptOrder
from noface.core.failure import Failure
from noface.core.gate import GateKind, GateResult, GateSpec
from noface.core.masked_records import masked_gate
from noface.core.taxonomy import FailureKind
from noface.gates.run import GatePlace, log_name, remembered, run_gate
from noface.git.private_config import with_private_config
from noface.git.refs import RefUpdate
from noface.git.repo import hold_ref
from noface.git.slots import Slot, give_git
from noface.loop.boxes import gate_box, wrapping
from noface.loop.kept_paths import kept_digest
from noface.loop.leftovers import Files, changed, files_in, remove_new, restore_tracked
from noface.loop.prepare import prepare_gate_slot
from noface.loop.workshop import GateFlaked, GateRan, Progress, Tell, Workshop
from noface.system.environment import gate_environment
from noface.system.failpoints import hit
from noface.system.files import real_folder
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
    return run_gates(shop, gate_task(order, tree, commit, main), order.gates, cancel, tell, known)


def gate_task(order: AttemptOrder, tree: str, commit: str, main: str) -> Task:
    """Return what to gate for an attempt, in the gate slot beside its own."""
    logs = Path(order.directory) / "gates"
    return Task(order.issue.id, order.number, order.token, str(order.slot), tree, commit, main, logs)


def run_gates(
    shop: Workshop, task: Task, gates: tuple[GateSpec, ...], cancel: Canceller, tell: Tell, known: Known | None
) -> Gated | None:
    """Run `gates` on the task's tree, in order; a red hard build gate ends it, since the rest would only echo it.

    Gates run the change's own code, which could make a later gate pass. So a gate finds the task's tree, what setup
    left in the kept paths, and what the build gates before it have made there and elsewhere; nothing else. What a lint
    or test gate left is removed. Where one of them wrote to the kept paths, or over what a build gate made, the slot is
    made ready anew and the build gates run again.
    """
    bench = _Bench(shop, shop.gate_slot(task.name), task, cancel, tell, known)
    results: list[GateResult] = []
    remembered_from = _first_remembered(shop, task.tree, gates)
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
        if not result.passed and gate.hard and gate.kind is GateKind.BUILD:
            break
    return Gated(task.tree, tuple(results))


def _tried(bench: "_Bench", gate: GateSpec, before: tuple[GateSpec, ...]) -> GateResult | None:
    """Run a gate, and again where it fails and may be: each time on a clean checkout, after the builds before it.

    What a failed run left behind must not let the next one pass. A pass that needed another run is remembered for
    exactly this tree, marked as flaky, so that a landing does not wait for it twice; no other tree profits from it.
    """
    result = bench.run(gate, "")
    first = result.failure if result is not None and not result.passed else None
    for again in range(1, gate.retries + 1):
        if result is None or result.passed:
            break
        if bench.ready() is not None:
            return None if bench.cancel.cancelled else result
        folder = f"again-{again}"
        if not bench.build(before, folder):
            return None
        result = bench.run(gate, folder)
    if result is None:
        return None
    result = replace(result, first_failure=first)
    if result.flaky:
        bench.tell(GateFlaked(bench.task.issue_id, bench.task.number, result))
    if result.failure is None:
        bench.tell(GateRan(bench.shop.key(bench.task.tree, gate), result))
        hit("gate_passed")
    return result


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


@dataclass(slots=True)
class _Bench:
    """A gate slot with a task: makes it ready, and runs gates in it.

    `files` and `kept` tell what the next gate may find there, beside the kept paths and in them.
    """

    shop: Workshop
    slot: Slot
    task: Task
    cancel: Canceller
    tell: Tell
    known: Known | None
    files: Files = field(default_factory=dict)
    kept: str = ""

    def ready(self) -> Failure | None:
        """Check the task's tree out, clean; return why that failed, if it did."""
        shop, slot, task = self.shop, self.slot, self.task
        if task.commit != task.main:
            shop.plumbing.refs.apply(RefUpdate(hold_ref(task.issue_id, f"gating-{task.name}"), task.tree))
        failure = prepare_gate_slot(shop, slot, task.tree, task.main, task.token, self.cancel)
        if failure is None:
            self._take_note()
            hit("gate_checkout")
        return failure

    def settle(self, before: tuple[GateSpec, ...]) -> Failure | None:
        """Undo what the last of the gates `before` has left, unless it was a build; return why that failed."""
        last = before[-1]
        now = files_in(self.slot)
        other = changed(self.files, now)
        if last.kind is GateKind.BUILD:
            self._keep_build(other)
            return None
        kept_untouched = self._kept_now() == self.kept
        if kept_untouched and not other:
            remove_new(self.slot, self.files, now)
            give_git(self.slot, self.task.issue_id or "main", self.task.commit)
            return None
        if not kept_untouched:
            said = f"{last.name} wrote to the kept paths: they are made anew"
            self.tell(Progress(self.task.issue_id, self.task.number, "gate", said))
        failure = self.ready()
        if failure is None:
            self.build(before, f"after-{log_name(last)}")
        return failure

    def build(self, before: tuple[GateSpec, ...], folder: str) -> bool:
        """Run the build gates among those `before` again; False where that was cancelled."""
        for gate in before:
            if gate.kind is GateKind.BUILD:
                if self.run(gate, folder) is None:
                    return False
                self._keep_build(changed(self.files, files_in(self.slot)))
        return True

    def _keep_build(self, other: frozenset[str]) -> None:
        """Take what a build gate made for what the next gate may find; the tree's own files are as before."""
        if other:
            paths = set(self.shop.plumbing.paths(self.task.tree))
            restore_tracked(self.slot, self.task.tree, sorted(other & paths))
        self._take_note()

    def _take_note(self) -> None:
        give_git(self.slot, self.task.issue_id or "main", self.task.commit)
        self.files, self.kept = files_in(self.slot), self._kept_now()

    def _kept_now(self) -> str:
        return kept_digest(self.slot.path / path for path in self.slot.keep)

    def run(self, gate: GateSpec, folder: str) -> GateResult | None:
        """Run one gate once, with its logs in `folder` of the task's; None where it was cancelled."""
        shop, task = self.shop, self.task
        self.tell(Progress(task.issue_id, task.number, "gate", f"{gate.name} once more" if folder else gate.name))
        env = gate_environment(gate.env_pass, shop.markers(task.token))
        box, env = gate_box(shop, self.slot, env, network=gate.network) if gate.boxed else (None, env)
        logs = real_folder(task.logs / folder, shop.plumbing.repository.state_dir)
        if box is None:
            env = with_private_config(env, logs, shop.plumbing.repository.identity, self.slot.path)
        place = GatePlace(
            folder=self.slot.path,
            logs=logs,
            tree=task.tree,
            list_files=lambda: shop.plumbing.paths(task.tree),
            log_bytes_max=shop.log_bytes_max,
            env=env,
            box=box,
            wrap=wrapping(shop, str(self.slot.path)) if gate.boxed else (),
        )
        known_here = dict(self.known).get(gate.name) if self.known is not None else None
        allowed = frozenset(known_here or ()) if self.known is not None else None
        result = run_gate(shop.launcher, gate, place, shop.clock.now(), self.cancel, allowed)
        if result is not None and result.failure is not None and result.failure.kind is FailureKind.ENVIRONMENT:
            result = _blamed(shop, task, gate, result)
        return masked_gate(_counted(shop, task, gate, result), shop.masker) if result is not None else None


def _counted(shop: Workshop, task: Task, gate: GateSpec, result: GateResult) -> GateResult:
    """Refuse a green test gate that tells of no test where main's run did: `os._exit(0)` also ends with exit 0."""
    if task.commit == task.main:
        if result.tests_run:
            shop.counts[gate.command] = result.tests_run
        return result
    expected = shop.counts.get(gate.command)
    if result.failure is not None or result.tests_run or not expected or gate.kind is not GateKind.TEST:
        return result
    message = f"exit code 0, but no test is told of; on main this gate ran {expected}"
    failure = Failure(
        FailureKind.NO_TESTS,
        message,
        rule="no-tests-where-main-has",
        signature="no-tests-where-main-has",
        evidence=(message,),
        gate=gate.name,
    )
    return replace(result, failure=failure)


def _blamed(shop: Workshop, task: Task, gate: GateSpec, result: GateResult) -> GateResult:
    """Charge an environment failure to the change where the same gate has passed on main with the same set-up."""
    green = shop.memo.get(shop.key(shop.plumbing.tree(task.main), gate))
    if green is None or green.failure is not None or green.flaky or result.failure is None:
        return result  # a gate that is green only now and then blames nobody
    note = f"the same gate passes on main ({task.main[:12]}), so the change is to blame"
    failure = replace(result.failure, charged=True, evidence=(*result.failure.evidence, note))
    return replace(result, failure=failure)
