"""The runs of one gate until what one of them says counts: retries, causes that pass by themselves, unsteady tests.

What fails now and then costs no attempt, and buys no green:

1. Tests known as unsteady on main count for nobody, unless the change adds them or touches their file.
2. What failed runs once more, single tests if the runner can, while no other gate runs. What fails again has failed,
   unless it is single tests of main's that fail and pass there, too: that a test fails twice may be chance.
3. What passes then and is the change's own test is the change's failure: it must pass each time.
4. If other gates ran beside it the whole gate runs alone: a pass says that it met them.
5. Anything else runs on main, up to three times, single tests up to nine. What fails and passes there is unsteady, and
   is remembered; else the change made it fail now and then.

On main itself the whole gate runs again. A gate that names no tests is unsteady as a whole.
"""

import select
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from noface.attempt.disk import as_disk_full, full_places
from noface.attempt.environment import GateAgain, GateRan, UnsteadySeen
from noface.attempt.gate_session import GateSession, NotReady
from noface.diagnosis.known_causes import FinalError, contention_line, final_error_of, killed_by
from noface.gates.narrow import narrowed, runs_alone
from noface.gates.run import OTHERS_SERVER, comparable, log_names, names_suffice
from noface.integrity.inventory import compared
from noface.integrity.unsteady import WHOLE_GATE, Known, excused, failed_in, of_the_change, passed_in
from noface.model.access import Network
from noface.model.failure import CHANGED_FILES
from noface.model.gate import GateKind, GateResult, GateSpec
from noface.model.listed import UnsteadyTest
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind
from noface.process.failpoints import hit
from noface.process.files import read_bounded

UNSTEADY_BY_CHANGE = "unsteady-by-change"
_MAY_PASS = (FailureKind.TEST_FAILURE, FailureKind.RUNTIME_ERROR, FailureKind.UNKNOWN)
"""What may be otherwise in another run. A time limit costs as much again; the rest is about files, and stays."""
_BY_CHANCE_MAX = 3  # more tests that fail twice are the change's: to look for them on main costs builds
_RUNS_MAX, _NARROW_RUNS_MAX = 3, 9  # three looks miss what fails one time in three as often as one time in three
_SHOWN_MAX = 5
_LOG_BYTES_MAX = 200_000


@dataclass(frozen=True, slots=True)
class _Rerun:
    """Another run: which tests failed and passed (WHOLE_GATE: the gate itself), and the result if all of it ran."""

    whole: GateResult | None
    failed: frozenset[str]
    passed: frozenset[str]

    @property
    def gone(self) -> bool:
        return self.whole.passed if self.whole is not None else not self.failed


