"""Runs gates in a gate slot, one at a time, and notices what each leaves behind.

Gates run the change's own code, which could make a later gate pass. So a gate starts with the task's tree, what setup
left in the kept paths, and what the build gates before it made; nothing else. And what a gate judges must be what
lands: a gate that changes files of the tree has judged something else.

The file system's facts about each file show what is new; no content is read. ctime cannot be set back.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from noface.attempt.environment import AttemptEnvironment, GateAgain, MainSeen, Scope
from noface.attempt.gate_turns import Turn
from noface.attempt.isolation import gate_box, gate_variables, wrapping
from noface.attempt.prepare import Preparation, kept_digest, looking
from noface.diagnosis.known_causes import company_line
from noface.gates.inventory import instrumented, read_inventory
from noface.gates.run import OTHERS_SERVER, GatePlace, log_name, log_names, run_gate
from noface.git.removal import remove, remove_below
from noface.git.workspace import Slot, ensure_folder, give_git, in_use
from noface.integrity.evasion import only_checking
from noface.integrity.inventory import Inventory
from noface.integrity.rubbish import above
from noface.model.failure import CHANGED_FILES, Failure, is_of_project
from noface.model.gate import GateKind, GateResult, GateSpec
from noface.model.quoting import one_line, some
from noface.model.taxonomy import FailureKind
from noface.process.command import OnOutput
from noface.process.failpoints import hit
from noface.process.files import HeldFolder, read_bounded, real_folder
from noface.secrets.masked_records import masked_record

Files = Mapping[str, tuple[int, ...]]
"""The entries of a slot by relative path, without its `.git` and the kept paths."""


def files_in(slot: Slot) -> Files:
    """Return what lies in the slot now. Of a folder only the mode counts; links are not followed."""
    top = os.fspath(slot.path)
    beside = {".git", *(path.strip("/") for path in slot.keep)}
    files: dict[str, tuple[int, ...]] = {}
    pending = [""]
    while pending:
        prefix = pending.pop()
        try:
            # By its descriptor: else each file is looked up from the root of the file system, for a third of the time.
            opened = os.open(f"{top}/{prefix}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            files[prefix.rstrip("/") or "."] = ()  # closed, or gone meanwhile: it is not as it was
            continue
        try:
            with os.scandir(opened) as entries:
                pending += _note(files, prefix, (entry for entry in entries if prefix + entry.name not in beside))
        finally:
            os.close(opened)
    return files


def _note(files: dict[str, tuple[int, ...]], prefix: str, entries: Iterable[os.DirEntry[str]]) -> list[str]:
    """Put the entries of a folder into `files`; return the folders among them."""
    folders = []
    for entry in entries:
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            continue
        mode, name = status.st_mode, prefix + entry.name
        if stat.S_ISDIR(mode):
            files[name] = (mode,)
            folders.append(f"{name}/")
        else:
            files[name] = (mode, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return folders


def changed(before: Files, now: Files) -> frozenset[str]:
    """Return the paths of `before` that are different or gone now."""
    return frozenset(path for path, entry in before.items() if now.get(path) != entry)


def remove_new(slot: Slot, before: Files, now: Files) -> None:
    """Remove what is there now and was not before."""
    new = now.keys() - before.keys()
    for path in new:
        if str(Path(path).parent) not in new:
            remove_below(slot.path, path)


def restore_tracked(slot: Slot, tree: str, paths: Iterable[str]) -> None:
    """Restore these files from `tree`; files that are not in the tree stay."""
    for path in paths:
        for place in (*reversed([str(parent) for parent in Path(path).parents][:-1]), path):
            here = slot.path / place
            if here.is_symlink() or (place != path and os.path.lexists(here) and not here.is_dir()):
                remove_below(slot.path, place)  # git would take what lies behind a link for the tree's files
                break
        else:
            if (slot.path / path).is_dir():
                remove_below(slot.path, path)
    with in_use(slot) as git:
        git.ask("read-tree", "-u", "--reset", tree)


Known = tuple[tuple[str, tuple[str, ...]], ...]
"""Main's failing tests, by gate (baseline "only-new")."""
DIFFERS = "git.diff-exit"
"""The rule of a gate that is red because git shows a difference: its own changes, where it has made any."""

REPEATS_MAX = 2
"""So often a gate is run again in an issue for a cause that passes by itself (docs/decisions.md)."""
_SHOWN_MAX = 10
_LINE_CHARS_MAX = 200
_PATIENCE_S_MIN, _PATIENCE_S_MAX = 5.0, 120.0
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
    and then is told from one that fails. `repeats` is how often a gate may be run again for a cause that passes by
    itself.
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

    @property
    def on_main(self) -> bool:
        """True if main itself is gated."""
        return self.commit == self.main


