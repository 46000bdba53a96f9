"""Runs the gates on a tree in a slot that no agent has touched; results that are known are not run again.

Before a failure on a merge with main is charged to a worker, main itself runs the gate (law 8).
"""

import select
from dataclasses import dataclass, replace

from noface.attempt.disk import as_disk_full, full_places
from noface.attempt.environment import (
    LANDING_SLOT,
    AttemptEnvironment,
    GateAgain,
    GateRan,
    Scope,
)
from noface.attempt.gate_session import CutShort, GateSession, GateTask, Known, NotReady
from noface.attempt.steadiness import Steadiness, may_be_unsteady
from noface.diagnosis.known_causes import FinalError, company_line, final_error_of, killed_by
from noface.gates.run import OTHERS_SERVER
from noface.integrity.unsteady import excused
from noface.model.failure import CHANGED_FILES, Failure
from noface.model.gate import GateKind, GateResult, GateSpec, worst
from noface.model.network import Network
from noface.model.taxonomy import FailureKind
from noface.process.failpoints import hit

__all__ = ["GateTask", "Gated", "Gating", "Known", "gates_failure", "main_task", "run_gates"]


@dataclass(frozen=True, slots=True)
class Gated:
    """The results of the gates on `tree`; `failure` where the slot could not be made ready.

    `fixed` is another tree where a gate with `fixes` has changed files: its own result is the last, and nothing is
    proven before the gates have passed on that tree.
    """

    tree: str
    results: tuple[GateResult, ...]
    failure: Failure | None = None
    fixed: str = ""


def main_task(env: AttemptEnvironment, folder: str, issue_id: str = "", slot: str = LANDING_SLOT) -> GateTask:
    """Return what to gate where main itself is gated; the logs lie in `folder` of the state."""
    plumbing = env.plumbing
    main, logs = plumbing.main(), plumbing.repository.state_dir / folder
    return GateTask(issue_id, 0, folder.replace("/", "-"), slot, plumbing.tree(main), main, main, logs)


_BELIEVED_S = 300.0
_BELIEVED_RUNS = 10
"""How long a pass on main counts, in seconds and in the gate's own runs: the longer of the two."""


@dataclass(slots=True)
class Gating:
    """A task, and the gates that are to run on its tree."""

    scope: Scope
    task: GateTask
    gates: tuple[GateSpec, ...]

    def run(self, *, anew: bool = False) -> Gated:
        """Run the gates on the task's tree, in order. `anew`: nothing that is known counts. A cancel raises CutShort.

        A red hard build gate ends it, since the rest would only echo it. After any other red hard gate an issue's own
        `accept` does not run: nothing would land. What a lint or test gate leaves is removed before the next. Where one
        of them writes to the kept paths, or over what a build gate made, the slot is made ready anew and the build
        gates run again.
        """
        env, task, gates = self.scope.env, self.task, self.gates
        session = GateSession(self.scope, task, env.gate_slot(task.name))
        results: list[GateResult] = []
        known_from = len(gates) if anew else self._first_known()
        for position, gate in enumerate(gates):
            if gate.accept and _own_gate_failed(results):
                continue
            if position >= known_from:
                # It may come from a run of the same gate with other retries, or on a tree that was put together.
                results.append(replace(env.memo[env.key(task.tree, gate)], gate=gate, memo=True))
                continue
            try:
                if position:
                    session.settle(gates[:position])
                else:
                    session.ready()
            except NotReady as unready:
                return Gated(task.tree, tuple(results), unready.failure)
            result = _Runs(session, gate, gates[:position]).result()
            results.append(result)
            if session.fixed:
                return Gated(task.tree, tuple(results), fixed=session.fixed)
            if not result.passed and gate.hard and gate.kind is GateKind.BUILD:
                break
        return Gated(task.tree, tuple(results))

    def _first_known(self) -> int:
        """Return the position from which on every gate is known to be green on the task's tree.

        A green gate before one that must run is run again: what it built is gone with the slot's last cleaning.
        """
        env, tree, gates = self.scope.env, self.task.tree, self.gates
        position = len(gates)
        while position:
            result = env.memo.get(env.key(tree, gates[position - 1]))
            if result is None or result.failure is not None:
                break
            position -= 1
        return position

    def made_of(self, tree: str, gate: GateSpec) -> str | None:
        """Return the tree that a gate makes of `tree`, the same if it leaves its files alone.

        None if it cannot run, or changes main's own tree. Build gates before it run first. The result proves nothing,
        and no other failure in it counts.
        """
        before = self.gates[: self.gates.index(gate)] if gate in self.gates else ()
        builds = tuple(replace(each, fixes=False) for each in before if each.kind is GateKind.BUILD)
        its_own = replace(gate, fixes=True, retries=0)
        other = replace(self.task, tree=tree, logs=self.task.logs / "made", known=None, steady=False)
        gated = Gating(self.scope, other, (*builds, its_own)).run(anew=True)
        if gated.failure is not None or gated.results[-1].gate != its_own:
            return None
        failure = gated.results[-1].failure
        return gated.fixed or (tree if failure is None or failure.rule != CHANGED_FILES else None)

    def main_is_red(self, failed: GateResult) -> Failure | None:
        """Return the failure of main itself at the gate that `failed` on the task's tree; None if main passes it.

        That it was green there before does not count: the machine may have changed since (a tool gone, a service down).
        So the gate runs once in a run, and again if that is long ago by the time it takes. An issue's own `accept` is
        red on main by right.
        """
        env, task = self.scope.env, self.task
        tree = env.plumbing.tree(task.main)
        key, now = env.key(tree, failed.gate), env.clock.now()
        green_at = env.gate_facts.main_green.get(key)
        believed_s = max(_BELIEVED_S, _BELIEVED_RUNS * failed.seconds)
        if failed.gate.accept or (green_at is not None and now < green_at + believed_s):
            return None
        needed = tuple(gate for gate in self.gates if gate.kind is GateKind.BUILD and gate != failed.gate)
        on_main = replace(task, tree=tree, commit=task.main, logs=task.logs / "main", known=None)
        gated = Gating(self.scope, on_main, (*needed, failed.gate)).run(anew=True)
        if gated.failure is not None:
            return None
        red = worst(gated.results)
        if red is None or red.failure is None:
            env.gate_facts.main_green[key] = now
            return None
        cause = final_error_of(red.failure)
        if cause is not None and cause.disk_full:
            return as_disk_full(red.failure, cause)
        name = env.plumbing.repository.main_name
        red_main = f"{name} itself is red at gate {red.gate.name} ({task.main[:12]})"
        failure = env.gate_facts.main_red[tree] = replace(
            red.failure,
            kind=FailureKind.BASELINE_RED,
            message=f"{red_main}: {named_tests(red)}{red.failure.message}",
            rule="main-is-red",
            charged=False,
        )
        return failure


