"""Keeps a green from being bought: main's own tests and settings judge the change, and every test of main's is there.

After the gates are green on the change:

1. Where it touches what judges it (tests, what steers runners and linters, what gates call), the gates run once more
   with main's versions of that. Red then and green before means that the change altered its judge. Tests that the
   change adds are left out of this run, so that they cannot lend a hand to it.
2. Each test that passed on main must be there by its id, and pass. The runners are asked for their ids by noface.
3. What may judge and may as well be the product (build files, settings) is put back where no ids tell for the tests.

Nothing is run again where nothing of that kind is touched and the ids are there.
"""

from dataclasses import dataclass, field, replace

from noface.engine.attempt_environment import AttemptEnvironment, Progress, Tell
from noface.engine.gate_session import Known, Task
from noface.engine.gating import Gated, gate_task, run_gates
from noface.engine.protected_files import reached
from noface.git.plumbing import Entry, entries_before, store_text, tree_with
from noface.git.refs import RefUpdate, hold_ref
from noface.integrity.diff import REWRITTEN
from noface.integrity.inner_tests import with_main_tests
from noface.integrity.inventory import Inventory, Shortfall, agreed, compared, each_once, newly_skipped, without
from noface.integrity.judges import Part, Touched, lifted, part_of, touched, with_main_judging
from noface.integrity.tampering import altered, missing, skipped
from noface.model.attempt import ABSENT, AttemptOrder, Judgement
from noface.model.failure import Failure
from noface.model.gate import GateKind, GateResult, GateSpec
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind
from noface.process.supervise import Canceller

_TEXT_BYTES_MAX = 4_000_000


class CutShort(Exception):  # noqa: N818 - no error: somebody wants noface to stop
    """It was cancelled before it could be told."""


