"""Runs the gates on a tree in a slot that no agent has touched; results that are remembered are not run again.

What a gate with `fixes` wrote becomes part of the work, gated anew. Before a failure on a merge with main is held
against a worker, main itself is asked (law 8).
"""

from dataclasses import dataclass, replace
from pathlib import Path

from noface.engine.attempt_environment import AttemptEnvironment, GateFlaked, GateRan, Tell, attempt_message
from noface.engine.gate_session import CHANGED_FILES, GateSession, Known, Task
from noface.git.plumbing import make_and_hold
from noface.git.refs import hold_ref
from noface.model.attempt import AttemptOrder, Judgement
from noface.model.failure import Failure
from noface.model.gate import GateKind, GateResult, GateSpec, worst
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind
from noface.process.failpoints import hit
from noface.process.supervise import Canceller

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
    env: AttemptEnvironment,
    tree: str,
    commit: str,
    main: str,
    cancel: Canceller,
    tell: Tell,
    *,
    known: Known | None = None,
) -> Gated | None:
    """Gate an attempt's tree, merged with main; None where it was cancelled."""
    return run_gates(env, gate_task(order, tree, commit, main), order.gates, cancel, tell, known)


def gate_task(order: AttemptOrder, tree: str, commit: str, main: str) -> Task:
    """Return what to gate for an attempt, in the gate slot beside its own."""
    logs = Path(order.directory) / "gates"
    return Task(order.issue.id, order.number, order.token, str(order.slot), tree, commit, main, logs)


