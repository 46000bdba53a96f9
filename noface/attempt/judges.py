"""Main's judges of a change that is green with its own tests and settings (law 11).

A judge asks for runs, is given what ran, and returns a failure or None. The judges are the table `JUDGES`.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Mapping
from dataclasses import dataclass, field, replace

from noface.attempt.gating import Ran, Run
from noface.attempt.parts import Parts
from noface.git.objects import ObjectReader
from noface.git.plumbing import Plumbing, entries_before, store_text
from noface.git.stored import Entry
from noface.integrity.inner_tests import with_main_tests
from noface.integrity.inventory import (
    Inventory,
    Shortfall,
    compared,
    disagreement,
    each_once,
    file_of,
    kept,
    newly_skipped,
    without,
)
from noface.integrity.judges import Part, Touched, lifted, may_be_made, only_lists, part_of, touched, with_main_judging
from noface.integrity.tampering import (
    altered,
    assertions,
    contradicted,
    is_code,
    missing,
    named_among,
    renamed_tests,
    skipped,
    unbelieved,
)
from noface.model.attempt import ABSENT, REGULAR, FileChange
from noface.model.failure import CHANGED_FILES, Failure
from noface.model.gate import GateKind, GateSpec
from noface.model.issue import Issue

_TESTING = (GateKind.BUILD, GateKind.TEST)
_TEXT_BYTES_MAX = 4_000_000

Entries = dict[str, Entry | None]


@dataclass(slots=True)
class JudgedChange:
    """A change whose gates, as it has them, are green: `tree`, made of main by work on an issue.

    `on_main` are the tests that main's gates ran, `unsteady` those of them that fail now and then, by command.
    `only_new`: what main fails does not count. `taken` are tests that may be gone, since the issue is asked for that.
    `made` are files that a gate makes anew: they judge nothing there.
    """

    plumbing: Plumbing
    parts: Parts
    tree: str
    issue: Issue
    gates: tuple[GateSpec, ...]
    on_main: Ran
    unsteady: Mapping[str, Collection[str]] = field(default_factory=dict)
    only_new: bool = False
    taken: tuple[str, ...] = ()
    made: frozenset[str] = frozenset()
    files: tuple[FileChange, ...] = field(init=False)
    judging: Touched = field(init=False)

    def __post_init__(self) -> None:
        self.files = self.plumbing.changes(self.parts.main, self.tree)
        judging = touched(self.files, self.issue, self.parts)
        judges = [c for path, each in self.of_main().items() if self.parts(path) in _JUDGING for c in each]
        in_place_of = (change for change in judges if change.old_mode == ABSENT)
        tests = tuple(dict.fromkeys((*judging.tests, *in_place_of)))
        self.judging = replace(judging, tests=tests, soft=self._steering(judging.soft))

    def _steering(self, soft: tuple[FileChange, ...]) -> tuple[FileChange, ...]:
        """Return what builds the project but for what names only files that the change adds or removes."""
        added, removed = (
            [change.path for change in self.files if getattr(change, mode) == ABSENT and is_code(change.path)]
            for mode in ("old_mode", "new_mode")
        )
        with self.plumbing.blobs() as blobs:
            return tuple(
                c for c in soft if not only_lists(_text(blobs, c.old_oid), _text(blobs, c.new_oid), added, removed)
            )

    @property
    def by_id(self) -> tuple[GateSpec, ...]:
        return tuple(gate for gate in self.gates if gate.of_tests and gate.command in self.on_main.tests)

    @property
    def all_by_id(self) -> bool:
        """True if all hard test gates name their tests, so that no test can disappear unseen."""
        known = [self.on_main.tests[gate.command] for gate in self.by_id]
        return len(known) == sum(gate.of_tests for gate in self.gates) and all(each and each.tests for each in known)

    def touching(self, by_use: Collection[FileChange] = ()) -> Touched:
        tests, config, soft = (
            tuple(change for change in each if change.path not in self.made)
            for each in ((*self.judging.tests, *by_use), self.judging.config, self.judging.soft)
        )
        return replace(self.judging, tests=tests, config=config, soft=soft)

    def of_main(self) -> dict[str, list[FileChange]]:
        """Return what the change does to files of main, and which new files may be found in the place of one."""
        by_part = defaultdict[str, list[FileChange]](list)
        for change in self.files:
            path = change.path if change.old_mode != ABSENT else self.parts.stands_for(change.path)
            if path and not lifted(change.path, self.issue):
                by_part[path].append(change)
        return by_part

    def run_of(self, judging: Touched, entries: Entries) -> Run:
        kinds = tuple(GateKind) if judging.config or judging.manifests else _TESTING
        gates = tuple(gate for gate in self.gates if gate.hard and not gate.accept and gate.kind in kinds)
        return Run(self.plumbing.tree_with(self.tree, entries), gates, named=True, steady=False)


_JUDGING = (Part.TEST, Part.CONFIG)
Judge = Callable[[JudgedChange], Generator[Run, Ran, Failure | None]]


def mains_tests(change: JudgedChange) -> Generator[Run, Ran, Failure | None]:
    """Return what main's versions of what judges the change have against it, then of what judges by use alone.

    Tests that the change adds stay out, so that they cannot help it. What may judge and may as well be the product
    (settings) is main's in another run, if ids do not show what the tests do.
    """
    of_main = change.of_main()
    by_use_alone = tuple(each for path in change.parts.by_use(of_main) for each in of_main[path])
    for by_use in dict.fromkeys(((), by_use_alone)):
        while True:
            judging = change.touching(by_use)
            entries = mains_versions(change.plumbing, judging)
            failure = (yield from _red(change, change.run_of(judging, entries), entries)) if entries else None
            if failure is None:
                break
            if (yield from _only_contradicted(change, judging, entries)):
                return contradicted(failure)
            made = yield from _made(change, failure.gate, judging)
            if not made:
                return failure
            change.made |= made
        if judging.soft and not change.all_by_id:
            soft = entries_before(judging.soft)
            run = replace(change.run_of(judging, {**entries, **soft}), gates=_hard(change))
            if failure := (yield from _red(change, run, soft)):
                return failure
    return None


def each_test_by_id(change: JudgedChange) -> Generator[Run, Ran, Failure | None]:
    """Return the failure for tests that pass on main and are missing, skipped, or not to be believed, by their ids."""
    judging = change.touching()
    entries = mains_versions(change.plumbing, judging)
    own = yield Run(change.tree, _hard(change), named=True)
    ran = (yield change.run_of(judging, entries)) if entries else own
    for gate in change.by_id:
        main, held = change.on_main.tests[gate.command], own if ran.red(gate) else ran
        if main is not None:
            short = _counted(change, gate, compared(main, held.tests.get(gate.command)))
            if short.short:
                short = _counted(change, gate, (yield from _in_two_runs(change, gate, held)))
            if short.short:
                return missing(gate, tuple(entries), short)
    for gate in change.by_id if judging.tests or judging.sources else ():
        main, now = change.on_main.tests[gate.command], own.tests.get(gate.command)
        if main is not None and (names := newly_skipped(main, now)):
            return skipped(gate, names)
        if main is not None and now is not None:
            short = _counted(change, gate, compared(main, now))
            if short.skipped:
                return missing(gate, (), Shortfall(skipped=short.skipped))
    for gate in change.by_id if not change.only_new else ():
        held = own if ran.red(gate) else ran
        if why := _disagreement(change, gate, own, held):
            again = yield Run(own.tree, (gate,), anew=True, named=True)
            other = (yield Run(held.tree, (gate,), anew=True, named=True)) if held.tree != own.tree else again
            why = _disagreement(change, gate, again, other)
        if why:
            return unbelieved(gate, why)
    return None


JUDGES: tuple[Judge, ...] = (mains_tests, each_test_by_id)
"""Main's judges, in the order in which they are asked. What a diff alone tells is asked before (`examine.py`)."""