@dataclass(slots=True)
class Judges:
    """Judges one change whose gates, as it has them, are green. `failure` raises CutShort where it is cancelled."""

    env: AttemptEnvironment
    task: Task
    issue: Issue
    gates: tuple[GateSpec, ...]
    cancel: Canceller
    tell: Tell
    known: Known | None
    _excused: set[tuple[str, str]] = field(default_factory=set)
    _own: frozenset[str] = frozenset()

    def failure(self) -> Failure | None:
        """Return why the change must not land by itself, None where main's tests and settings find nothing."""
        plumbing, task = self.env.plumbing, self.task
        changes = plumbing.changes(task.main, task.tree)
        told = touched(changes, self.issue, reached(plumbing, task.main, self.gates).files)
        hard = {**entries_before(told.hard), **self._sections(told), **self._inner_tests(told)}
        tree = tree_with(plumbing, task.tree, hard) if hard else task.tree
        only_tests = not told.config and not told.manifests
        found = self._judged(tree, tuple(hard), only_tests=only_tests) if tree != task.tree else None
        self._own = frozenset(c.path for c in changes if part_of(c.path) is Part.TEST and lifted(c.path, self.issue))
        found = found or self._absent(tree, tuple(hard)) or self._skipped(told)
        if found is None and told.soft and not self._all_by_id():
            soft = entries_before(told.soft)
            found = self._judged(tree_with(plumbing, task.tree, {**hard, **soft}), tuple(soft), only_tests=False)
        return found

    def fewer(self) -> tuple[str, ...] | None:
        """Return the tests that passed on main and are skipped on the change itself, or gone where fewer pass there.

        None where the ids are not known.
        """
        gone: list[str] = []
        for gate in self._by_id():
            main, now = self._inventory(self._main_tree, gate), self._inventory(self.task.tree, gate)
            if main is None or now is None or not main.tests:
                return None
            short = compared(main, now)
            gone += short.skipped
            if now.passed < main.passed:
                gone += short.gone
        return tuple(gone)

    @property
    def _main_tree(self) -> str:
        return self.env.plumbing.tree(self.task.main)

    def _judged(self, tree: str, paths: tuple[str, ...], *, only_tests: bool) -> Failure | None:
        """Run the gates on the change with main's judges; return what they find, twice: tests may be unsteady."""
        kinds = (GateKind.BUILD, GateKind.TEST) if only_tests else tuple(GateKind)
        gates = tuple(gate for gate in self.gates if gate.hard and not gate.accept and gate.kind in kinds)
        gated = self._run(tree, gates)
        if gated.failure is None and any(not result.passed for result in gated.results):
            gated = self._run(tree, gates, anew=True)
        if gated.failure is not None:
            return altered(paths, replace(gated.failure, charged=True))
        reds = (result for result in gated.results if not result.passed)
        red = next((r for r in reds if not (only_tests and self._short_of_new_tests(tree, r))), None)
        return altered(paths, _named(red, red.failure)) if red is not None and red.failure is not None else None

    def _short_of_new_tests(self, tree: str, red: GateResult) -> bool:
        """Tell whether a gate is red for want of the change's own tests alone: a threshold of coverage, say.

        Each of main's tests passes then by its id; the settings, which are main's, were met with the change's tests.
        """
        if red.failing_tests or red.failure is None or red.failure.failing_tests or red.gate not in self._by_id():
            return False
        main = self._inventory(self._main_tree, red.gate)
        now = self.env.gate_facts.inventories.get((tree, red.gate.command))
        if main is None or not main.tests or now is None or not each_once(main, now):
            return False
        self._excused.add((tree, red.gate.command))
        return True

    def _absent(self, tree: str, paths: tuple[str, ...]) -> Failure | None:
        """Return which tests that pass on main are missing on `tree`, or do not pass there."""
        for gate in self._by_id():
            main = self._inventory(self._main_tree, gate)
            if main is None:
                continue
            # What broke off for want of the change's tests is asked for with them.
            whole = self.task.tree if (tree, gate.command) in self._excused else tree
            short = self._unhidden(compared(main, self._inventory(whole, gate)))
            if short.short:
                short = self._unhidden(self._steadily(gate, main, whole))
            if short.short:
                return missing(gate, paths, short)
        return None

    def _unhidden(self, short: Shortfall) -> Shortfall:
        """Leave out what is no secret: tests that the issue is about, and where main's failures are known, red ones."""
        short = without(short, self._own)
        return short if self.known is None else replace(short, failed=())

    def _skipped(self, told: Touched) -> Failure | None:
        """Return which of the tests that the change itself adds are skipped."""
        for gate in self._by_id() if told.tests or told.sources else ():
            main = self._inventory(self._main_tree, gate)
            names = newly_skipped(main, self._inventory(self.task.tree, gate)) if main is not None else ()
            if names:
                return skipped(gate, names)
        return None

    def _steadily(self, gate: GateSpec, main: Inventory, tree: str) -> Shortfall:
        """Compare with what two runs on main have in common: ids may hold the time, and tests come and go."""
        self._run(self._main_tree, (gate,), on_main=True)
        again = self.env.gate_facts.inventories.get((self._main_tree, gate.command))
        both = agreed(main, again) if again is not None else main
        self.env.gate_facts.inventories[self._main_tree, gate.command] = both
        return compared(both, self._inventory(tree, gate))

    def _by_id(self) -> tuple[GateSpec, ...]:
        """Return the hard gates that run tests of the project's."""
        plain = self.env.gate_facts.plain
        return tuple(
            g for g in self.gates if g.kind is GateKind.TEST and g.hard and not g.accept and g.command not in plain
        )

    def _all_by_id(self) -> bool:
        """Tell whether all hard test gates name their tests, so that none can be lost unseen."""
        tests = [gate for gate in self.gates if gate.kind is GateKind.TEST and gate.hard and not gate.accept]
        known = [self._inventory(self._main_tree, gate) for gate in self._by_id()]
        return len(known) == len(tests) and all(each is not None and each.tests for each in known)

    def _inventory(self, tree: str, gate: GateSpec) -> Inventory | None:
        """Return which tests a gate ran on a tree; it is run where nobody knows, as after a restart."""
        key = (tree, gate.command)
        if key not in self.env.gate_facts.inventories and key not in self.env.gate_facts.asked:
            self._run(tree, (gate,), on_main=tree == self._main_tree)
        self.env.gate_facts.asked.add(key)
        return self.env.gate_facts.inventories.get(key)

    def _run(self, tree: str, gates: tuple[GateSpec, ...], *, on_main: bool = False, anew: bool = False) -> Gated:
        """Run gates, and the builds before them, on a tree that is not the task's own."""
        env, task = self.env, self.task
        builds = tuple(g for g in self.gates if g.kind is GateKind.BUILD and g.hard and g not in gates)
        self.tell(Progress(task.issue_id, task.number, "gate", "once more, as main's own tests see it"))
        if not on_main:
            env.plumbing.refs.apply(RefUpdate(hold_ref(task.issue_id, f"gating-{task.name}"), tree))
        folder = "main" if on_main else "judges"
        commit = task.main if on_main else task.commit
        other = replace(task, tree=tree, commit=commit, logs=task.logs / folder)
        tests = [gate for gate in gates if gate.kind is GateKind.TEST]
        unknown = any((tree, gate.command) not in env.gate_facts.inventories for gate in tests)
        gated = run_gates(env, other, (*builds, *gates), self.cancel, self.tell, self.known, anew=anew or unknown)
        if gated is None:
            raise CutShort
        return gated

    def _sections(self, told: Touched) -> dict[str, Entry | None]:
        """Return the touched manifests with main's judging sections, as far as these differ from the change's."""
        plumbing = self.env.plumbing
        found: dict[str, Entry | None] = {}
        with plumbing.blobs() as blobs:
            for change in told.manifests:
                main, now = (
                    "" if mode == ABSENT else (blobs.read(oid, _TEXT_BYTES_MAX) or b"").decode("utf-8", "replace")
                    for mode, oid in ((change.old_mode, change.old_oid), (change.new_mode, change.new_oid))
                )
                if change.new_mode == ABSENT:
                    found |= entries_before((change,))
                    continue
                as_it_is = with_main_judging(change.path, now, now)
                judging = with_main_judging(change.path, main, now)
                if judging is None:
                    found |= entries_before((change,))
                elif judging != as_it_is:
                    found[change.path] = (change.new_mode, store_text(plumbing, judging))
        return found

    def _inner_tests(self, told: Touched) -> dict[str, Entry | None]:
        """Return the source files that hold tests, with those of main."""
        plumbing = self.env.plumbing
        found: dict[str, Entry | None] = {}
        with plumbing.blobs() as blobs:
            for change in told.sources:
                old, new = (blobs.read(oid, _TEXT_BYTES_MAX) or b"" for oid in (change.old_oid, change.new_oid))
                text = with_main_tests(change.path, old.decode("utf-8", "replace"), new.decode("utf-8", "replace"))
                if text is not None:
                    found[change.path] = (change.new_mode, store_text(plumbing, text))
        return found


