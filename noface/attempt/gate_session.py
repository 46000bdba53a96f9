"""Runs gates in a gate slot, one at a time, and notices what each leaves behind.

Gates run the change's own code, which could make a later gate pass. So a gate starts with the task's tree, what setup
kept, and what the build gates before it made. One that changes files of the tree has judged what does not land.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from noface.attempt.environment import AttemptEnvironment, GateAgain, MainSeen, Scope
from noface.attempt.gate_turns import Turn
from noface.attempt.isolation import gate_box, gate_variables, shell_command
from noface.attempt.prepare import Preparation, looking
from noface.attempt.slot_files import SlotFiles
from noface.diagnosis.known_causes import contention_line
from noface.gates.inventory import instrumented, read_inventory
from noface.gates.run import log_name, log_names, run_gate
from noface.git.removal import remove
from noface.git.workspace import Slot, ensure_folder, give_git, in_use
from noface.integrity.evasion import only_checking
from noface.integrity.inventory import Inventory
from noface.integrity.rubbish import above
from noface.model.failure import CHANGED_FILES, Failure
from noface.model.gate import GateKind, GateResult, GateSpec
from noface.model.quoting import one_line, some
from noface.model.taxonomy import FailureKind
from noface.process.command import Command
from noface.process.environment import Variables
from noface.process.failpoints import hit
from noface.process.files import read_bounded, real_folder
from noface.secrets.masked_records import masked_record

Known = tuple[tuple[str, tuple[str, ...]], ...]
"""Main's failing tests, by gate (baseline "only-new")."""
DIFFERS = "git.diff-exit"
"""The rule of a gate that is red because git shows a difference: its own changes, where it has made any."""

REPEATS_MAX = 2
"""So often a gate is run again in an issue for a cause that passes by itself (docs/decisions.md)."""
_SHOWN_MAX = 10
_LINE_CHARS_MAX = 200
_PROGRAMS = ("bin", ".bin", "Scripts")
"""Where the programs of an environment stand in its folder, as `.venv/bin` and `node_modules/.bin`."""
_PATIENCE_S = 60.0
"""So long a gate waits for being alone when it runs once more; then it runs beside the others."""
_INVENTORY_BYTES_MAX = 32 << 20
_EXCERPT_BYTES_MAX = 6_000
_FAILED_AS = {
    GateKind.BUILD: FailureKind.RUNTIME_ERROR,
    GateKind.LINT: FailureKind.LINT_FAILURE,
    GateKind.TEST: FailureKind.TEST_FAILURE,
}


@dataclass(frozen=True, slots=True)
class GateTask:
    """What to gate, and where: `main` is what the slot's kept paths come from; `name` picks the slot.

    `known` are the failures of main that do not count, None if every failure counts. `steady`: a test that fails now
    and then is told from one that fails. `repeats`: so often a gate may run again for a cause that passes by itself.
    `shown` is the commit that gates find, as what lands would stand on main; "": that of the work.
    """

    issue_id: str
    number: int
    token: str
    name: str
    tree: str
    commit: str
    main: str
    logs: Path
    known: Known | None = None
    steady: bool = True
    repeats: int = REPEATS_MAX
    shown: str = ""

    @property
    def on_main(self) -> bool:
        return self.commit == self.main


class CutShort(Exception):  # noqa: N818 - no error: noface is to stop
    """A cancel ended the gates."""