def judged(change: JudgedChange) -> Generator[Run, Ran, Failure | None]:
    for judge in JUDGES:
        if (failure := (yield from judge(change))) is not None:
            return failure
    return None


def fewer(change: JudgedChange) -> Generator[Run, Ran, tuple[str, ...] | None]:
    """Return main's passing tests that the change skips, or that are gone where fewer pass; None if ids are unknown."""
    own, gone = (yield Run(change.tree, _hard(change), named=True)), list[str]()
    for gate in change.by_id:
        main, now = change.on_main.tests[gate.command], own.tests.get(gate.command)
        if main is None or now is None or not main.tests:
            return None
        short = compared(main, now)
        gone += (*short.skipped, *(short.gone if now.passed < main.passed else ()))
    return tuple(gone)


def made_of(tree: str, gate: GateSpec, gates: tuple[GateSpec, ...]) -> Generator[Run, Ran, str | None]:
    """Return the tree that a gate makes of `tree`, the same if it leaves its files alone; None if it cannot run."""
    builds = tuple(replace(each, fixes=False) for each in gates if each.kind is GateKind.BUILD and each != gate)
    its_own = replace(gate, fixes=True, retries=0)
    ran = yield Run(tree, (*builds, its_own), anew=True, steady=False)
    if ran.failure is not None or ran.results[-1].gate != its_own:
        return None
    failure = ran.results[-1].failure
    return ran.fixed or (tree if failure is None or failure.rule != CHANGED_FILES else None)