def run_gates(
    env: AttemptEnvironment,
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
    bench = GateSession(env, env.gate_slot(task.name), task, cancel, tell, known)
    results: list[GateResult] = []
    remembered_from = len(gates) if anew else _first_remembered(env, task.tree, gates)
    for position, gate in enumerate(gates):
        if position >= remembered_from:
            result: GateResult | None = replace(env.memo[env.key(task.tree, gate)], memo=True)
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


def _tried(bench: GateSession, gate: GateSpec, before: tuple[GateSpec, ...]) -> GateResult | None:
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
        tests = bench.env.gate_facts.inventories.get((bench.task.tree, gate.command))
        bench.tell(GateRan(bench.env.key(bench.task.tree, gate), result, tests))
        hit("gate_passed")
    return result


def _undisturbed(bench: GateSession, gate: GateSpec, before: tuple[GateSpec, ...]) -> GateResult | None:
    """Run a gate; once more where files of the tree were written meanwhile, unless its run on main writes them, too.

    It may have been somebody else, who worked in the slot: then the verdict is about what was there for a moment. A
    gate that does it again does it by itself.
    """
    env, task = bench.env, bench.task
    result = bench.run(gate, "")
    if result is None or bench.traces.fixed:
        return result
    failure, traces = result.failure, bench.traces
    if task.on_main and traces.rewritten:
        env.gate_facts.rewriting.add(gate.command)
    by_others = traces.rewritten and result.passed and gate.command not in env.gate_facts.rewriting
    if by_others or (failure is not None and failure.rule == CHANGED_FILES):
        return _once_more(bench, gate, before, "undisturbed", result)
    return result


def _once_more(
    bench: GateSession, gate: GateSpec, before: tuple[GateSpec, ...], folder: str, so_far: GateResult
) -> GateResult | None:
    """Run a gate again on a clean checkout; `so_far` counts where that cannot be made. None where it was cancelled."""
    if bench.ready() is not None:
        return None if bench.cancel.cancelled else so_far
    return bench.run(gate, folder) if bench.build(before, folder) else None


def _first_remembered(env: AttemptEnvironment, tree: str, gates: tuple[GateSpec, ...]) -> int:
    """Return the position from which on every gate is known to be green on `tree`.

    A green gate before one that must run is run again: what it built is gone with the slot's last cleaning.
    """
    position = len(gates)
    while position:
        result = env.memo.get(env.key(tree, gates[position - 1]))
        if result is None or result.failure is not None:
            break
        position -= 1
    return position


_SHOWN_MAX = 10


def with_fixes(
    order: AttemptOrder,
    env: AttemptEnvironment,
    judged: Judgement,
    main: str,
    gated: Gated,
    cancel: Canceller,
    tell: Tell,
) -> tuple[Judgement, Gated | None]:
    """Take what a gate with `fixes` wrote into the work, and gate the result; once, and in files of the change only."""
    gate = gated.results[-1].gate
    plumbing = env.plumbing
    allowed = {change.path for change in plumbing.diff(main, gated.tree).changes}
    written = tuple(change.path for change in plumbing.diff(gated.tree, gated.fixed).changes)
    others = tuple(path for path in written if path not in allowed)
    if others:
        return judged, replace(gated, failure=_not_its_own(gate, others))
    before, message = judged.snapshot.candidate, attempt_message(order, "")
    commit = make_and_hold(
        plumbing,
        hold_ref(order.issue.id, str(order.number)),
        order.start,
        lambda: plumbing.commit_tree(gated.fixed, (before,), message),
        str,
    )
    changes = plumbing.diff(main, gated.fixed).changes
    snapshot = replace(judged.snapshot, candidate=commit, candidate_tree=gated.fixed, changes=changes)
    note = f"the gate {gate.name} changed {some(written, _SHOWN_MAX)}; that became part of the work"
    judged = replace(judged, snapshot=snapshot, notes=(*judged.notes, note))
    again = gate_tree(order, env, gated.fixed, commit, main, cancel, tell, known=order.known_failures)
    if again is not None and again.fixed:
        return judged, replace(again, failure=_never_done(gate, some(written, _SHOWN_MAX)))
    return judged, again


def _not_its_own(gate: GateSpec, paths: tuple[str, ...]) -> Failure:
    message = (
        f"gate {gate.name}: it changed files that the work does not touch: {some(paths, _SHOWN_MAX)}."
        " Have main as this gate wants it first, or leave these files out of it"
    )
    return Failure(
        FailureKind.MISCONFIGURED,
        message,
        rule="gate-fixed-others",
        signature=f"gate-fixed-others:{','.join(paths)}",
        evidence=paths[:_SHOWN_MAX],
        gate=gate.name,
        charged=False,
    )


def _never_done(gate: GateSpec, written: str) -> Failure:
    return Failure(
        FailureKind.MISCONFIGURED,
        f"gate {gate.name}: it changed {written}, and run on the result a gate changes files again: it never ends",
        rule="gate-fixes-again",
        signature="gate-fixes-again",
        gate=gate.name,
        charged=False,
    )


_BELIEVED_S = 300.0
_BELIEVED_RUNS = 10
"""So long, in seconds and in the gate's own runs, a gate that passed on main is believed to pass there still."""


def main_is_red(
    env: AttemptEnvironment,
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
    tree = env.plumbing.tree(task.main)
    key, now = env.key(tree, failed.gate), env.clock.now()
    green_at = env.gate_facts.main_green.get(key)
    believed_s = max(_BELIEVED_S, _BELIEVED_RUNS * failed.seconds)
    if failed.gate.accept or (green_at is not None and now < green_at + believed_s):
        return None
    needed = tuple(gate for gate in gates if gate.kind is GateKind.BUILD and gate != failed.gate)
    on_main = replace(task, tree=tree, commit=task.main, logs=task.logs / "main")
    gated = run_gates(env, on_main, (*needed, failed.gate), cancel, tell, None, anew=True)
    if gated is None or gated.failure is not None:
        return None
    red = worst(gated.results)
    if red is None or red.failure is None:
        env.gate_facts.main_green[key] = now
        return None
    name = env.plumbing.repository.main_name
    return replace(
        red.failure,
        kind=FailureKind.BASELINE_RED,
        message=(f"{name} itself is red at gate {red.gate.name} ({task.main[:12]}): {red.failure.message}"),
        rule="main-is-red",
        charged=False,
    )