class NotReady(Exception):  # noqa: N818 - it says what becomes of the gates
    """The slot could not be made ready."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class GateSession:
    """A gate slot with a task: makes it ready, and runs gates in it. A cancel raises CutShort.

    Of the last gate `beside` are those that ran meanwhile, `fixed` is the tree with what it changed, if it may, and
    `lost` says that somebody removed what lay there. `repeated` counts the runs again for causes that pass.
    """

    files: SlotFiles

    def __init__(self, scope: Scope, task: GateTask, slot: Slot) -> None:
        self.scope, self.task, self.slot = scope, task, slot
        self.ran: dict[str, Inventory | None] = {}
        self.repeated, self.fixed, self.lost = 0, "", False
        self.beside: tuple[str, ...] = ()
        self._alone = False

    @property
    def env(self) -> AttemptEnvironment:
        return self.scope.env

    def ready(self) -> None:
        """Check the task's tree out, clean. Raises NotReady."""
        task = self.task
        preparation = Preparation(self.scope, self.slot, task.token)
        failure = preparation.prepare_for_gates(task.tree, task.main)
        if self.scope.cancel.cancelled:
            raise CutShort
        if failure is not None:
            raise NotReady(failure)
        give_git(self.slot, task.issue_id or "main", task.shown or task.commit)
        self.files = SlotFiles(self.slot, self.env.plumbing, task.tree)
        hit("gate_checkout")

    def settle(self, before: tuple[GateSpec, ...]) -> None:
        """Undo what the last of the gates `before` left, unless it was a build."""
        task, files = self.task, self.files
        if before[-1].kind is GateKind.BUILD:
            self._keep_build()
        elif files.undo_new():
            give_git(self.slot, task.issue_id or "main", task.shown or task.commit)
        else:
            self.ready()
            self.build(before, f"after-{log_name(before[-1])}")

    def _keep_build(self) -> None:
        self.files.restore_tracked()
        give_git(self.slot, self.task.issue_id or "main", self.task.shown or self.task.commit)
        self.files.rely_on_all()

    def build(self, before: tuple[GateSpec, ...], folder: str) -> None:
        for gate in before:
            if gate.kind is GateKind.BUILD:
                self.run(gate, folder)
                self._keep_build()

    def run_afresh(self, gate: GateSpec, before: tuple[GateSpec, ...], folder: str) -> GateResult:
        """Run one gate on a clean checkout, after the builds `before` it. Raises NotReady."""
        self.ready()
        self.build(before, folder)
        return self.run(gate, folder)

    def run_alone(
        self, gate: GateSpec, before: tuple[GateSpec, ...], red: GateResult, beside: tuple[str, ...]
    ) -> GateResult:
        """Run a gate that was red beside others again while none runs. A pass is told: it has met them."""
        with self.by_itself():
            again = self.run_afresh(gate, before, "alone")
        if red.failure is None or self.beside:
            return again if again.passed else red  # the others did not end in time
        if again.failure is not None and not again.passed:
            alone = "it failed as well while no other gate ran"
            return replace(again, failure=replace(again.failure, evidence=(*again.failure.evidence, alone)))
        line = one_line(self.env.masker.text(contention_line(red.failure) or red.failure.message), _LINE_CHARS_MAX)
        self.scope.send(GateAgain(self.task.issue_id, self.task.number, gate.name, line, beside))
        return again

    def run(self, gate: GateSpec, folder: str) -> GateResult:
        """Run one gate once, with its logs in `folder` of the task's."""
        env, task = self.env, self.task
        self._tell(f"{gate.name} once more" if folder else gate.name)
        allowed = frozenset(dict(task.known).get(gate.name, ())) if task.known is not None else None
        who = f"{gate.name} of {task.issue_id or env.plumbing.repository.main_name}"
        turn = Turn(who, self._alone or gate.alone, None if gate.alone else _PATIENCE_S)
        waits = f"{gate.name} waits for its turn"
        with env.turns.turn(turn, self.scope.cancel, lambda: self._tell(waits)) as granted:
            if granted is None:
                raise CutShort
            reports = None
            # A container (`wrap`) does not have the folder of the reports.
            if gate.kind is GateKind.TEST and not (gate.accept or gate.command in env.memory.plain or env.sandbox.wrap):
                reports = self.slot.path.with_name(f"{self.slot.path.name}.reports")
                remove(reports)
            command, look = self._command(gate, folder, reports), None
            if not task.issue_id:  # before the first attempt nothing else is to be seen
                log, seen = Path(command.stdout), self.scope.send
                look = looking(env, log, lambda line, seconds: seen(MainSeen(gate.name, line, seconds)))
            result = run_gate(
                env.launcher,
                gate,
                command,
                self.scope.cancel,
                tree=task.tree,
                started_at=env.clock.now(),
                list_files=lambda: env.plumbing.paths(task.tree),
                known_failures=allowed,
                rules=env.gate_rules,
                on_output=look,
            )
        self.beside = tuple(turn.beside)
        if result is None:
            raise CutShort
        if reports is not None:
            self._keep_inventory(gate, reports, command)
        result = self._checked_count(gate, result)
        ensure_folder(self.slot)
        self.files.look()
        if task.on_main:  # what setup and gates made of main: the outermost folders, and files beside main's own
            paths = env.plumbing.whole(task.tree).paths
            new = self.files.left.keys() - paths - {folder for path in paths for folder in above(path)}
            env.memory.made = env.memory.made.union(path for path in new if path.rpartition("/")[0] not in new)
        self.lost, written = self.files.lost(failed=not result.passed), self.files.written()
        self.fixed = ""
        if written and gate.fixes and not task.on_main:
            feed = "\0".join(f":(top,literal){path}" for path in written).encode("utf-8", "surrogateescape")
            with in_use(self.slot) as git:
                git.ask("add", "-u", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=feed)
                self.fixed = git.ask("write-tree")
        if written and (result.failure is None or result.failure.rule == DIFFERS):
            result = replace(result, failure=self._changed_files(gate, written, passed=result.failure is None))
        return masked_record(result, env.masker)

    def _tell(self, what: str) -> None:
        self.scope.progress(self.task.issue_id, self.task.number, "gate", what)

    @contextmanager
    def by_itself(self, *, wanted: bool = True) -> Iterator[None]:
        """Run gates while no other gate runs, if that is `wanted` and comes about soon."""
        self._alone = wanted
        try:
            yield
        finally:
            self._alone = False

    def _keep_inventory(self, gate: GateSpec, reports: Path, command: Command) -> None:
        """Keep which tests the gate ran. Their names are stored and shown, so known secrets in them are masked."""
        logs, bytes_max = (Path(command.stdout), Path(command.stderr)), _INVENTORY_BYTES_MAX
        out, err = (read_bounded(log, bytes_max, bytes_max) for log in logs)
        seen = Path((command.box.address if command.box is not None else "") or command.cwd)
        inventory = read_inventory(reports, seen, out, gate.command, err)
        if inventory is not None:
            mask, names = self.env.masker.text, "\n".join(name for name, _ in inventory.tests)
            if mask(names) != names:
                tests = tuple(sorted((mask(name), outcome) for name, outcome in inventory.tests))
                inventory = replace(inventory, tests=tests)
        self.ran[gate.command] = inventory

    def _command(self, gate: GateSpec, folder: str, reports: Path | None) -> Command:
        env, task = self.env, self.task
        # As on a server of CI, where tools take nobody's server for theirs; a person's own value comes after it.
        variables = (("CI", "true"), *gate_variables(env, gate.env_pass, task.token, leaky=gate.leaky))
        if gate.accept:
            variables = self._with_kept_programs(variables)
        if reports is not None:
            ends = f"{env.clock.now() + gate.timeout_s}/{gate.timeout_s}"
            variables = (*instrumented(variables, reports), ("NOFACE_GATE_ENDS", ends))
        logs = real_folder(task.logs / folder, env.plumbing.repository.state_dir)
        out, err = (logs / name for name in log_names(gate))
        for log in (out, err):
            remove(log)  # an agent outside a sandbox may have put a folder there
        place = gate_box(env, self.slot, variables, logs, gate, reports)
        limit, services = gate.timeout_s, env.sandbox.services
        return shell_command(
            env, gate.command, self.slot.path, (out, err), place, timeout_s=limit, boxed=gate.boxed, services=services
        )

    def _with_kept_programs(self, variables: Variables) -> Variables:
        """Return the variables of an `accept`, which people write as they type it: with what setup made on PATH."""
        given, slot = dict(variables), self.slot.path
        made = [f"{kept}/{name}" for kept in self.env.setup.keep for name in _PROGRAMS if (slot / kept / name).is_dir()]
        path = ":".join((*(f"{self.env.seen(str(slot))}/{folder}" for folder in made), given.get("PATH", "")))
        return tuple((given | {"PATH": path}).items()) if made else variables

    def _changed_files(self, gate: GateSpec, written: tuple[str, ...], *, passed: bool) -> Failure:
        """Return the failure of a gate that changed the tree, whatever it says: it proves nothing."""
        with in_use(self.slot) as git:
            asked = ("diff-index", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", self.task.tree)
            patch = git.run(*asked).stdout[:_EXCERPT_BYTES_MAX].decode("utf-8", "replace")
        first = "it passed, but it" if passed else "it"
        return Failure(
            _FAILED_AS[gate.kind],
            f"{first} changed files that it checks: {some(written, _SHOWN_MAX)}. What it proved is not what"
            f" would land. Commit what it writes, or {only_checking(gate.command)}",
            rule=CHANGED_FILES,
            signature=f"{CHANGED_FILES}:{','.join(written)}",
            evidence=written[:_SHOWN_MAX],
            excerpt=f"What the gate {gate.name} made of your files:\n{patch}",
            gate=gate.name,
        )

    def _checked_count(self, gate: GateSpec, result: GateResult) -> GateResult:
        """Refuse a green test gate that reports no test where main's run has some: `os._exit(0)` ends with 0 too."""
        env, task = self.env, self.task
        main = env.memory.green(env.key(env.plumbing.tree(task.main), gate))
        expected = main.tests_run if main is not None and not task.on_main else None
        if result.failure is not None or result.tests_run or not expected or gate.kind is not GateKind.TEST:
            return result
        message, rule = (
            f"exit code 0, but it reports no test; on main this gate ran {expected}",
            "no-tests-where-main-has",
        )
        failure = Failure(FailureKind.NO_TESTS, message, rule=rule, signature=rule, evidence=(message,), gate=gate.name)
        return replace(result, failure=failure)