def _hard(change: JudgedChange) -> tuple[GateSpec, ...]:
    return tuple(gate for gate in change.gates if gate.hard and not gate.accept)


def _red(change: JudgedChange, run: Run, paths: Collection[str]) -> Generator[Run, Ran, Failure | None]:
    """Return the failure of gates that are red with main's version of `paths`, twice: tests may be unsteady."""
    ran = yield run
    if ran.failure is None and any(not result.passed for result in ran.results):
        ran = yield replace(run, anew=True, steady=True)
    if ran.failure is not None:
        return altered(tuple(paths), replace(ran.failure, charged=True))
    testing = {gate.kind for gate in run.gates} <= {*_TESTING}
    for red in ran.results:
        if red.passed or red.failure is None or red.failure.rule == CHANGED_FILES:
            continue  # what it writes, as a lock file, fits the change's own manifest
        tests = red.failing_tests or red.failure.failing_tests
        main, now = (each.tests.get(red.gate.command) for each in (change.on_main, ran))
        # Each of main's tests passes: it lacks the change's own, as a threshold of coverage does.
        whole = main is not None and bool(main.tests) and now is not None and each_once(main, now)
        if not (testing and whole and not tests):
            failure = replace(red.failure, gate=red.gate.name, failing_tests=tests)
            return altered(tuple(paths), failure)
    return None


def _made(change: JudgedChange, name: str | None, judging: Touched) -> Generator[Run, Ran, frozenset[str]]:
    """Return which of the change's text and data the gate of this `name` makes itself: it makes main's of them."""
    plumbing, main = change.plumbing, change.plumbing.tree(change.parts.main)
    by_use = (c for c in judging.tests if part_of(c.path) is not Part.TEST)
    files = (c for c in (*by_use, *judging.config, *judging.soft) if {c.old_mode, c.new_mode} <= REGULAR)
    paths = tuple(c.path for c in files if may_be_made(c.path, change.parts.reached.files))
    gate = next((gate for gate in change.gates if gate.name == name), None)
    if gate is None or not paths:
        return frozenset()
    tree = plumbing.tree_with(main, plumbing.entries(change.tree, paths))
    made = yield from made_of(tree, gate, change.gates)
    left = {c.path for c in plumbing.changes(main, made)} if made is not None else {*paths}
    return frozenset(paths) - left if left <= {*paths} else frozenset()


def _only_contradicted(change: JudgedChange, judging: Touched, entries: Entries) -> Generator[Run, Ran, bool]:
    """Return whether all that speaks against the change is that tests it keeps ask for something else than main's.

    Every test that passes on main is there, perhaps renamed, and passes in the change's version, but for those that are
    `taken`. What else of it judges is as good as main's. Only then can the issue be asked.
    """
    own = yield Run(change.tree, _hard(change), named=True)
    moved = moved_tests(change.plumbing, judging)
    if not change.all_by_id or _loses_tests(change, own, moved):
        return False
    judges = (c for c in (*judging.tests, *judging.sources) if c.path in entries)
    files = {name.partition("::")[0] for name in change.taken}
    rewritten = {c.path for c in judges if c.old_mode != ABSENT and (c.new_mode != ABSENT or c.path in files)}
    rewritten |= moved.keys()
    ran = yield change.run_of(judging, entries)
    pairs = [(change.on_main.tests[gate.command], ran.tests.get(gate.command)) for gate in change.by_id]
    shorts = [compared(main, now) for main, now in pairs if main is not None]
    failing = {file_of(name) for short in shorts for name in (*short.failed, *short.gone)}
    if not failing or not rewritten:
        return False
    others = {path: entry for path, entry in entries.items() if change.parts(path) in (Part.CONFIG, Part.MANIFEST)}
    others |= entries_before(judging.soft)
    if not failing <= rewritten:
        others |= entries_before(each for each in judging.tests if each.old_mode == ABSENT)
    if not others:
        return True
    run = Run(change.plumbing.tree_with(change.tree, others), _hard(change), named=True, steady=False)
    return (yield from _red(change, run, others)) is None


