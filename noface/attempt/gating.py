"""Carries out each `Run` that is asked for, in a slot that no agent has touched, unless its results are known."""

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from noface.attempt.environment import LANDING_SLOT, AttemptEnvironment, Scope
from noface.attempt.gate_runs import GateRuns
from noface.attempt.gate_session import CutShort, GateSession, GateTask, NotReady
from noface.diagnosis.known_causes import PYTEST_MARK
from noface.integrity.inventory import Inventory, agreed
from noface.model.failure import Failure
from noface.model.gate import GateKind, GateResult, GateSpec, worst

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Run:
    """Gates to run on a tree, after the hard builds. `anew`: nothing that is known counts.

    `named`: it has to be known which tests ran. Unless it is `steady`, what fails does not run once more.
    """

    tree: str
    gates: tuple[GateSpec, ...]
    anew: bool = False
    named: bool = False
    steady: bool = True


@dataclass(frozen=True, slots=True)
class Ran:
    """The results of the gates on `tree`; `failure` if the slot could not be made ready.

    `fixed` is another tree if a gate with `fixes` has changed files: nothing is proven before the gates pass on that.
    """

    tree: str
    results: tuple[GateResult, ...]
    failure: Failure | None = None
    fixed: str = ""
    tests: Mapping[str, Inventory | None] = field(default_factory=dict)

    def red(self, gate: GateSpec) -> bool:
        return any(result.gate.command == gate.command and not result.passed for result in self.results)


def carried_out(asking: Generator[Run, Ran, T], run: Callable[[Run], Ran]) -> T:
    """Have `run` carry out what a judge asks for; return its verdict."""
    try:
        wanted = next(asking)
        while True:
            wanted = asking.send(run(wanted))
    except StopIteration as end:
        verdict: T = end.value
        return verdict


def main_task(env: AttemptEnvironment, folder: str, issue_id: str = "", slot: str = LANDING_SLOT) -> GateTask:
    plumbing = env.plumbing
    main, logs = plumbing.main(), plumbing.repository.state_dir / folder
    return GateTask(issue_id, 0, folder.replace("/", "-"), slot, plumbing.tree(main), main, main, logs)


