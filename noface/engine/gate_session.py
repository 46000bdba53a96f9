"""A gate slot with a task: made ready, one gate run in it at a time, and what each gate left told from what was there.

Gates run the change's own code, which could make a later gate pass. So a gate finds the task's tree, what setup left in
the kept paths, and what the build gates before it have made there and elsewhere; nothing else. And what a gate judged
must be what lands: where one leaves a file of the tree other than it was, its verdict is about something else.

What gates leave is told apart from what was there before by what the file system says of a file; content is not read.
ctime cannot be set back.
"""

import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from noface.engine.attempt_environment import AttemptEnvironment, Progress, Tell
from noface.engine.isolation import gate_box, gate_variables, wrapping
from noface.engine.prepare import kept_digest, prepare_gate_slot
from noface.gates.inventory import instrumented, read_inventory
from noface.gates.run import GatePlace, log_name, log_names, run_gate
from noface.git.private_git_dir import with_private_config
from noface.git.refs import RefUpdate, hold_ref
from noface.git.removal import remove, remove_below
from noface.git.workspace import Slot, give_git, in_use
from noface.integrity.evasion import only_checking
from noface.integrity.inventory import Inventory
from noface.model.failure import Failure
from noface.model.gate import GateKind, GateResult, GateSpec
from noface.model.quoting import some
from noface.model.taxonomy import FailureKind
from noface.process.failpoints import hit
from noface.process.files import read_bounded, real_folder
from noface.process.supervise import Canceller
from noface.secrets.masked_records import masked_gate

Files = Mapping[str, tuple[int, ...]]
"""What was in a slot, but for its `.git` and the kept paths, by path relative to it."""


def files_in(slot: Slot) -> Files:
    """Return what lies in the slot now. Folders count by their mode, links by themselves."""
    top = os.fspath(slot.path)
    beside = {f"{top}/.git", *(f"{top}/{path.strip('/')}" for path in slot.keep)}
    found: dict[str, tuple[int, ...]] = {}
    pending = [top]
    while pending:
        folder = pending.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            found[os.path.relpath(folder, top)] = ()  # closed, or gone meanwhile: it is not as it was
            continue
        for entry in entries:
            if entry.path in beside:
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except OSError:
                continue
            if stat.S_ISDIR(status.st_mode):
                found[entry.path[len(top) + 1 :]] = (status.st_mode,)
                pending.append(entry.path)
                continue
            found[entry.path[len(top) + 1 :]] = (
                status.st_mode,
                status.st_ino,
                status.st_size,
                status.st_mtime_ns,
                status.st_ctime_ns,
            )
    return found


def changed(before: Files, now: Files) -> frozenset[str]:
    """Return the paths of `before` that are other, or gone, now."""
    return frozenset(path for path, entry in before.items() if now.get(path) != entry)


def remove_new(slot: Slot, before: Files, now: Files) -> None:
    """Remove what is there now and was not before."""
    new = now.keys() - before.keys()
    for path in new:
        if str(Path(path).parent) not in new:
            remove_below(slot.path, path)


def restore_tracked(slot: Slot, tree: str, paths: Iterable[str]) -> None:
    """Give these files of `tree` back as they are in it; what is not of the tree is left."""
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
CHANGED_FILES = "gate-changed-files"
"""The rule of a gate that leaves files of the tree other than they were."""

_SHOWN_MAX = 10
_INVENTORY_BYTES_MAX = 32 << 20
_EXCERPT_BYTES_MAX = 6_000
_FAILED_AS = {
    GateKind.BUILD: FailureKind.RUNTIME_ERROR,
    GateKind.LINT: FailureKind.LINT_FAILURE,
    GateKind.TEST: FailureKind.TEST_FAILURE,
}


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

    @property
    def on_main(self) -> bool:
        """True where it is main itself that is gated."""
        return self.commit == self.main


@dataclass(frozen=True, slots=True)
class Traces:
    """What the last gate did to files of the tree: `written` are other now, `rewritten` were written and are the same.

    `fixed` is the tree with what was written, where the gate may write.
    """

    written: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()
    fixed: str = ""


