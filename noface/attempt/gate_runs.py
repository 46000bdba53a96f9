"""The runs of one gate until what one of them says counts: retries, causes that pass by themselves, unsteady tests."""

import select
from dataclasses import replace

from noface.attempt.disk import as_disk_full, full_places
from noface.attempt.environment import GateAgain, GateRan
from noface.attempt.gate_session import GateSession, NotReady
from noface.attempt.steadiness import Steadiness, may_be_unsteady
from noface.diagnosis.known_causes import FinalError, contention_line, final_error_of, killed_by
from noface.gates.run import OTHERS_SERVER
from noface.integrity.unsteady import excused
from noface.model.access import Network
from noface.model.failure import CHANGED_FILES
from noface.model.gate import GateResult, GateSpec
from noface.model.taxonomy import FailureKind
from noface.process.failpoints import hit

REPEAT_PAUSES_S = (1.0, 10.0)
_NOTHING_OUTSIDE = "the gate reaches nothing but a loopback of its own: main passes so, or [sandbox] network says it"


class GateRuns:
    """The runs of a gate in a session, after the gates `before` it, until what one of them says counts."""

    def __init__(self, session: GateSession, gate: GateSpec, before: tuple[GateSpec, ...]) -> None:
        self._session, self._gate, self._before = session, gate, before

    def result(self) -> GateResult:
        """Run the gate, and again if it fails and has retries: on a clean checkout, after the builds before it.

        A pass that needs another run is remembered for exactly this tree, marked as flaky.
        """
        session, gate, task = self._session, self._gate, self._session.task
        result = session.run(gate, "")
        if session.lost:
            result = self._once_more("made-anew", result)
        if session.fixed:
            return result
        beside = session.beside
        if beside and result.failure is not None and not result.passed and contention_line(result.failure):
            result = session.run_alone(gate, self._before, result, beside)
        result = self._repeated(result)
        first = result.failure if not result.passed else None
        for again in range(1, gate.retries + 1):
            if result.failure is None or result.passed or result.failure.rule == CHANGED_FILES:
                break
            result = self._once_more(f"again-{again}", result)
        if result.passed:
            result = replace(result, first_failure=result.first_failure or first)
        elif task.steady and may_be_unsteady(gate, result):
            result = Steadiness(session, gate, self._before, result).judged()
        self._tell(result)
        return result

    def _tell(self, result: GateResult) -> None:
        session, task, env = self._session, self._session.task, self._session.env
        tests = session.ran.get(self._gate.command)
        if tests is not None and result.unsteady:
            tests = excused(tests, result.unsteady)
        if self._gate.command in session.ran:
            env.memory.keep_tests(task.tree, self._gate.command, tests, main=env.plumbing.tree(task.main))
        ran = GateRan("" if task.on_main else task.issue_id, task.number, result)
        if result.failure is None and not session.fixed:
            session.scope.send(replace(ran, key=env.key(task.tree, self._gate), tests=tests))
            hit("gate_passed")
        elif result.flaky:
            session.scope.send(ran)

    def _repeated(self, result: GateResult) -> GateResult:
        """Run a gate again whose final error lies outside the work: a network, a rate limit, a port in use.

        That is charged to nobody, as often as the task allows; then the failure counts. A full disk is believed if it
        is measured; if only the gate says so, main's run of it decides.
        """
        session, task, gate = self._session, self._session.task, self._gate
        # What reaches nothing outside waits for nothing there: main tells what its gates need. A command of the issue's
        # own is red there by right, so it is tried with the outside.
        apart = bool(session.env.sandbox.bubblewrap) and gate.boxed and gate.network in (Network.AUTO, Network.OFF)
        while result.failure is not None and not result.passed:
            outside, here = final_error_of(result.failure), _killed(result)
            if here is None and result.failure.rule == OTHERS_SERVER:  # one of another workspace may end soon
                here = FinalError(result.failure.message, 0.0)
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
            session.scope.send(GateAgain(task.issue_id, task.number, self._gate.name, line))
            select.select([session.scope.cancel], [], [], pause_s)
            gate, apart = (replace(gate, network=Network.OWN), False) if wider else (gate, apart)
            result = replace(self._once_more(f"repeat-{session.repeated}", result, gate), gate=self._gate)
        return result

    def _once_more(self, folder: str, so_far: GateResult, gate: GateSpec | None = None) -> GateResult:
        try:
            return self._session.run_afresh(gate or self._gate, self._before, folder)
        except NotReady:
            return so_far


def _killed(result: GateResult) -> FinalError | None:
    """Return that somebody ended a gate which says nothing of an error: no limit of noface's, nor of the kernel's."""
    by = killed_by(result.exit_code)
    if not by or result.failing_tests or result.failure is None or result.failure.location is not None:
        return None
    by_limit = result.failure.kind in (FailureKind.TIMEOUT, FailureKind.RESOURCE_EXHAUSTED)
    return None if by_limit or not result.failure.charged else FinalError(by, 0.0)
