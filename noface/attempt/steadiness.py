"""Judges a red test gate that may be unsteady: what fails now and then costs no attempt, and buys no green.

In this order:

1. Tests known as unsteady on main count for nobody, unless the change adds them or touches their file.
2. What failed runs again, alone where its runner can run single tests; where that run is not green though the tests
   pass, the whole gate. What fails again has failed, unless main shows in three runs that it is unsteady there.
3. What passes then and is the change's own test is the change's failure: it must pass each time.
   Unless it failed beside other gates, and the whole gate passes twice more while none runs: then it met them.
4. Anything else that passes then runs on main until it has failed and passed there too, up to `[run] unsteady_runs`
   times. What does both is unsteady, and is remembered; else the change made it fail now and then. A test that fails
   alone on main each time needs the tests before it, or was broken from outside: that excuses nothing.

On main itself the whole gate runs again: a test that fails only in the company of others fails. Where a gate names no
tests, it is unsteady as a whole; then a run of it must pass.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from noface.attempt.environment import AttemptEnvironment, Scope, UnsteadySeen
from noface.attempt.gate_session import GateSession
from noface.gates.narrow import narrowed, runs_alone
from noface.gates.run import comparable, log_names, names_suffice
from noface.integrity.inventory import Inventory, compared
from noface.integrity.unsteady import (
    REMEMBERED_MAX,
    WHOLE_GATE,
    Known,
    after_run,
    failed_in,
    of_the_change,
    passed_in,
)
from noface.model.failure import CHANGED_FILES
from noface.model.gate import GateKind, GateResult, GateSpec
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind
from noface.model.unsteady import UnsteadyTest
from noface.process.files import read_bounded

UNSTEADY_BY_CHANGE = "unsteady-by-change"
"""The rule of a test that fails now and then, and on main not once."""
_MAY_PASS = (FailureKind.TEST_FAILURE, FailureKind.RUNTIME_ERROR, FailureKind.UNKNOWN)
"""What may be otherwise in another run. A time limit costs as much again; the rest is about files, and stays."""
_RUNS_WHEN_KNOWN = 3
_LOOK_S_MAX = 600.0
_LOOKS_MIN = 3
ALONE_S_MAX = 600.0
"""A gate that takes longer runs alone only if words ask for it: meanwhile all others wait."""
_ALONE_RUNS = 2
"""With the run in which the failure was gone, so many passes alone stand against one failure in company."""
_SHOWN_MAX = 5
_LOG_BYTES_MAX = 200_000


@dataclass(frozen=True, slots=True)
class _Rerun:
    """Another run: `whole` where the gate ran as it is, and not single tests; `gone` where what failed passed.

    `failed` and `passed` are the ids of tests; a run that is red without a test's name has failed as WHOLE_GATE.
    """

    result: GateResult
    whole: bool
    gone: bool
    failed: frozenset[str]
    passed: frozenset[str]


@dataclass(slots=True)
class Steadiness:
    """A red result of a test gate, and the session in whose slot it came about.

    `before` are the gates before it, `beside` the gates that ran beside it.
    """

    session: GateSession
    gate: GateSpec
    before: tuple[GateSpec, ...]
    red: GateResult
    beside: tuple[str, ...] = ()

    def judged(self) -> GateResult | None:
        """Return the result as it is, or as passed; None if a cancel ends it."""
        failed = self._failed()
        rest = tuple(test for test in failed if test not in self._excused(failed))
        if failed and not rest and self._runs_alone() and not _short_of_coverage(self.red):
            return self._passed(failed)
        known = not rest and (bool(failed) or WHOLE_GATE in self._known)
        minds_company = bool(self.beside) and self._env.gate_facts.turns.minds_company(self.gate.command)
        by_name = False
        for number in range(1, (max(_RUNS_WHEN_KNOWN, self.gate.again) if known else self.gate.again) + 1):
            with self.session.by_itself(self.red.seconds, wanted=minds_company and not self._all_own(rest)):
                again = self._rerun(self.session, self.before, rest, f"steady-{number}")
            if again is None:
                return None if self.session.scope.cancel.cancelled else self.red
            if again.result.failure is not None and again.result.failure.rule == CHANGED_FILES:
                return self.red
            if again.gone:
                return self._explained(failed, rest, again)
            by_name = bool(again.failed & frozenset(rest))
        return self._failed_again(failed, rest) if by_name else self.red

    @property
    def _env(self) -> AttemptEnvironment:
        return self.session.env

    @property
    def _known(self) -> Known:
        return self._env.gate_facts.unsteady.get(self.gate.command, {})

    @property
    def _of_main(self) -> bool:
        return is_main(self.session)

    def _inventory(self, tree: str, command: str) -> Inventory | None:
        return self._env.gate_facts.inventories.get((tree, command))

    def _failed(self) -> tuple[str, ...]:
        """Return the ids of the tests that failed, without those that main fails each time (baseline "only-new")."""
        allowed = {comparable(name) for name in dict(self.session.task.known or ()).get(self.gate.name, ())}
        ids = failed_in(self._inventory(self.session.task.tree, self.gate.command))
        return tuple(test for test in ids if comparable(test) not in allowed)

    def _own(self, tests: tuple[str, ...]) -> tuple[str, ...]:
        """Return the tests that the change adds or touches."""
        task, plumbing = self.session.task, self._env.plumbing
        if self._of_main:
            return ()
        changed = {change.path for change in plumbing.changes(task.main, task.tree)}
        return of_the_change(tests, self._inventory(plumbing.tree(task.main), self.gate.command), changed)

    def _all_own(self, tests: tuple[str, ...]) -> bool:
        return bool(tests) and set(tests) <= {*self._own(tests)}

    def _excused(self, failed: tuple[str, ...]) -> frozenset[str]:
        known = tuple(test for test in failed if test in self._known)
        return frozenset(known) - frozenset(self._own(known)) if known else frozenset()

    def _runs_alone(self) -> bool:
        """True if these tests are all that made the gate red: every test ran, and nothing but tests."""
        ran, failure = self._inventory(self.session.task.tree, self.gate.command), self.red.failure
        if ran is None or failure is None or not ran.complete or not runs_alone(self.gate.command, ran.runners):
            return False
        main = self._inventory(self._env.plumbing.tree(self.session.task.main), self.gate.command)
        short = compared(main, ran) if main is not None else None
        if short is not None and (short.gone or short.skipped):
            return False  # the runner stopped at the first failure, or there are parts of the gate that did not run
        return names_suffice(failure.kind, failure.rule, self.red.exit_code, self.red.failing_tests)

    def _rerun(
        self, session: GateSession, before: tuple[GateSpec, ...], tests: tuple[str, ...], folder: str
    ) -> _Rerun | None:
        """Run the tests again on a clean checkout, alone where that can be said; None if there can be no run."""
        ran = self._inventory(self.session.task.tree, self.gate.command)
        alone = ran is not None and self._runs_alone() and not (self._of_main and session is self.session)
        command = narrowed(self.gate.command, ran.runners, tests) if ran is not None and alone else None
        if command is not None:
            result = session.run_afresh(replace(self.gate, command=command, report=None), before, folder)
            if result is None:
                return None
            again = self._seen(session, result, tests, whole=False)
            # On main only the tests count; here all else that the gate asks for must hold, too.
            settled = result.passed or again.failed & frozenset(tests) or session is not self.session
            if settled and {*again.failed, *again.passed}.issuperset(tests):
                return again
        result = session.run_afresh(self.gate, before, folder)
        return self._seen(session, result, tests, whole=True) if result is not None else None

    def _seen(self, session: GateSession, result: GateResult, tests: tuple[str, ...], *, whole: bool) -> _Rerun:
        """Return what another run shows. On main a whole run may be red for other tests, which passed before."""
        ran = self._inventory(session.task.tree, result.gate.command)
        failed, passed = frozenset(failed_in(ran)), passed_in(ran)
        gone = result.passed if whole else not failed
        if whole and self._of_main and tests and ran is not None and ran.complete and result.failure is not None:
            by_name = names_suffice(result.failure.kind, result.failure.rule, result.exit_code, result.failing_tests)
            gone = gone or (by_name and bool(failed) and passed.issuperset(tests) and not _short_of_coverage(result))
        if not failed:
            failed, passed = (failed, passed | {WHOLE_GATE}) if result.passed else (frozenset({WHOLE_GATE}), passed)
        return _Rerun(result, whole, gone, failed, passed)

    def _explained(self, failed: tuple[str, ...], rest: tuple[str, ...], again: _Rerun) -> GateResult | None:
        """Return what a failure comes to that was gone in another run."""
        tests = rest or (() if failed else (WHOLE_GATE,))
        unknown = tuple(test for test in tests if test not in self._known)
        if self._of_main:
            self._remember(unknown, 2)
            return self._passed(failed, again)
        if own := self._own(rest):
            return self._unsteady_by_change(own, 0)
        if unknown:
            looks = self._look_at_main(rest, _LOOKS_MIN if self.beside else self._env.steadiness.runs)
            if looks is None:
                return None if self.session.scope.cancel.cancelled else self.red
            runs, looked = looks
            self._remember(tuple(test for test in unknown if test in looked), runs)
            if steady := tuple(test for test in unknown if test not in looked):
                return self._unsteady_by_change(steady, runs)
        return self._passed(failed, again)

    def _only_in_company(self) -> GateResult | None:
        """Return a pass of the whole gate where it failed beside others, and passes each time that it runs alone."""
        if not self.beside or self.red.failure is None:
            return None
        result = None
        for number in range(1, _ALONE_RUNS + 1):
            with self.session.by_itself(self.red.seconds):
                result = self.session.run_afresh(self.gate, self.before, f"alone-{number}")
            if result is None or not result.passed or self.session.beside:  # which did not end in time
                return None
        self.session.note_company(self.gate, self.beside, self.red.failure)
        return result

    def _failed_again(self, failed: tuple[str, ...], rest: tuple[str, ...]) -> GateResult | None:
        """Return what it comes to that tests failed again: that may be chance, so single tests run on main at times."""
        ran = self._inventory(self.session.task.tree, self.gate.command)
        alone = ran is not None and self._runs_alone() and narrowed(self.gate.command, ran.runners, rest) is not None
        if not self.gate.again or not alone or self._of_main or self._own(rest) or _short_of_coverage(self.red):
            return self._charged(failed)
        looks = self._look_at_main(rest, _LOOKS_MIN)
        if looks is None:
            return None if self.session.scope.cancel.cancelled else self.red
        unknown = tuple(test for test in rest if test not in self._known)
        self._remember(tuple(test for test in unknown if test in looks[1]), looks[0])
        return self._passed(failed) if set(rest) <= set(self._known) else self._charged(failed)

    def _charged(self, failed: tuple[str, ...]) -> GateResult:
        """Return the failure without the tests that are unsteady on main: a worker is told what counts."""
        excused = {comparable(test) for test in self._excused(failed)}
        counting = tuple(test for test in self.red.failing_tests if comparable(test) not in excused)
        if self.red.failure is None or not counting or len(counting) == len(self.red.failing_tests):
            return self.red
        failure = replace(self.red.failure, failing_tests=counting)
        return replace(self.red, failure=failure, failing_tests=counting)

    def _look_at_main(self, tests: tuple[str, ...], most: int) -> tuple[int, frozenset[str]] | None:
        """Run the tests on main, up to `most` times, until each has failed and passed there.

        Return how often they ran, and which did both. One that only fails there does so for good, since a person has
        moved main or something outside is broken, or alone, since it needs the tests before it.
        """
        session, env = self.session, self._env
        task = session.task
        tree = env.plumbing.tree(task.main)
        on_main = replace(task, tree=tree, commit=task.main, logs=task.logs / "main", known=None)
        slot = GateSession(session.scope, on_main, session.slot, alone=bool(self.beside))
        builds = tuple(gate for gate in self.before if gate.kind is GateKind.BUILD)
        failed: set[str] = set()
        passed: set[str] = set()
        wanted, seconds, runs = frozenset(tests or (WHOLE_GATE,)), 0.0, 0
        kept = self._inventory(tree, self.gate.command)
        while runs < most and not (runs >= _LOOKS_MIN and seconds > _LOOK_S_MAX) and wanted - (failed & passed):
            session.scope.progress(task.issue_id, task.number, "gate", f"{self.gate.name} once more on main")
            again = self._rerun(slot, builds, tests, f"look-{runs + 1}")
            if again is None:
                break
            runs, seconds = runs + 1, seconds + again.result.seconds
            failed |= again.failed
            passed |= again.passed
        if kept is not None:
            env.gate_facts.inventories[tree, self.gate.command] = kept
        ready = session.ready() is None and session.build(self.before, "after-main")
        return (runs, wanted & failed & passed) if ready and runs else None

    def _remember(self, tests: tuple[str, ...], runs: int) -> None:
        """Remember tests that failed once in these runs as unsteady on main, and tell the loop."""
        remember_unsteady(self.session.scope, self.gate, tests, self.session.task.issue_id, failed=1, runs=runs)

    def _passed(self, failed: tuple[str, ...], again: _Rerun | None = None) -> GateResult:
        """Return the result of a gate that is green but for unsteady tests; main's own failures stay known."""
        red, allowed = self.red, {comparable(test) for test in failed}
        if again is not None and again.whole and again.result.passed:
            return replace(again.result, first_failure=red.failure, unsteady=failed)
        known = tuple(test for test in red.failing_tests if comparable(test) not in allowed)
        if self.session.task.known is not None and known:
            return replace(
                red, failing_tests=known, only_known_failures=True, first_failure=red.failure, unsteady=failed
            )
        return replace(red, failing_tests=(), failure=None, first_failure=red.failure, unsteady=failed)

    def _unsteady_by_change(self, tests: tuple[str, ...], runs: int) -> GateResult | None:
        """Return the failure of a change that makes tests fail now and then, unless they do so in company only."""
        # Main's steady tests may have met others. What the change adds may fail by chance: passes prove nothing of it.
        met = self._only_in_company() if runs else None
        if met is not None or self.session.scope.cancel.cancelled:
            return met
        names = tuple(test for test in tests if test != WHOLE_GATE)
        what = some(names, _SHOWN_MAX) if names else f"the gate {self.gate.name}"
        why = (
            f"on main it passed {runs} times of {runs}, so it is the change that makes it fail now and then"
            if runs
            else "a test that the change adds or touches must pass each time"
        )
        before = self.red.failure
        if before is None:
            return self.red
        message = f"{what} failed, and passed when it ran again on the same files; {why}. {before.message}"
        failure = replace(
            before,
            kind=FailureKind.TEST_FAILURE,
            message=message,
            rule=UNSTEADY_BY_CHANGE,
            signature=f"{UNSTEADY_BY_CHANGE}:{','.join(sorted(tests))}",
            failing_tests=names or before.failing_tests,
            charged=True,
        )
        return replace(self.red, failure=failure, failing_tests=names or self.red.failing_tests)