def _loses_tests(change: JudgedChange, own: Ran, moved: dict[str, str]) -> bool:
    patch = change.plumbing.diff(change.parts.main, change.tree).patch
    names = renamed_tests(patch.decode("utf-8", "replace")) | moved
    for gate in change.by_id:
        main, now = change.on_main.tests[gate.command], own.tests.get(gate.command)
        if main is None or now is None or newly_skipped(main, now):
            return True
        lost = kept(main, now, names)
        if replace(lost, gone=tuple(each for each in lost.gone if not named_among(each, change.taken))).short:
            return True
    return False


def _in_two_runs(change: JudgedChange, gate: GateSpec, held: Ran) -> Generator[Run, Ran, Shortfall]:
    on_main = yield Run(change.on_main.tree, (gate,), anew=True, named=True)
    both = on_main.tests.get(gate.command) or Inventory()
    short = compared(both, held.tests.get(gate.command))
    if short.gone or short.fewer or short.broken_off:
        again = yield Run(held.tree, (gate,), anew=True, named=True)
        short = compared(both, again.tests.get(gate.command))
    return short


def _counted(change: JudgedChange, gate: GateSpec, short: Shortfall) -> Shortfall:
    own = {c.path for c in change.files if part_of(c.path) is Part.TEST and lifted(c.path, change.issue)}
    unsteady = change.unsteady.get(gate.command, ())
    short = without(replace(short, failed=tuple(test for test in short.failed if test not in unsteady)), own)
    return replace(short, failed=()) if change.only_new else short


def _disagreement(change: JudgedChange, gate: GateSpec, own: Ran, held: Ran) -> str:
    """Tell what speaks against a gate's reports; if the issue is about judges, how they run is theirs."""
    main, mine, judging = (each.tests.get(gate.command) for each in (change.on_main, own, held))
    if main is None or mine is None or judging is None:
        return ""
    if any(lifted(file.path, change.issue) for file in change.files):
        judging = main
    return disagreement(main, judging, mine, change.unsteady.get(gate.command, ()))


def mains_versions(plumbing: Plumbing, judging: Touched) -> Entries:
    """Return main's versions of what judges: files, sections of manifests, tests inside of sources."""
    entries = entries_before((*judging.tests, *judging.config))
    with plumbing.blobs() as blobs:
        for change in judging.manifests:
            now = _text(blobs, change.new_oid) if change.new_mode != ABSENT else ""
            main = _text(blobs, change.old_oid) if change.old_mode != ABSENT else ""
            combined = with_main_judging(change.path, main, now) if change.new_mode != ABSENT else None
            if combined is None:
                entries |= entries_before((change,))
            elif combined != with_main_judging(change.path, now, now):
                entries[change.path] = (change.new_mode, store_text(plumbing, combined))
        for change in judging.sources:
            text = with_main_tests(change.path, _text(blobs, change.old_oid), _text(blobs, change.new_oid))
            if text is not None:
                entries[change.path] = (change.new_mode, store_text(plumbing, text))
    return entries


def moved_tests(plumbing: Plumbing, judging: Touched) -> dict[str, str]:
    with plumbing.blobs() as blobs:
        now = {assertions(_text(blobs, c.new_oid)): c.path for c in judging.tests if c.old_mode == ABSENT}
        was = ((c.path, assertions(_text(blobs, c.old_oid))) for c in judging.tests if c.new_mode == ABSENT)
        return {path: now[asserted] for path, asserted in was if asserted and asserted in now}


def _text(blobs: ObjectReader, oid: str) -> str:
    return blobs.text(oid, _TEXT_BYTES_MAX)
