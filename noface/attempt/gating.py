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
from noface.attempt.gate_session import GateSession, GateTask, Known
from noface.attempt.steadiness import ALONE_S_MAX, Steadiness, may_be_unsteady, note_run_on_main
from noface.diagnosis.known_causes import FinalError, final_error_of, killed_by, may_be_company
from noface.gates.run import OTHERS_SERVER
from noface.integrity.inventory import Inventory
from noface.integrity.unsteady import excused
from noface.model.failure import CHANGED_FILES, Failure
from noface.model.gate import GateKind, GateResult, GateSpec, worst
from noface.model.network import Network
from noface.model.taxonomy import FailureKind
from noface.process.failpoints import hit

__all__ = ["GateTask", "Gated", "Gating", "Known", "gates_failure", "main_task"]


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

    def run(self, *, anew: bool = False) -> Gated | None:
        """Run the gates on the task's tree, in order; None if a cancel ends it. `anew`: nothing that is known counts.

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
                result: GateResult | None = replace(env.memo[env.key(task.tree, gate)], gate=gate, memo=True)
            else:
                failure = session.settle(gates[:position]) if position else session.ready()
                if failure is not None:
                    return None if self.scope.cancel.cancelled else Gated(task.tree, tuple(results), failure)
                result = _Runs(session, gate, gates[:position]).result()
            if result is None:
                return None
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
        if gated is None or gated.failure is not None or gated.results[-1].gate != its_own:
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
        if gated is None or gated.failure is not None:
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


def _own_gate_failed(results: list[GateResult]) -> bool:
    """True if a hard gate of the project has failed."""
    return any(result.gate.hard and not result.gate.accept and not result.passed for result in results)


_CLEARED_MAX = 2
REPEAT_PAUSES_S = (1.0, 10.0)
_NOTHING_OUTSIDE = "the gate reaches nothing but a loopback of its own: main passes so, or [sandbox] network says it"


@dataclass(frozen=True, slots=True)
class _Runs:
    """The runs of a gate in a session, after the gates `before` it, until what one of them says counts."""

    session: GateSession
    gate: GateSpec
    before: tuple[GateSpec, ...]

    def result(self) -> GateResult | None:
        """Run the gate, and again if it fails and has retries: on a clean checkout, after the builds before it.

        What a failed run leaves must not let the next one pass. A pass that needs another run is remembered for exactly
        this tree, marked as flaky, so that a landing does not wait for it twice; no other tree profits from it.
        """
        session, gate = self.session, self.gate
        met = session.met
        result = self._repeated(self._alone(self._undisturbed()))
        first = result.failure if result is not None and not result.passed else None
        for again in range(1, gate.retries + 1):
            if result is None or result.failure is None or result.passed or result.failure.rule == CHANGED_FILES:
                break
            result = self._once_more(f"again-{again}", result)
        if result is not None and session.task.steady and may_be_unsteady(gate, result):
            beside = session.beside if result.seconds <= ALONE_S_MAX else ()
            result = Steadiness(session, gate, self.before, result, beside).judged()
        if result is None:
            return None
        if session.met == met:  # a gate that met others is not flaky
            result = replace(result, first_failure=result.first_failure or first)
        note_run_on_main(session, gate, result)
        task = session.task
        ran = GateRan("" if task.on_main else task.issue_id, task.number, result)
        if result.failure is None and not session.fixed:
            session.scope.send(replace(ran, key=session.env.key(task.tree, gate), tests=self._tests_of(result)))
            hit("gate_passed")
        elif result.flaky:
            session.scope.send(ran)
        return result

    def _alone(self, result: GateResult | None) -> GateResult | None:
        """Run a gate that failed beside others once more without them, if what it says may come of that.

        What passes alone, on the same files, has passed; what fails alone fails by itself, and counts as it would have.
        """
        session, gate, beside, env = self.session, self.gate, self.session.beside, self.session.env
        failure = result.failure if result is not None else None
        if result is None or failure is None or result.passed or not beside:
            return result
        on_main = env.memo.get(env.key(env.plumbing.tree(session.task.main), gate))
        if not may_be_company(failure, len(beside), gate.timeout_s, on_main.seconds if on_main is not None else None):
            return result
        with session.by_itself(result.seconds):
            again = self._once_more("alone", result)
        if again is not None and session.beside:  # the others did not end in time: a pass among them acquits nobody
            return result if again.passed else again
        if again is None or again.failure is None or again.passed:
            if again is not None:
                session.note_company(gate, beside, failure)
            return again
        alone = "it failed as well while no other gate ran"
        return replace(again, failure=replace(again.failure, evidence=(*again.failure.evidence, alone)))

    def _repeated(self, result: GateResult | None) -> GateResult | None:
        """Run a gate again whose final error lies outside the work: a network, a rate limit, a port in use.

        That is charged to nobody, as often as the task allows; then the failure counts. Where a full disk is measured,
        that is the failure; where only the gate says so, main's run of it decides.
        """
        session, task, gate = self.session, self.session.task, self.gate
        # What reaches nothing outside waits for nothing there: main tells what its gates need. A command of the issue's
        # own is red there by right, so it is tried with the outside.
        apart = bool(session.env.sandbox.bubblewrap) and gate.boxed and gate.network in (Network.AUTO, Network.OFF)
        while result is not None and result.failure is not None and not result.passed:
            outside, here = final_error_of(result.failure), _killed(result) or _met_others(result)
            cause = outside or here
            if cause is None:
                return result
            if cause.disk_full:
                places = full_places(session.env)
                return replace(result, failure=as_disk_full(result.failure, cause, places)) if places else result
            wider = apart and gate.accept and gate.network is Network.AUTO
            if apart and not wider and here is None:
                evidence = (*result.failure.evidence, _NOTHING_OUTSIDE)
                return replace(result, failure=replace(result.failure, evidence=evidence))
            if session.repeated >= task.repeats:
                return result
            pause_s = max(REPEAT_PAUSES_S[session.repeated], cause.delay_s if session.repeated else 0.0)
            session.repeated += 1
            line = session.env.masker.text(cause.line)
            session.scope.send(GateAgain(task.issue_id, task.number, self.gate.name, line))
            select.select([session.scope.cancel], [], [], pause_s)
            gate, apart = (replace(gate, network=Network.OWN), False) if wider else (gate, apart)
            result = self._once_more(f"repeat-{session.repeated}", result, gate)
            result = replace(result, gate=self.gate) if result is not None else None
        return result

    def _undisturbed(self) -> GateResult | None:
        """Run a gate; once more if files of the tree were written meanwhile, unless its run on main writes them, too.

        Somebody else may have worked in the slot, or cleared it away: then the result is about what was there for a
        moment. A gate that does it each time does it by itself.
        """
        session, command, rewriting = self.session, self.gate.command, self.session.env.gate_facts.rewriting
        result, by_itself = session.run(self.gate, ""), command in rewriting
        for again in range(1, _CLEARED_MAX + 1):
            if result is None or not session.lost or (by_itself and not session.replaced):
                break
            result = self._once_more(f"made-anew-{again}", result)
            if again == _CLEARED_MAX and session.lost:
                rewriting.add(command)
        if result is None or session.fixed:
            return result
        failure = result.failure
        if session.task.on_main and session.rewritten:
            rewriting.add(command)
        by_others = session.rewritten and result.passed and command not in rewriting
        if by_others or (failure is not None and failure.rule == CHANGED_FILES):
            return self._once_more("undisturbed", result)
        return result

    def _once_more(self, folder: str, so_far: GateResult, gate: GateSpec | None = None) -> GateResult | None:
        """Run a gate again on a clean checkout; `so_far` counts where there can be none. None if a cancel ends it."""
        session = self.session
        if session.ready() is not None:
            return None if session.scope.cancel.cancelled else so_far
        return session.run(gate or self.gate, folder) if session.build(self.before, folder) else None

    def _tests_of(self, result: GateResult) -> Inventory | None:
        """Return the tests that a green gate ran, as later changes are held to them."""
        key, known = (self.session.task.tree, result.gate.command), self.session.env.gate_facts.inventories
        if result.unsteady and key in known:
            known[key] = excused(known[key], result.unsteady)
        return known.get(key)


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