def remember_unsteady(
    scope: Scope, gate: GateSpec, tests: tuple[str, ...], issue_id: str = "", *, failed: int, runs: int
) -> None:
    """Remember tests as unsteady on main, and tell the loop; `issue_id` is for whose work they were seen."""
    facts, now = scope.env.gate_facts, scope.env.clock.now()
    if tests:
        new = {test: UnsteadyTest(gate.name, test, now, now, failed, runs) for test in tests}
        known = facts.unsteady.get(gate.command, {})
        facts.unsteady[gate.command] = dict([*known.items(), *new.items()][-REMEMBERED_MAX:])
        scope.send(UnsteadySeen(issue_id, gate.name, tests))


def _short_of_coverage(red: GateResult) -> bool:
    """True if the output speaks of a coverage that was not reached, which no list of tests shows."""
    folder = Path(red.stdout_log).parent
    try:
        texts = [read_bounded(folder / log, 0, _LOG_BYTES_MAX).lower() for log in log_names(red.gate)]
    except OSError:
        return True
    return any("coverage" in line and "not" in line for text in texts for line in text.splitlines())


def may_be_unsteady(gate: GateSpec, result: GateResult) -> bool:
    """True if a result is one that another run of the same gate may not have."""
    failure = result.failure
    if failure is None or result.passed or gate.kind is not GateKind.TEST or gate.accept or gate.retries:
        return False
    return failure.kind in _MAY_PASS and failure.rule != CHANGED_FILES


def is_main(session: GateSession) -> bool:
    """True if a session runs gates on main as it is."""
    task = session.task
    return task.on_main and task.tree == session.env.plumbing.tree(task.main)


def note_run_on_main(session: GateSession, gate: GateSpec, result: GateResult) -> None:
    """Count a run on main for the tests that are known as unsteady there; the steady ones are forgotten in time."""
    facts = session.env.gate_facts
    known = facts.unsteady.get(gate.command)
    if not known or not is_main(session) or (result.first_failure is not None and not result.unsteady):
        return
    ran = facts.inventories.get((session.task.tree, gate.command))
    red = result.first_failure or result.failure
    failed: Collection[str] = {*failed_in(ran), *((WHOLE_GATE,) if red is not None else ())}
    passed: Collection[str] = {*passed_in(ran), *((WHOLE_GATE,) if red is None else ())}
    now = after_run(known, failed, passed, session.env.clock.now(), session.env.steadiness.forget_after)
    if now != known:
        facts.unsteady[gate.command] = now
        session.scope.send(UnsteadySeen(session.task.issue_id, gate.name, ()))