def _named(red: GateResult, failure: Failure) -> Failure:
    return replace(failure, gate=red.gate.name, failing_tests=red.failing_tests or failure.failing_tests)


def gates_tell(early: Failure, order: AttemptOrder) -> bool:
    """Tell whether a suspicion of weakened tests waits for the gates.

    Tests that were rewritten may be as many when they run; and where the issue has commands of its own, which were red
    on main, the weakening may be what it wants: that is for somebody to look at.
    """
    if early.kind is not FailureKind.GATE_TAMPERING:
        return False
    return early.rule == REWRITTEN or bool(order.issue.accept)


def unbought(
    order: AttemptOrder,
    env: AttemptEnvironment,
    judged: Judgement,
    tree: str,
    suspicion: Failure | None,
    cancel: Canceller,
    tell: Tell,
) -> Judgement:
    """Return the judgement of work whose gates are green, as main's own tests and settings see it (law 11)."""
    main = judged.proof.main if judged.proof is not None else env.plumbing.main()
    task = gate_task(order, tree, judged.snapshot.candidate, main)
    judges = Judges(env, task, order.issue, order.gates, cancel, tell, order.known_failures)
    try:
        bought = judges.failure()
        if bought is None and suspicion is not None and suspicion.rule == REWRITTEN and judges.fewer() == ():
            suspicion = None
    except CutShort:
        return replace(judged, interrupted=True, proof=None)
    found = tuple(failure for failure in (bought, suspicion) if failure is not None)
    if not found:
        return judged
    if order.issue.accept:
        return replace(judged, doubts=tuple(failure.message for failure in found))
    return replace(judged, failure=found[0], proof=None)