@dataclass(slots=True)
class Gating:
    """Carries out runs for a task, whose tree has to pass `gates`. A cancel raises CutShort."""

    scope: Scope
    task: GateTask
    gates: tuple[GateSpec, ...]
    _results: dict[tuple[str, GateSpec], GateResult] = field(default_factory=dict, init=False)

    def run(self, *, anew: bool = False) -> Ran:
        return self.carry_out(Run(self.task.tree, self.gates, anew))

    def carry_out(self, run: Run) -> Ran:
        """Run gates on a tree: the task's own, main's, or one that was made for a question."""
        env, task, main = self.scope.env, self.task, self.scope.env.plumbing.tree(self.task.main)
        names = {gate.name for gate in run.gates}
        builds = (g for g in self.gates if g.kind is GateKind.BUILD and g.hard and g.name not in names)
        gates = (*builds, *run.gates)
        if run.tree != task.tree:
            commit, folder = (task.main, "main") if run.tree == main else (task.commit, "judges")
            task = replace(task, tree=run.tree, commit=commit, shown="", logs=task.logs / folder)
        task = replace(task, steady=task.steady and run.steady)
        before = {gate.command: env.memory.tests(run.tree, gate.command) for gate in gates}
        known_from = len(gates) if run.anew else self._first_known(run, gates)
        if known_from and run.tree != self.task.tree:
            self.scope.progress(task.issue_id, task.number, "gate", "once more, as main's own tests see it")
        ran = self._run(task, gates, known_from)
        for command, known in before.items() if run.named else ():
            now = env.memory.tests(run.tree, command)
            if run.anew and run.tree == main and known is not None and now is not None:
                now = agreed(known, now)  # what an id has of a time, say, is no test's name
            env.memory.keep_tests(run.tree, command, now, main=main)
        return replace(ran, tests={command: env.memory.tests(run.tree, command) for command in before})

    def _run(self, task: GateTask, gates: tuple[GateSpec, ...], known_from: int) -> Ran:
        """Run gates in order; from `known_from` on their results are known.

        A red hard build gate ends it, since the rest would only echo it. After any other red hard gate an issue's own
        `accept` does not run: nothing would land.
        """
        session = GateSession(self.scope, task, self.scope.env.gate_slot(task.name))
        results: list[GateResult] = []
        for position, gate in enumerate(gates):
            if gate.accept and any(each.gate.hard and not each.gate.accept and not each.passed for each in results):
                continue
            known = self._known(task.tree, gate) if position >= known_from else None
            if known is not None:
                results.append(known)
            else:
                try:
                    session.settle(gates[:position]) if position else session.ready()
                except NotReady as unready:
                    return Ran(task.tree, tuple(results), unready.failure)
                results.append(GateRuns(session, gate, gates[:position]).result())
                if session.fixed:
                    return Ran(task.tree, tuple(results), fixed=session.fixed)
                self._results[task.tree, gate] = results[-1]
            if not results[-1].passed and gate.hard and gate.kind is GateKind.BUILD:
                break
        return Ran(task.tree, tuple(results))

    def _known(self, tree: str, gate: GateSpec) -> GateResult | None:
        if (tree, gate) in self._results:
            return self._results[tree, gate]
        known = self.scope.env.memory.green(self.scope.env.key(tree, gate))
        # It may come from a run of the same gate with other retries, or on a tree that was put together.
        return replace(known, gate=gate, memo=True) if known is not None else None

    def _first_known(self, run: Run, gates: tuple[GateSpec, ...]) -> int:
        """Return the position from which on every gate's result is known; what builds made is gone by then."""
        memory, position = self.scope.env.memory, len(gates)
        while position:
            gate = gates[position - 1]
            unnamed = run.named and gate.of_tests and not memory.asked(run.tree, gate.command)
            if unnamed or self._known(run.tree, gate) is None:
                break
            position -= 1
        return position


def run_gates(scope: Scope, task: GateTask, gates: tuple[GateSpec, ...], *, anew: bool = False) -> Ran | None:
    """Run gates on a task's tree; None if a cancel ends it."""
    try:
        return Gating(scope, task, gates).run(anew=anew)
    except CutShort:
        return None


def named_tests(failed: GateResult) -> str:
    tests = failed.failing_tests
    if not tests or (failed.failure is not None and tests[0] in failed.failure.message):
        return ""
    return f"{tests[0]}{f' and {len(tests) - 1} more' if len(tests) > 1 else ''}: "


def gates_failure(results: tuple[GateResult, ...], gates: tuple[GateSpec, ...]) -> Failure | None:
    """Return the failure to report for red hard gates: the first one's, naming the others; None if all passed."""
    failed = worst(results)
    if failed is None or failed.failure is None:
        return None
    failure = failed.failure
    others = [r.gate.name for r in results if r.gate.hard and not r.passed and r is not failed]
    tests = tuple(dict.fromkeys(t for r in results if r.gate.hard and not r.passed for t in r.failing_tests))
    ran = {result.gate for result in results}
    unknown = [gate.name for gate in gates if gate.accept and gate not in ran]
    parts = (("also red", others), ("not reached", unknown))
    more = "".join(f" ({what}: {', '.join(names)})" for what, names in parts if names)
    reds = [(r.gate.command, r.failure) for r in results if r is not failed and r.gate.hard and not r.passed]
    excerpts = [failure.excerpt, *(f"$ {command}\n{red.excerpt}" for command, red in reds if red is not None)]
    return replace(
        failure,
        message=f"gate {failed.gate.name}: {named_tests(failed)}{PYTEST_MARK.sub('', failure.message)}{more}",
        failing_tests=tests,
        excerpt="\n\n".join(text for text in excerpts if text),
    )
