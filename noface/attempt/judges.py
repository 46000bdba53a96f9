"""Has main's own tests and settings judge a change, so that no change can be green by altering its judges (law 11).

After the gates are green on the change:

1. Where it touches what judges it (tests, what steers runners and linters, what gates call), the gates run once more
   with main's versions of that. Red then and green before means that the change altered its judge. Tests that the
   change adds stay out of this run, so that they cannot help it.
2. Each test that passes on main must be there by its id, and pass. noface asks the test runners for the ids. What they
   report must agree with how the gate ended and what it printed (`integrity/agreement.py`).
3. Files that may judge and may as well be the product (build files, settings) are main's in another run, where ids do
   not show what the tests do; so are those that only judges use (`parts.py`), each group in a run of its own.

Nothing runs again if nothing of that kind is touched and the ids are there.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from noface.attempt.parts import Parts
from noface.attempt.trial import Trial
from noface.git.objects import ObjectReader
from noface.git.plumbing import entries_before, store_text
from noface.git.stored import Entry
from noface.integrity.agreement import disagreement
from noface.integrity.diff.rules import REWRITTEN
from noface.integrity.inner_tests import with_main_tests
from noface.integrity.inventory import (
    Inventory,
    Shortfall,
    agreed,
    compared,
    each_once,
    file_of,
    kept,
    newly_skipped,
    without,
)
from noface.integrity.judges import Part, Touched, lifted, may_be_made, part_of, touched, with_main_judging
from noface.integrity.tampering import (
    ALTERED,
    BY_BODY,
    EMPTIED,
    altered,
    assertions,
    contradicted,
    missing,
    named_among,
    renamed_tests,
    skipped,
    unbelieved,
)
from noface.model.attempt import ABSENT, REGULAR, FileChange
from noface.model.failure import Failure
from noface.model.gate import GateKind, GateResult, GateSpec
from noface.model.issue import Issue
from noface.model.taxonomy import FailureKind

_TEXT_BYTES_MAX = 4_000_000
_TESTING = (GateKind.BUILD, GateKind.TEST)


@dataclass(slots=True)
class Judges(Trial):
    """Judges one change whose gates, as it has them, are green.

    `taken` are tests that may be gone, as far as main's ids tell: it is asked, or was, whether the issue wants that.
    """

    taken: tuple[str, ...] = ()
    _excused: set[tuple[str, str]] = field(default_factory=set)
    _own: frozenset[str] = frozenset()

    def failure(self) -> Failure | None:
        """Return why the change must not land by itself, None if main's tests and settings accept it."""
        task, changes = self.task, self.plumbing.changes(self.task.main, self.task.tree)
        self.parts = parts = Parts.known(self.scope.env, task.main, self.gates, tree=task.tree)
        called = parts.reached.files
        judging = touched(changes, self.issue, parts)
        of_main = self._of_main(changes, parts)
        judges = [c for path, each in of_main.items() if parts(path) in (Part.TEST, Part.CONFIG) for c in each]
        in_place_of = (change for change in judges if change.old_mode == ABSENT)
        judging = replace(judging, tests=tuple(dict.fromkeys((*judging.tests, *in_place_of))))
        failure = self._altered(judging, called)
        for group in parts.by_use(of_main) if failure is None else ():
            by_use = replace(judging, tests=(*judging.tests, *(c for path in group for c in of_main[path])))
            failure = failure or self._altered(by_use, called)
        return failure

    def _of_main(self, changes: Iterable[FileChange], parts: Parts) -> dict[str, list[FileChange]]:
        """Return what the change does to files of main, and which new files may be found in the place of one."""
        by_part = defaultdict[str, list[FileChange]](list)
        for change in changes:
            path = change.path if change.old_mode != ABSENT else parts.stands_for(change.path)
            if path and not lifted(change.path, self.issue):
                by_part[path].append(change)
        return by_part

    def _moved(self, judging: Touched) -> dict[str, str]:
        """Return which test files of main are gone, and where they stand now with all that they assert."""
        with self.plumbing.blobs() as blobs:
            now = {assertions(_text(blobs, c.new_oid)): c.path for c in judging.tests if c.old_mode == ABSENT}
            was = ((c.path, assertions(_text(blobs, c.old_oid))) for c in judging.tests if c.new_mode == ABSENT)
            return {path: now[asserted] for path, asserted in was if asserted and asserted in now}

    def _altered(self, judging: Touched, called: Collection[str]) -> Failure | None:
        """Return what main's versions of these files have against the change, but for those that a gate makes."""
        failure = self._against(judging)
        while failure is not None and failure.rule == ALTERED and (made := self._made(failure.gate, judging, called)):
            groups = (judging.tests, judging.config, judging.soft)
            tests, config, soft = (tuple(c for c in each if c.path not in made) for each in groups)
            judging = replace(judging, tests=tests, config=config, soft=soft)
            failure = self._against(judging)
        return failure

    def _made(self, name: str | None, judging: Touched, called: Collection[str]) -> frozenset[str]:
        """Return which of the change's text and data the gate of this `name` makes itself: they judge nothing there.

        Main shows that, if none of the change's code is: of their versions the gate makes main's again.
        """
        plumbing, main = self.plumbing, self.main_tree
        by_use = (c for c in judging.tests if part_of(c.path) is not Part.TEST)
        files = (c for c in (*by_use, *judging.config, *judging.soft) if {c.old_mode, c.new_mode} <= REGULAR)
        paths = tuple(c.path for c in files if may_be_made(c.path, called))
        gate = next((gate for gate in self.gates if gate.name == name), None)
        if gate is None or not paths:
            return frozenset()
        tree = plumbing.tree_with(main, plumbing.entries(self.task.tree, paths))
        made = self.made_of(tree, gate)
        left = {c.path for c in plumbing.changes(main, made)} if made is not None else set(paths)
        return frozenset(paths) - left if left <= set(paths) else frozenset()

    def _against(self, judging: Touched) -> Failure | None:
        """Return what main's versions of these files have against the change."""
        plumbing, task = self.plumbing, self.task
        changes = plumbing.changes(task.main, task.tree)
        hard = self._mains(judging)
        tree = plumbing.tree_with(task.tree, hard) if hard else task.tree
        kinds = _TESTING if not judging.config and not judging.manifests else tuple(GateKind)
        failure = self._judged(tree, tuple(hard), kinds) if tree != task.tree else None
        if failure is not None and failure.rule == ALTERED and self._only_contradicted(judging, hard, tree):
            return contradicted(failure)
        self._own = frozenset(c.path for c in changes if part_of(c.path) is Part.TEST and lifted(c.path, self.issue))
        failure = failure or self._absent(tree, tuple(hard)) or self._skipped(judging) or self._unbelieved(tree)
        if failure is None and judging.soft and not self._all_by_id():
            soft = entries_before(judging.soft)
            tree = plumbing.tree_with(task.tree, {**hard, **soft})
            failure = self._judged(tree, tuple(soft), tuple(GateKind))
        return failure

    def _mains(self, judging: Touched) -> dict[str, Entry | None]:
        """Return main's versions of what judges, of a file that also does something else as far as it judges."""
        return {**entries_before(judging.hard), **self._sections(judging), **self._inner_tests(judging)}

    def _only_contradicted(self, judging: Touched, hard: Mapping[str, Entry | None], tree: str) -> bool:
        """True if all that speaks against the change is that tests it keeps ask for something else than main's.

        `tree` is the change with main's judges. Every test that passes on main is there by its id, if need be with
        other parameters or another name, and passes in the change's version, but for those that are `taken`. The change
        rewrites those that fail in main's version, or what they are made of: a new file beside them is no reason. What
        else of the change judges it is as good as main's. Only then can the issue be asked.
        """
        if not self._all_by_id() or self._lacks(judging):
            return False
        judges = (c for c in (*judging.tests, *judging.sources) if c.path in hard)
        files = {name.partition("::")[0] for name in self.taken}
        rewritten = {c.path for c in judges if c.old_mode != ABSENT and (c.new_mode != ABSENT or c.path in files)}
        rewritten |= self._moved(judging).keys()
        failing = set[str]()
        for gate in self.by_id:
            main = self.inventory(self.main_tree, gate)
            short = compared(main, self.inventory(tree, gate)) if main is not None else Shortfall()
            failing |= {file_of(name) for name in (*short.failed, *short.gone)}
        if not failing or not rewritten:
            return False
        others = {path: entry for path, entry in hard.items() if self.parts(path) in (Part.CONFIG, Part.MANIFEST)}
        others |= entries_before(judging.soft)
        if not failing <= rewritten:
            others |= entries_before(change for change in judging.tests if change.old_mode == ABSENT)
        if not others:
            return True
        tree = self.plumbing.tree_with(self.task.tree, others)
        return self._judged(tree, tuple(others), tuple(GateKind)) is None

    def _lacks(self, judging: Touched) -> bool:
        """True if a test of main is not kept by the change, whatever its name or parameters, or a new one skipped.

        Those that are `taken` need not be.
        """
        patch = self.plumbing.diff(self.task.main, self.task.tree).patch
        names = renamed_tests(patch.decode("utf-8", "replace")) | self._moved(judging)
        for gate in self.by_id:
            main, now = self.inventory(self.main_tree, gate), self.inventory(self.task.tree, gate)
            if main is None or now is None or newly_skipped(main, now):
                return True
            lost = kept(main, now, names)
            if replace(lost, gone=tuple(each for each in lost.gone if not named_among(each, self.taken))).short:
                return True
        return False

    def fewer(self) -> tuple[str, ...] | None:
        """Return main's passing tests that the change itself skips, or that are gone where fewer pass there.

        None if the ids are not known.
        """
        gone: list[str] = []
        for gate in self.by_id:
            main, now = self.inventory(self.main_tree, gate), self.inventory(self.task.tree, gate)
            if main is None or now is None or not main.tests:
                return None
            short = compared(main, now)
            gone += short.skipped
            if now.passed < main.passed:
                gone += short.gone
        return tuple(gone)

    def _judged(self, tree: str, paths: tuple[str, ...], kinds: Collection[GateKind]) -> Failure | None:
        """Run the gates on the change with main's judges; red counts only twice, since tests may be flaky."""
        gates = tuple(gate for gate in self.gates if gate.hard and not gate.accept and gate.kind in kinds)
        gated = self.run_on(tree, tuple(replace(gate, again=0) for gate in gates))
        if gated.failure is None and any(not result.passed for result in gated.results):
            gated = self.run_on(tree, gates, anew=True)
        if gated.failure is not None:
            return altered(paths, replace(gated.failure, charged=True), self.parts.why)
        reds = (result for result in gated.results if not result.passed)
        red = next((r for r in reds if not (kinds == _TESTING and self._short_of_new_tests(tree, r))), None)
        if red is None or red.failure is None:
            return None
        tests = red.failing_tests or red.failure.failing_tests
        return altered(paths, replace(red.failure, gate=red.gate.name, failing_tests=tests), self.parts.why)

    def _short_of_new_tests(self, tree: str, red: GateResult) -> bool:
        """True if a gate is red only because the change's own tests are missing: a threshold of coverage, say.

        Then each of main's tests passes by its id, and with the change's tests the gate met main's settings.
        """
        if red.failing_tests or red.failure is None or red.failure.failing_tests or not self._names_tests(red.gate):
            return False
        main = self.inventory(self.main_tree, red.gate)
        now = self.known(tree, red.gate)
        if main is None or not main.tests or now is None or not each_once(main, now):
            return False
        self._excused.add((tree, red.gate.command))
        return True

    def _absent(self, tree: str, paths: tuple[str, ...]) -> Failure | None:
        """Return the failure for tests that pass on main and are missing on `tree`, or do not pass there."""
        for gate in self.by_id:
            main = self.inventory(self.main_tree, gate)
            if main is None:
                continue
            # A gate that is red only without the change's tests is compared with them.
            whole = self.task.tree if (tree, gate.command) in self._excused else tree
            short = self._unhidden(gate, compared(main, self.inventory(whole, gate)))
            if short.short:
                short = self._unhidden(gate, self._steadily(gate, main, whole))
            if short.short:
                return missing(gate, paths, short)
        return None

    def _unbelieved(self, tree: str) -> Failure | None:
        """Return the failure for a report that does not agree with what else is known of a gate, in two runs."""
        changes = self.plumbing.changes(self.task.main, self.task.tree)
        is_asked = any(lifted(change.path, self.issue) for change in changes)
        for gate in self.by_id:
            whole = self.task.tree if (tree, gate.command) in self._excused else tree
            why = self._disagreement(gate, whole, is_asked=is_asked)
            if why:
                for each in {self.task.tree, whole}:
                    self.run_on(each, (gate,), anew=True)
                why = self._disagreement(gate, whole, is_asked=is_asked)
            if why:
                return unbelieved(gate, why)
        return None

    def _disagreement(self, gate: GateSpec, tree: str, *, is_asked: bool) -> str:
        """Tell what speaks against a gate's reports; where the issue is about judges, how they run is theirs."""
        main, own = self.inventory(self.main_tree, gate), self.inventory(self.task.tree, gate)
        judged = self.inventory(tree, gate)
        if main is None or judged is None or own is None or self.task.known is not None:
            return ""
        if is_asked:
            judged = main
        return disagreement(main, judged, own, self.facts.unsteady.get(gate.command, {}))

    def _unhidden(self, gate: GateSpec, short: Shortfall) -> Shortfall:
        """Leave out the tests that the issue is about, unsteady ones and, where main's failures are known, red ones."""
        unsteady = self.facts.unsteady.get(gate.command, {})
        short = without(replace(short, failed=tuple(t for t in short.failed if t not in unsteady)), self._own)
        return short if self.task.known is None else replace(short, failed=())

    def _skipped(self, judging: Touched) -> Failure | None:
        """Return the failure for tests that the change adds skipped, or of main that it skips, in whatever words."""
        for gate in self.by_id if judging.tests or judging.sources else ():
            main, now = self.inventory(self.main_tree, gate), self.inventory(self.task.tree, gate)
            if main is None:
                continue
            if names := newly_skipped(main, now):
                return skipped(gate, names)
            if now is not None and (short := self._unhidden(gate, compared(main, now))).skipped:
                return missing(gate, (), Shortfall(skipped=short.skipped))
        return None

    def _steadily(self, gate: GateSpec, main: Inventory, tree: str) -> Shortfall:
        """Compare what two runs have in common: on main ids may hold the time, and a change's report may be lost."""
        self.run_on(self.main_tree, (gate,), on_main=True, anew=True)
        again = self.known(self.main_tree, gate)
        both = agreed(main, again) if again is not None else main
        self.facts.inventories[self.main_tree, gate.command] = both
        short = compared(both, self.inventory(tree, gate))
        if short.gone or short.fewer or short.broken_off:  # a disk that was full for a moment, say
            self.run_on(tree, (gate,), anew=True)
            short = compared(both, self.inventory(tree, gate))
        return short

    def _names_tests(self, gate: GateSpec) -> bool:
        return any(gate.command == other.command for other in self.by_id)

    def _all_by_id(self) -> bool:
        """True if all hard test gates name their tests, so that no test can disappear unseen."""
        known = [self.inventory(self.main_tree, gate) for gate in self.by_id]
        return len(known) == len(self.test_gates) and all(each is not None and each.tests for each in known)

    def _sections(self, judging: Touched) -> dict[str, Entry | None]:
        """Return the touched manifests with main's judging sections, where these differ from the change's."""
        plumbing = self.plumbing
        entries: dict[str, Entry | None] = {}
        with plumbing.blobs() as blobs:
            for change in judging.manifests:
                if change.new_mode == ABSENT:
                    entries |= entries_before((change,))
                    continue
                main = "" if change.old_mode == ABSENT else _text(blobs, change.old_oid)
                now = _text(blobs, change.new_oid)
                combined = with_main_judging(change.path, main, now)
                if combined is None:
                    entries |= entries_before((change,))
                elif combined != with_main_judging(change.path, now, now):
                    entries[change.path] = (change.new_mode, store_text(plumbing, combined))
        return entries

    def _inner_tests(self, judging: Touched) -> dict[str, Entry | None]:
        """Return the source files that hold tests, with the tests that main has in them."""
        plumbing = self.plumbing
        entries: dict[str, Entry | None] = {}
        with plumbing.blobs() as blobs:
            for change in judging.sources:
                text = with_main_tests(change.path, _text(blobs, change.old_oid), _text(blobs, change.new_oid))
                if text is not None:
                    entries[change.path] = (change.new_mode, store_text(plumbing, text))
        return entries


def _text(blobs: ObjectReader, oid: str) -> str:
    return blobs.text(oid, _TEXT_BYTES_MAX)


def gates_decide(early: Failure, issue: Issue) -> bool:
    """True if a suspicion of weakened tests waits for the gates.

    Rewritten tests may be as many when they run. The issue may ask for fewer, or main's tests contradict what it asks
    for. And where it has commands of its own, red on main, the weakening may be what it wants: then a person decides.
    """
    if early.kind is not FailureKind.GATE_TAMPERING:
        return False
    return early.rule in (REWRITTEN, *BY_BODY) or bool(issue.accept)


def with_bodies(failure: Failure, by_body: Failure | None) -> Failure:
    """Return what main's tests contradict, with the tests that have lost what they ask for and do not contradict it.

    Where a test is emptied or gone, the issue has to ask for that, not only for what the others expect now.
    """
    if by_body is None:
        return failure
    others = tuple(t for t in by_body.failing_tests if not any(named_among(f, (t,)) for f in failure.failing_tests))
    if by_body.rule != EMPTIED and not others:
        return failure
    tests = (*failure.failing_tests, *others)
    return replace(
        by_body, message=f"{by_body.message}; {failure.message}", failing_tests=tests, excerpt=failure.excerpt
    )