class CutShort(Exception):  # noqa: N818 - no error: noface is to stop
    """A cancel ended the gates."""


class NotReady(Exception):  # noqa: N818 - it says what becomes of the gates
    """The slot could not be made ready."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


@dataclass(slots=True)
class GateSession:
    """A gate slot with a task: makes it ready, and runs gates in it.

    `files` and `kept` are what the next gate may rely on, beside the kept paths and in them; `left` is what the last
    gate left. Of the tree's files `written` differ since it ran, and it wrote `rewritten` with the same; `fixed` is the
    tree with its changes, if it may change files. `ran` are the tests that each command ran last. `repeated` counts the
    runs again for causes that pass. While it is `alone`, no other gate runs beside its own, if it comes to that within
    `patience_s`; `beside` are those that ran beside the last. `lost`: somebody removed the folder, or what lay in it,
    while the last gate ran, which says nothing then. A cancel raises CutShort.
    """

    scope: Scope
    task: GateTask
    slot: Slot
    files: Files = field(default_factory=dict)
    left: Files = field(default_factory=dict)
    kept: str = ""
    ran: dict[str, Inventory | None] = field(default_factory=dict)
    repeated: int = 0
    written: tuple[str, ...] = ()
    fixed: str = ""
    alone: bool = False
    patience_s: float | None = None
    beside: tuple[str, ...] = ()
    lost: bool = False
    _folder: HeldFolder | None = None
    _keeps: tuple[str, ...] = ()

    @property
    def env(self) -> AttemptEnvironment:
        """What the session works with."""
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
        self._remember()
        hit("gate_checkout")

    def settle(self, before: tuple[GateSpec, ...]) -> None:
        """Undo what the last of the gates `before` left, unless it was a build."""
        last, task = before[-1], self.task
        if last.kind is GateKind.BUILD:
            self._keep_build()
            return
        kept_untouched = self._kept_now() == self.kept
        if kept_untouched and not changed(self.files, self.left):
            remove_new(self.slot, self.files, self.left)
            give_git(self.slot, task.issue_id or "main", task.commit)
            return
        if not kept_untouched:
            text = f"{last.name} wrote to the kept paths: they are made anew"
            self.scope.progress(task.issue_id, task.number, "gate", text)
        self.ready()
        self.build(before, f"after-{log_name(last)}")

    def build(self, before: tuple[GateSpec, ...], folder: str) -> None:
        """Run the build gates among those `before` again."""
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
        with self.by_itself(red.seconds):
            again = self.run_afresh(gate, before, "alone")
        if red.failure is None or self.beside:
            return again if again.passed else red  # the others did not end in time
        if again.failure is not None and not again.passed:
            alone = "it failed as well while no other gate ran"
            return replace(again, failure=replace(again.failure, evidence=(*again.failure.evidence, alone)))
        line = one_line(self.env.masker.text(company_line(red.failure) or red.failure.message), _LINE_CHARS_MAX)
        self.scope.send(GateAgain(self.task.issue_id, self.task.number, gate.name, line, beside))
        return again

    def run(self, gate: GateSpec, folder: str) -> GateResult:
        """Run one gate once, with its logs in `folder` of the task's."""
        env, task = self.env, self.task
        self.scope.progress(task.issue_id, task.number, "gate", f"{gate.name} once more" if folder else gate.name)
        allowed = frozenset(dict(task.known).get(gate.name, ())) if task.known is not None else None
        who = f"{gate.name} of {task.issue_id or env.plumbing.repository.main_name}"
        turn = Turn(who, self.alone or gate.alone, None if gate.alone else self.patience_s)
        with env.turns.turn(turn, self.scope.cancel, lambda: self._waits(gate)) as granted:
            if granted is None:
                raise CutShort
            reports = self._reports(gate)
            place = self._place(gate, folder, reports)
            look = None if task.issue_id else self._looking(gate, place)
            result = run_gate(env.launcher, gate, place, env.clock.now(), self.scope.cancel, allowed, look)
        self.beside = tuple(turn.beside)
        if result is None:
            raise CutShort
        if reports is not None:
            self._keep_inventory(gate, reports, place)
        result = self._checked_count(gate, self._blamed(gate, result))
        ensure_folder(self.slot)
        self.left = files_in(self.slot)
        if task.on_main:
            self._note_made()
        self.lost = self._is_lost(failed=not result.passed)
        self._trace(gate)
        if self.written and (result.failure is None or result.failure.rule == DIFFERS):
            result = replace(result, failure=self._changed_files(gate, passed=result.failure is None))
        return masked_record(result, env.masker)

    def _looking(self, gate: GateSpec, place: GatePlace) -> OnOutput:
        """Return what tells how far a gate of main is: before the first attempt nothing else is to be seen."""
        log = place.logs / log_names(gate)[0]
        return looking(self.env, log, lambda line, seconds: self.scope.send(MainSeen(gate.name, line, seconds)))

    @contextmanager
    def by_itself(self, seconds: float, *, wanted: bool = True) -> Iterator[None]:
        """Run gates while no other gate runs, if that is `wanted` and comes about soon; one runs for `seconds`."""
        self.alone, self.patience_s = wanted, min(_PATIENCE_S_MIN + 2 * seconds, _PATIENCE_S_MAX)
        try:
            yield
        finally:
            self.alone = False

    def _waits(self, gate: GateSpec) -> None:
        self.scope.progress(self.task.issue_id, self.task.number, "gate", f"{gate.name} waits for its turn")

    def _reports(self, gate: GateSpec) -> Path | None:
        """Return a fresh folder for the reports of the gate's test runners; None if they are not asked for any.

        A container (`wrap`) does not have the folder.
        """
        env = self.env
        if gate.kind is not GateKind.TEST or gate.accept or gate.command in env.memory.plain or env.sandbox.wrap:
            return None
        folder = self.slot.path.with_name(f"{self.slot.path.name}.reports")
        remove(folder)
        return folder

    def _note_made(self) -> None:
        """Note what setup and gates made of main itself: the outermost folders, and the files beside main's own."""
        paths = self.env.plumbing.whole(self.task.tree).paths
        new = self.left.keys() - paths - {folder for path in paths for folder in above(path)}
        self.env.memory.note_made(path for path in new if path.rpartition("/")[0] not in new)

    def _keep_inventory(self, gate: GateSpec, reports: Path, place: GatePlace) -> None:
        """Keep which tests the gate ran, by id as far as its runners name them.

        Names of tests are stored and shown, so known secrets in them are masked.
        """
        logs = (place.logs / name for name in log_names(gate))
        out, err = (read_bounded(log, _INVENTORY_BYTES_MAX, _INVENTORY_BYTES_MAX) for log in logs)
        inventory = read_inventory(reports, place.seen, out, gate.command, err)
        mask = self.env.masker.text
        names = "\n".join(name for name, _ in inventory.tests) if inventory is not None else ""
        if inventory is not None and mask(names) != names:
            tests = tuple(sorted((mask(name), outcome) for name, outcome in inventory.tests))
            inventory = replace(inventory, tests=tests)
        self.ran[gate.command] = inventory

    def _place(self, gate: GateSpec, folder: str, reports: Path | None) -> GatePlace:
        env, task = self.env, self.task
        # As on a server of CI, where tools take nobody's server for theirs; a person's own value comes after it.
        variables = (("CI", "true"), *gate_variables(env, gate.env_pass, task.token, leaky=gate.leaky))
        if reports is not None:
            ends = f"{env.clock.now() + gate.timeout_s}/{gate.timeout_s}"
            variables = (*instrumented(variables, reports), ("NOFACE_GATE_ENDS", ends))
        logs = real_folder(task.logs / folder, env.plumbing.repository.state_dir)
        for log in log_names(gate):
            remove(logs / log)  # an agent outside a sandbox may have put a folder there
        box, variables = gate_box(env, self.slot, variables, logs, gate, reports)
        return GatePlace(
            folder=self.slot.path,
            logs=logs,
            tree=task.tree,
            list_files=lambda: env.plumbing.paths(task.tree),
            log_bytes_max=env.log_bytes_max,
            env=variables,
            box=box,
            wrap=wrapping(env, str(self.slot.path)) if gate.boxed else (),
            rules=env.gate_rules,
            services=env.sandbox.services,
        )

    def _trace(self, gate: GateSpec) -> None:
        """Compare the tree's files with the tree; git is asked only if the file system shows a write.

        Links, modes and missing files count as well.
        """
        self.written, self.fixed = (), ""
        touched = self._tracked(changed(self.files, self.left))
        if not touched:
            return
        with in_use(self.slot) as git:
            git.run("update-index", "-q", "--refresh")
            names = git.ask("diff-index", "--name-only", "-z", "--no-renames", self.task.tree)
            self.written = written = tuple(path for path in names.split("\0") if path)
            if written and gate.fixes and not self.task.on_main:
                feed = "\0".join(f":(top,literal){path}" for path in written).encode("utf-8", "surrogateescape")
                git.ask("add", "-u", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=feed)
                self.fixed = git.ask("write-tree")

    def _changed_files(self, gate: GateSpec, *, passed: bool) -> Failure:
        """Return the failure of a gate that changed the tree, whatever it says: it proves nothing."""
        written, of_work = self.written, self._of_work()
        others = tuple(path for path in written if path not in of_work) if of_work else ()
        follows = f" ({some(others, _SHOWN_MAX)}: not of the change, but what it makes of it)" if others else ""
        with in_use(self.slot) as git:
            asked = ("diff-index", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", self.task.tree)
            patch = git.run(*asked).stdout[:_EXCERPT_BYTES_MAX].decode("utf-8", "replace")
        first = "it passed, but it" if passed else "it"
        return Failure(
            _FAILED_AS[gate.kind],
            f"{first} changed files that it checks: {some(written, _SHOWN_MAX)}{follows}. What it proved is not what"
            f" would land. Commit what it writes, or {only_checking(gate.command)}",
            rule=CHANGED_FILES,
            signature=f"{CHANGED_FILES}:{','.join(written)}",
            evidence=written[:_SHOWN_MAX],
            excerpt=f"What the gate {gate.name} made of your files:\n{patch}",
            gate=gate.name,
        )

    def _of_work(self) -> frozenset[str]:
        """Return the paths in which the task's tree differs from main's; none if main itself is gated."""
        changes = self.env.plumbing.changes(self.task.main, self.task.tree)
        return frozenset(change.path for change in changes)

    def _tracked(self, paths: frozenset[str]) -> frozenset[str]:
        """Return those of the paths that belong to the task's tree."""
        return paths & set(self.env.plumbing.paths(self.task.tree)) if paths else paths

    def _keep_build(self) -> None:
        """Let the next gate rely on what a build gate made; the tree's own files are restored."""
        if other := changed(self.files, self.left):
            restore_tracked(self.slot, self.task.tree, sorted(self._tracked(other)))
        self._remember()

    def _remember(self) -> None:
        give_git(self.slot, self.task.issue_id or "main", self.task.commit)
        self._folder = HeldFolder(self.slot.path)
        self.files = self.left = files_in(self.slot)
        self.kept = self._kept_now()
        self._keeps = tuple(path for path in self.slot.keep if os.path.lexists(self.slot.path / path))

    @property
    def replaced(self) -> bool:
        """True if the folder is not the one that was made ready."""
        return self._folder is None or not self._folder.stands()

    def _is_lost(self, *, failed: bool) -> bool:
        """True if the folder, its git or kept paths are gone, or files of the tree under a gate that `failed`."""
        there = all(os.path.lexists(self.slot.path / path) for path in (".git/HEAD", *self._keeps))
        missing = failed and self._tracked(frozenset(self.files.keys() - self.left.keys()))
        return self.replaced or not there or bool(missing)

    def _kept_now(self) -> str:
        return kept_digest(self.slot.path / path for path in self.slot.keep)

    def _checked_count(self, gate: GateSpec, result: GateResult) -> GateResult:
        """Refuse a green test gate that reports no test where main's run has some: `os._exit(0)` ends with 0 too."""
        env, task = self.env, self.task
        main = env.memory.green(env.key(env.plumbing.tree(task.main), gate))
        expected = main.tests_run if main is not None and not task.on_main else None
        if result.failure is not None or result.tests_run or not expected or gate.kind is not GateKind.TEST:
            return result
        message = f"exit code 0, but it reports no test; on main this gate ran {expected}"
        rule = "no-tests-where-main-has"
        failure = Failure(FailureKind.NO_TESTS, message, rule=rule, signature=rule, evidence=(message,), gate=gate.name)
        return replace(result, failure=failure)

    def _blamed(self, gate: GateSpec, result: GateResult) -> GateResult:
        """Charge an environment failure to the change if the same gate passes on main with the same set-up."""
        env, failure = self.env, result.failure
        if failure is None or failure.kind is not FailureKind.ENVIRONMENT or failure.rule == OTHERS_SERVER:
            return result
        green = env.memory.green(env.key(env.plumbing.tree(self.task.main), gate))
        if green is None or green.failure is not None:
            return result
        first = green.first_failure
        if first is not None and (not green.unsteady or first.kind is FailureKind.ENVIRONMENT):
            return result  # a gate that is green only now and then blames nobody; unsteady tests are known by name
        return replace(result, failure=blamed(failure, self.task.main))


def blamed(failure: Failure, main: str) -> Failure:
    """Return an environment failure as one of the change's, with which alone the gate has it.

    Not where the project's own rule calls it that: the person who wrote it knows what its line means.
    """
    if is_of_project(failure.rule):
        return failure
    note = f"the same gate passes on main ({main[:12]}), so the change is to blame"
    return replace(failure, charged=True, evidence=(*failure.evidence, note))