def run_gates(scope: Scope, task: GateTask, gates: tuple[GateSpec, ...], *, anew: bool = False) -> Gated | None:
    """Run gates on a task's tree; None if a cancel ends it."""
    try:
        return Gating(scope, task, gates).run(anew=anew)
    except CutShort:
        return None


def _own_gate_failed(results: list[GateResult]) -> bool:
    """True if a hard gate of the project has failed."""
    return any(result.gate.hard and not result.gate.accept and not result.passed for result in results)


REPEAT_PAUSES_S = (1.0, 10.0)
_NOTHING_OUTSIDE = "the gate reaches nothing but a loopback of its own: main passes so, or [sandbox] network says it"


@dataclass(frozen=True, slots=True)
class _Runs:
    """The runs of a gate in a session, after the gates `before` it, until what one of them says counts."""

    session: GateSession
    gate: GateSpec
    before: tuple[GateSpec, ...]

    def result(self) -> GateResult:
        """Run the gate, and again if it fails and has retries: on a clean checkout, after the builds before it.

        What a failed run leaves must not let the next one pass. A pass that needs another run is remembered for exactly
        this tree, marked as flaky, so that a landing does not wait for it twice; no other tree profits from it.
        """
        session, gate, task = self.session, self.gate, self.session.task
        result = session.run(gate, "")
        if session.lost:
            result = self._once_more("made-anew", result)
        if session.fixed:
            return result
        beside = session.beside
        if beside and result.failure is not None and not result.passed and company_line(result.failure):
            result = session.run_alone(gate, self.before, result, beside)
        result = self._repeated(result)
        first = result.failure if not result.passed else None
        for again in range(1, gate.retries + 1):
            if result.failure is None or result.passed or result.failure.rule == CHANGED_FILES:
                break
            result = self._once_more(f"again-{again}", result)
        if task.steady and may_be_unsteady(gate, result):
            result = Steadiness(session, gate, self.before, result).judged()
        if result.passed and result.first_failure is None:
            result = replace(result, first_failure=first)
        self._tell(result)
        return result

    def _tell(self, result: GateResult) -> None:
        """Keep which tests the gate ran, as later changes are held to them, and tell the loop what is to be kept."""
        session, task, facts = self.session, self.session.task, self.session.env.gate_facts
        tests, key = session.ran.get(self.gate.command), (task.tree, self.gate.command)
        if tests is not None and result.unsteady:
            tests = excused(tests, result.unsteady)
        if self.gate.command in session.ran:
            facts.asked.add(key)
            facts.inventories.pop(key, None)
        if tests is not None:
            facts.inventories[key] = tests
        ran = GateRan("" if task.on_main else task.issue_id, task.number, result)
        if result.failure is None and not session.fixed:
            session.scope.send(replace(ran, key=session.env.key(task.tree, self.gate), tests=tests))
            hit("gate_passed")
        elif result.flaky:
            session.scope.send(ran)

    def _repeated(self, result: GateResult) -> GateResult:
        """Run a gate again whose final error lies outside the work: a network, a rate limit, a port in use.

        That is charged to nobody, as often as the task allows; then the failure counts. Where a full disk is measured,
        that is the failure; where only the gate says so, main's run of it decides.
        """
        session, task, gate = self.session, self.session.task, self.gate
        # What reaches nothing outside waits for nothing there: main tells what its gates need. A command of the issue's
        # own is red there by right, so it is tried with the outside.
        apart = bool(session.env.sandbox.bubblewrap) and gate.boxed and gate.network in (Network.AUTO, Network.OFF)
        while result.failure is not None and not result.passed:
            outside, here = final_error_of(result.failure), _killed(result) or _met_others(result)
            cause = outside or here
            if cause is None:
                break
            if cause.disk_full:
                places = full_places(session.env)
                return replace(result, failure=as_disk_full(result.failure, cause, places)) if places else result
            wider = apart and gate.accept and gate.network is Network.AUTO
            if apart and not wider and here is None:
                evidence = (*result.failure.evidence, _NOTHING_OUTSIDE)
                return replace(result, failure=replace(result.failure, evidence=evidence))
            if session.repeated >= task.repeats:
                break
            pause_s = max(REPEAT_PAUSES_S[session.repeated], cause.delay_s if session.repeated else 0.0)
            session.repeated += 1
            line = session.env.masker.text(cause.line)
            session.scope.send(GateAgain(task.issue_id, task.number, self.gate.name, line))
            select.select([session.scope.cancel], [], [], pause_s)
            gate, apart = (replace(gate, network=Network.OWN), False) if wider else (gate, apart)
            result = replace(self._once_more(f"repeat-{session.repeated}", result, gate), gate=self.gate)
        return result

    def _once_more(self, folder: str, so_far: GateResult, gate: GateSpec | None = None) -> GateResult:
        """Run a gate again on a clean checkout; `so_far` counts where there can be none."""
        try:
            return self.session.run_afresh(gate or self.gate, self.before, folder)
        except NotReady:
            return so_far