@dataclass(slots=True)
class GateSession:
    """A gate slot with a task: makes it ready, and runs gates in it.

    `files` and `kept` tell what the next gate may find there, beside the kept paths and in them; `left` what lies there
    since the last gate.
    """

    env: AttemptEnvironment
    slot: Slot
    task: Task
    cancel: Canceller
    tell: Tell
    known: Known | None
    files: Files = field(default_factory=dict)
    left: Files = field(default_factory=dict)
    kept: str = ""
    traces: Traces = field(default_factory=Traces)

    def ready(self) -> Failure | None:
        """Check the task's tree out, clean; return why that failed, if it did."""
        env, slot, task = self.env, self.slot, self.task
        if not task.on_main:
            env.plumbing.refs.apply(RefUpdate(hold_ref(task.issue_id, f"gating-{task.name}"), task.tree))
        failure = prepare_gate_slot(env, slot, task.tree, task.main, task.token, self.cancel)
        if failure is None:
            self._take_note()
            hit("gate_checkout")
        return failure

    def settle(self, before: tuple[GateSpec, ...]) -> Failure | None:
        """Undo what the last of the gates `before` has left, unless it was a build; return why that failed."""
        last = before[-1]
        other = changed(self.files, self.left)
        if last.kind is GateKind.BUILD:
            self._keep_build(other)
            return None
        kept_untouched = self._kept_now() == self.kept
        if kept_untouched and not other:
            remove_new(self.slot, self.files, self.left)
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
                self._keep_build(changed(self.files, self.left))
        return True

    def run(self, gate: GateSpec, folder: str) -> GateResult | None:
        """Run one gate once, with its logs in `folder` of the task's; None where it was cancelled."""
        env, task = self.env, self.task
        self.tell(Progress(task.issue_id, task.number, "gate", f"{gate.name} once more" if folder else gate.name))
        known_here = dict(self.known).get(gate.name) if self.known is not None else None
        allowed = frozenset(known_here or ()) if self.known is not None else None
        reports = self._reports(gate)
        place = self._place(gate, folder, reports)
        result = run_gate(env.launcher, gate, place, env.clock.now(), self.cancel, allowed)
        if result is None:
            return None
        if reports is not None:
            self._keep_inventory(gate, reports, place)
        if result.failure is not None and result.failure.kind is FailureKind.ENVIRONMENT:
            result = _blamed(env, task, gate, result)
        result = _counted(env, task, gate, result)
        self.left = files_in(self.slot)
        self.traces = self._traces(gate)
        if self.traces.written and result.failure is None:
            result = replace(result, failure=self._changed_files(gate))
        return masked_gate(result, env.masker)

    def _reports(self, gate: GateSpec) -> Path | None:
        """Return a fresh folder for what the gate's test runners report; None where they are not asked.

        In a container the folder would not be there.
        """
        env = self.env
        if gate.kind is not GateKind.TEST or gate.accept or gate.command in env.gate_facts.plain or env.sandbox.wrap:
            return None
        folder = self.slot.path.with_name(f"{self.slot.path.name}.reports")
        remove(folder)
        return folder

    def _keep_inventory(self, gate: GateSpec, reports: Path, place: GatePlace) -> None:
        """Take in which tests the gate ran, by id as far as its runners tell; what it told before counts no more."""
        logs = (place.logs / name for name in log_names(gate))
        out, err = (read_bounded(log, _INVENTORY_BYTES_MAX, _INVENTORY_BYTES_MAX) for log in logs)
        found = read_inventory(reports, self.slot.path, out, gate.command, err)
        key = (self.task.tree, gate.command)
        self.env.gate_facts.asked.add(key)
        self.env.gate_facts.inventories.pop(key, None)
        if found is not None:
            self.env.gate_facts.inventories[key] = self._masked(found)

    def _masked(self, found: Inventory) -> Inventory:
        """Return an inventory without the known secrets: its names are kept, and told."""
        masker = self.env.masker
        told = "\n".join(name for name, _ in found.tests)
        if masker.text(told) == told:
            return found
        return replace(found, tests=tuple(sorted((masker.text(name), outcome) for name, outcome in found.tests)))

    def _place(self, gate: GateSpec, folder: str, reports: Path | None) -> GatePlace:
        env, task = self.env, self.task
        variables = gate_variables(env, gate.env_pass, task.token, leaky=gate.leaky)
        if reports is not None:
            variables = instrumented(variables, reports)
        box = None
        if gate.boxed:
            box, variables = gate_box(
                env, self.slot, variables, network=gate.network, leaky=gate.leaky, reports=reports
            )
        logs = real_folder(task.logs / folder, env.plumbing.repository.state_dir)
        for log in log_names(gate):
            remove(logs / log)  # an agent outside a sandbox may have put a folder there
        if box is None:
            variables = with_private_config(variables, logs, env.plumbing.repository.identity, self.slot.path)
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
        )

    def _traces(self, gate: GateSpec) -> Traces:
        """Look at what became of the tree's files; git is asked only where the file system says that one was written.

        Links, modes and files that are gone count as well.
        """
        paths = set(self.env.plumbing.paths(self.task.tree)) if (other := changed(self.files, self.left)) else set()
        touched = other & paths
        if not touched:
            return Traces()
        with in_use(self.slot) as git:
            git.run("update-index", "-q", "--refresh")
            told = git.ask("diff-index", "--name-only", "-z", "--no-renames", self.task.tree)
            written = tuple(path for path in told.split("\0") if path)
            fixed = ""
            if written and gate.fixes and not self.task.on_main:
                feed = "\0".join(f":(top,literal){path}" for path in written).encode("utf-8", "surrogateescape")
                git.ask("add", "-u", "--pathspec-from-file=-", "--pathspec-file-nul", stdin=feed)
                fixed = git.ask("write-tree")
        return Traces(written, tuple(sorted(touched - set(written))), fixed)

    def _changed_files(self, gate: GateSpec) -> Failure:
        """Return the failure of a gate that was green and left the tree other than it had it: it proves nothing."""
        written = self.traces.written
        with in_use(self.slot) as git:
            asked = ("diff-index", "-p", "--no-renames", "--no-ext-diff", "--no-textconv", self.task.tree)
            patch = git.run(*asked).stdout[:_EXCERPT_BYTES_MAX].decode("utf-8", "replace")
        return Failure(
            _FAILED_AS[gate.kind],
            f"it passed, but it changed files that it checks: {some(written, _SHOWN_MAX)}. What it proved is not what"
            f" would land. Commit what it writes, or {only_checking(gate.command)}",
            rule=CHANGED_FILES,
            signature=f"{CHANGED_FILES}:{','.join(written)}",
            evidence=written[:_SHOWN_MAX],
            excerpt=f"What the gate {gate.name} made of your files:\n{patch}",
            gate=gate.name,
        )

    def _keep_build(self, other: frozenset[str]) -> None:
        """Take what a build gate made for what the next gate may find; the tree's own files are as before."""
        if other:
            paths = set(self.env.plumbing.paths(self.task.tree))
            restore_tracked(self.slot, self.task.tree, sorted(other & paths))
        self._take_note()

    def _take_note(self) -> None:
        give_git(self.slot, self.task.issue_id or "main", self.task.commit)
        self.files = self.left = files_in(self.slot)
        self.kept = self._kept_now()

    def _kept_now(self) -> str:
        return kept_digest(self.slot.path / path for path in self.slot.keep)


def _counted(env: AttemptEnvironment, task: Task, gate: GateSpec, result: GateResult) -> GateResult:
    """Refuse a green test gate that tells of no test where main's run did: `os._exit(0)` also ends with exit 0."""
    if task.on_main:
        if result.tests_run and task.tree == env.plumbing.tree(task.main):
            env.gate_facts.counts[gate.command] = result.tests_run
        return result
    expected = env.gate_facts.counts.get(gate.command)
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


def _blamed(env: AttemptEnvironment, task: Task, gate: GateSpec, result: GateResult) -> GateResult:
    """Charge an environment failure to the change where the same gate has passed on main with the same set-up."""
    green = env.memo.get(env.key(env.plumbing.tree(task.main), gate))
    if green is None or green.failure is not None or green.flaky or result.failure is None:
        return result  # a gate that is green only now and then blames nobody
    note = f"the same gate passes on main ({task.main[:12]}), so the change is to blame"
    failure = replace(result.failure, charged=True, evidence=(*result.failure.evidence, note))
    return replace(result, failure=failure)