class _Steadiness:
    """A red result of a test gate, and the session in whose slot it came about; `before` are the gates before it."""

    def __init__(self, session: GateSession, gate: GateSpec, before: tuple[GateSpec, ...], red: GateResult) -> None:
        self._session, self._gate, self._before, self._red = session, gate, before, red
        task, memory, plumbing = session.task, session.env.memory, session.env.plumbing
        main = plumbing.tree(task.main)
        self._of_main = task.on_main and task.tree == main
        self._ran, self._main_ran = session.ran.get(gate.command), memory.tests(main, gate.command)
        known = dict(task.known or ()).get(gate.name, ())
        self._failed = tuple(test for test in failed_in(self._ran) if comparable(test) not in {*map(comparable, known)})
        changed = {change.path for change in plumbing.changes(task.main, task.tree)} if self._failed else ()
        self._own = () if self._of_main else of_the_change(self._failed, self._main_ran, changed)
        self._counting = tuple(t for t in self._failed if t in self._own or t not in self._known)

    @property
    def _known(self) -> Known:
        env = self._session.env
        return env.memory.unsteady(self._gate.command, env.clock.now())

    def judged(self) -> GateResult:
        """Return the result as it is, or as passed."""
        if self._failed and not self._counting and self._tests_tell_all() and not _short_of_coverage(self._red):
            return self._passed(None)
        beside, known = self._session.beside, not self._counting and (self._failed or WHOLE_GATE in self._known)
        try:
            with self._session.by_itself(wanted=bool(beside)):
                again = self._rerun(self._session, "steady-1")
                for number in range(2, _RUNS_MAX + 1 if known else 0):
                    again = again if again.gone else self._rerun(self._session, f"steady-{number}")
            if again.gone:
                return self._explained(again, beside)
            return self._by_chance() if again.whole is None else self._red
        except NotReady:
            return self._red

    def _by_chance(self) -> GateResult:
        """Return what single tests come to that have failed again: a pass if main shows that they do so by chance."""
        few = len(self._counting) <= _BY_CHANCE_MAX and not self._own and not self._of_main
        if few and not _short_of_coverage(self._red):
            self._look_at_main(self._counting, _RUNS_MAX)
            if {*self._counting} <= {*self._known}:
                return self._passed(None)
        return self._red

    def _explained(self, again: _Rerun, beside: tuple[str, ...]) -> GateResult:
        tests = self._counting or (() if self._failed else (WHOLE_GATE,))
        new, runs = tuple(test for test in tests if test not in self._known), 2
        if self._of_main:
            self._remember(dict.fromkeys(new, 1), runs)
            return self._passed(again)
        if own := tuple(test for test in self._counting if test in self._own):
            return self._unsteady_by_change(own, "a test that the change adds or touches must pass each time")
        if not new:
            return self._passed(again)
        if beside and (alone := self._session.run_alone(self._gate, self._before, self._red, beside)).passed:
            return alone
        runs = self._look_at_main(new, _NARROW_RUNS_MAX)
        if steady := tuple(test for test in new if test not in self._known):
            why = f"on main it passed {runs} times of {runs}, so it is the change that makes it fail now and then"
            return self._unsteady_by_change(steady, why)
        return self._passed(again)

    def _tests_tell_all(self) -> bool:
        ran, failure = self._ran, self._red.failure
        if ran is None or failure is None or not ran.complete or not runs_alone(self._gate.command, ran.runners):
            return False
        short = compared(self._main_ran, ran) if self._main_ran is not None else None
        if short is not None and (short.gone or short.skipped):
            return False  # the runner stopped at the first failure, or there are parts of the gate that did not run
        return names_suffice(failure.kind, failure.rule, self._red.exit_code, self._red.failing_tests)

    def _rerun(self, session: GateSession, folder: str) -> _Rerun:
        """Run what failed again on a clean checkout: single tests where that can be said, else the whole gate."""
        tests, before = frozenset(self._counting), self._before
        if session is not self._session:
            before = tuple(gate for gate in before if gate.kind is GateKind.BUILD)
        single = self._ran is not None and not self._of_main and self._tests_tell_all()
        command = narrowed(self._gate.command, self._ran.runners, self._counting) if single and self._ran else None
        if command is not None:
            result = session.run_afresh(replace(self._gate, command=command, report=None), before, folder)
            ran = session.ran.get(command)
            failed, passed = frozenset(failed_in(ran)), passed_in(ran)
            # On main only the tests count; here all else that the gate asks for must hold, too.
            settled = result.passed or failed & tests or session is not self._session
            if settled and failed | passed >= tests:
                return _Rerun(None, failed, passed)
        result = session.run_afresh(self._gate, before, folder)
        ran = session.ran.get(self._gate.command)
        failed, passed = frozenset(failed_in(ran)), passed_in(ran)
        if result.passed:
            return _Rerun(result, failed, passed | {WHOLE_GATE})
        return _Rerun(result, failed or frozenset({WHOLE_GATE}), passed)

    def _look_at_main(self, tests: tuple[str, ...], narrow_max: int) -> int:
        """Run what failed on main until each of these tests has failed and passed there; return how often it ran."""
        session, task, plumbing = self._session, self._session.task, self._session.env.plumbing
        tree = plumbing.tree(task.main)
        on_main = replace(task, tree=tree, commit=task.main, shown="", logs=task.logs / "main", known=None)
        slot = GateSession(session.scope, on_main, session.slot)
        failed, passed, runs, runs_max = Counter[str](), set[str](), 0, narrow_max
        try:
            while runs < runs_max and not failed.keys() & passed >= {*tests}:
                runs += 1
                session.scope.progress(task.issue_id, task.number, "gate", f"{self._gate.name} once more on main")
                again = self._rerun(slot, f"look-{runs}")
                failed.update(again.failed)
                passed |= again.passed
                runs_max = narrow_max if again.whole is None else _RUNS_MAX
        finally:
            session.ready()  # the slot holds main's files
        session.build(self._before, "after-main")
        self._remember({test: failed[test] for test in tests if test in failed.keys() & passed}, runs)
        return runs

    def _remember(self, failed: Mapping[str, int], runs: int) -> None:
        env, gate, now = self._session.env, self._gate, self._session.env.clock.now()
        if failed:
            seen = (UnsteadyTest(gate.name, test, now, times, runs) for test, times in failed.items())
            env.memory.note_unsteady(gate.command, seen)
            self._session.scope.send(UnsteadySeen(self._session.task.issue_id, gate.name, tuple(failed)))

    def _passed(self, again: _Rerun | None) -> GateResult:
        red, allowed = self._red, {comparable(test) for test in self._failed}
        if again is not None and again.whole is not None:
            return replace(again.whole, first_failure=red.failure, unsteady=self._failed)
        passed = replace(red, first_failure=red.failure, unsteady=self._failed)
        known = tuple(test for test in red.failing_tests if comparable(test) not in allowed)
        if self._session.task.known is None or not known:
            return replace(passed, failing_tests=(), failure=None)
        return replace(passed, failing_tests=known, only_known_failures=True)

    def _unsteady_by_change(self, tests: tuple[str, ...], why: str) -> GateResult:
        before, names = self._red.failure, tuple(test for test in tests if test != WHOLE_GATE)
        if before is None:
            return self._red
        what = some(names, _SHOWN_MAX) if names else f"the gate {self._gate.name}"
        failure = replace(
            before,
            kind=FailureKind.TEST_FAILURE,
            message=f"{what} failed, and passed when it ran again on the same files; {why}. {before.message}",
            rule=UNSTEADY_BY_CHANGE,
            signature=f"{UNSTEADY_BY_CHANGE}:{','.join(sorted(tests))}",
            failing_tests=names or before.failing_tests,
            charged=True,
        )
        return replace(self._red, failure=failure, failing_tests=failure.failing_tests)


def _short_of_coverage(red: GateResult) -> bool:
    folder = Path(red.stdout_log).parent
    texts = (read_bounded(folder / log, 0, _LOG_BYTES_MAX).lower() for log in log_names(red.gate))
    return any("coverage" in line and "not" in line for text in texts for line in text.splitlines())


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
        elif (
            task.steady
            and gate.again
            and (red := result.failure)
            and red.kind in _MAY_PASS
            and red.rule != CHANGED_FILES
        ):
            result = _Steadiness(session, gate, self._before, result).judged()
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
        """Run a gate again whose final error lies outside the work, charged to nobody, as often as the task allows.

        A full disk is believed if it is measured; if only the gate says so, main's run of it decides.
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