def _killed(result: GateResult) -> FinalError | None:
    """Return that somebody ended a gate that says nothing of an error.

    What noface ended at a limit, and what the kernel took for want of memory, has a failure of its own.
    """
    by = killed_by(result.exit_code)
    if not by or result.failing_tests or result.failure is None or result.failure.location is not None:
        return None
    by_limit = result.failure.kind in (FailureKind.TIMEOUT, FailureKind.RESOURCE_EXHAUSTED)
    return None if by_limit or not result.failure.charged else FinalError(by, 0.0)


def _met_others(result: GateResult) -> FinalError | None:
    """Return that a gate has met a server that is not its own: one of another workspace may end soon."""
    failure = result.failure
    return FinalError(failure.message, 0.0) if failure is not None and failure.rule == OTHERS_SERVER else None


def named_tests(failed: GateResult) -> str:
    """Return the first failing test, and how many more, where the message itself does not name it."""
    tests = failed.failing_tests
    if not tests or (failed.failure is not None and tests[0] in failed.failure.message):
        return ""
    return f"{tests[0]}{f' and {len(tests) - 1} more' if len(tests) > 1 else ''}: "


def gates_failure(results: tuple[GateResult, ...], gates: tuple[GateSpec, ...]) -> Failure | None:
    """Return the failure to report for red hard gates: the first one's, naming the others; None if all passed.

    `gates` are those that were to run: an issue's `accept` does not after a failure, and its result is not known then.
    """
    failed = worst(results)
    if failed is None or failed.failure is None:
        return None
    failure = failed.failure
    others = [r.gate.name for r in results if r.gate.hard and not r.passed and r is not failed]
    tests = tuple(dict.fromkeys(t for r in results if r.gate.hard and not r.passed for t in r.failing_tests))
    ran = {result.gate for result in results}
    unknown = [gate.name for gate in gates if gate.accept and gate not in ran]
    parts = (("also red", others), ("not run after it, so not known", unknown))
    more = "".join(f" ({what}: {', '.join(names)})" for what, names in parts if names)
    excerpts = [failure.excerpt, *_other_excerpts(failed, results)]
    return replace(
        failure,
        message=f"gate {failed.gate.name}: {named_tests(failed)}{failure.message}{more}",
        failing_tests=tests,
        excerpt="\n\n".join(text for text in excerpts if text),
    )


def _other_excerpts(failed: GateResult, results: tuple[GateResult, ...]) -> list[str]:
    return [
        f"$ {r.gate.command}\n{r.failure.excerpt}"
        for r in results
        if r is not failed and r.gate.hard and not r.passed and r.failure is not None
    ]
