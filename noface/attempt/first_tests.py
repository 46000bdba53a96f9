"""Has main's tests as the run found them judge a change as well, so that landings cannot share what none may (law 11).

The first of them rewrites a test so that main's version still passes: it looks at a copy of the product, say. To the
second, which breaks the product, main's test is the rewritten one, and says nothing.

So the test gates, and the builds before them, run once more with what such landings have changed of main's judges as
the run found it. If no test runs some of what the change adds, what landings added to the tests is left out as well: it
may put something else in its place for good. What fails then counts only if the same files pass on the present main: a
landing that was asked to change what the product does accuses none after it. What others put on main, or somebody let a
landing change, counts as it is now. Nothing runs where no landing of the run has changed a judge.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain

from noface.attempt.excused import measures
from noface.attempt.gating import Gated
from noface.attempt.parts import Parts
from noface.attempt.trial import Trial
from noface.gates.narrow import narrowed
from noface.git.plumbing import store_text
from noface.git.stored import Entry
from noface.integrity.grown import grown
from noface.integrity.inner_tests import HOLDERS, with_main_tests
from noface.integrity.inventory import Inventory, Outcome, compared, file_of, files_of, without
from noface.integrity.judges import Part, lifted, part_of, with_main_judging
from noface.integrity.lexing import TEXT_CHARS_MAX
from noface.integrity.tampering import contradicted, is_code, is_test_file, named_among, outlived
from noface.model.attempt import REGULAR, FileChange
from noface.model.failure import Failure
from noface.model.gate import GateKind, GateSpec

_ROUNDS_MAX = 3


def only_by(
    landings: Collection[str], commits: Iterable[tuple[str, Iterable[FileChange]]]
) -> dict[str, tuple[str, ...]]:
    """Return the files that nothing but these landings has changed among a branch's commits, with those of each."""
    by_path, others = defaultdict[str, list[str]](list), set[str]()
    for commit, changes in commits:
        for change in changes:
            if commit in landings:
                by_path[change.path].append(commit)
            else:
                others.add(change.path)
    return {path: tuple(by) for path, by in by_path.items() if path not in others}


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What judged on the commit `first`, and is not the same on main by the doing of landings alone.

    `entries` are these files as they were; None is a file of tests that came later, and that nothing else uses. Only a
    part of the `sources` judges, such as tests in them. `by` names the landings that changed a file, `commits` what
    each of these changed.
    """

    first: str
    entries: Mapping[str, Entry | None]
    sources: tuple[str, ...]
    by: Mapping[str, tuple[str, ...]]
    commits: Mapping[str, tuple[str, ...]]

    def places(self, path: str) -> frozenset[str]:
        """Return where the tests of a file may stand on main: in it, or in another that went to main with it."""
        return frozenset((path, *chain.from_iterable(self.commits[commit] for commit in self.by.get(path, ()))))


@dataclass(frozen=True, slots=True)
class _Lost:
    """A gate that main passes with these files and a change does not, by the tests that it names; `failure` is how."""

    gate: GateSpec
    tests: tuple[str, ...] = ()
    failure: Failure | None = None


class FirstTests:
    """Main's tests as the run found them, beside a trial.

    `own` are the tests that its issue is about; `unrun`: no test runs some of what its change adds.
    """

    def __init__(self, trial: Trial, own: frozenset[str] = frozenset()) -> None:
        self._trial, self._plumbing, self._task = trial, trial.plumbing, trial.task
        self._own = own
        kinds = (GateKind.BUILD, GateKind.TEST)
        hard = (gate for gate in trial.gates if gate.hard and not gate.accept and gate.kind in kinds)
        self._hard = tuple(replace(gate, again=0, retries=0) for gate in hard)
        """The builds and the test gates that count."""

    def failure(
        self, mains: Mapping[str, Entry | None], tests: Iterable[FileChange] = (), taken: Collection[str] = ()
    ) -> Failure | None:
        """Return the failure of a change that these tests do not accept; `mains` are main's versions of its judges.

        It is a contradiction if among its `tests` it rewrites those in which what fails may stand now: its issue may
        want that. Of `taken` tests that is known.
        """
        at_first = self.rewritten()
        if at_first is None:
            return None
        # Main's version of what the change is known to contradict may keep a runner from collecting the others.
        open_ = {test.partition("::")[0] for test in taken}
        mains = {path: entry for path, entry in mains.items() if path not in open_}
        if self._pass_alone(at_first, self._tree(at_first, mains)):
            return None
        lost = self._lost(at_first, mains, taken)
        again = self._lost(at_first, mains, taken, anew=True) if lost is not None else None
        if lost is None or again is None or lost.gate != again.gate:
            return None
        failing = tuple(test for test in lost.tests if test in again.tests)
        if lost.tests and not failing:
            return None
        judges = {*at_first.entries, *at_first.sources}
        files = {file_of(test) for test in failing} & judges or judges
        plumbing, main = self._plumbing, self._task.main
        issues = {landing.commit: landing.issue for landing in plumbing.landings(f"{at_first.first}..{main}")}
        by = {path: tuple(issues.get(commit, commit[:12]) for commit in at_first.by[path]) for path in sorted(files)}
        failure = outlived(lost.gate, failing, by, again.failure)
        changed = {each.path for each in tests} & plumbing.whole(main).paths
        if failing and all(at_first.places(path) & changed for path in files):
            return contradicted(failure)
        return failure

    def _tree(self, at_first: Rewritten, others: Mapping[str, Entry | None], *, on_main: bool = False) -> str:
        """Return the task's tree, or main's, with these files as they were at first, and `others`."""
        tree = self._task.main if on_main else self._task.tree
        entries = {**others, **at_first.entries, **self._inner(at_first, tree, others)}
        return self._plumbing.tree_with(tree, entries)

    def rewritten(self) -> Rewritten | None:
        """Return what landings alone have made of the files that judged at first; None if that is nothing.

        Beside tests these are the data and the helpers that only judges use, and where there are any of them, settings
        and manifests. What the issue may change counts as the change has it.
        """
        plumbing, main, first = self._plumbing, self._task.main, self._trial.landed[0][0] if self._trial.landed else ""
        if not first or not plumbing.is_ancestor(first, main):  # a person has set main back
            return None
        commits = {commit: plumbing.changes(f"{commit}^", commit) for commit in plumbing.landed_commits(first, main)}
        by = only_by({new for _, new in self._trial.landed}, commits.items())
        by = {path: of for path, of in by.items() if not lifted(path, self._trial.issue)}
        was, now = (plumbing.entries(commit, tuple(by)) for commit in (first, main))
        differing = {path: entry for path, entry in was.items() if path in by and now.get(path) != entry}
        differing = {path: each for path, each in differing.items() if not self._grown(path, each, now.get(path))}
        added = tuple(path for path in by if path in now and path not in was and part_of(path) is Part.TEST)
        changed = {commit: tuple(change.path for change in each) for commit, each in commits.items()}
        changed_since = Rewritten(first, {}, tuple(path for path in differing if path in now), by, changed)
        sources = tuple(path for path in self._inner(changed_since, main, {}) if part_of(path) is not Part.TEST)
        parts = self._parts(first) if differing else ()

        def are(tells: Callable[[Parts, str], bool]) -> dict[str, Entry | None]:
            """Return the files of which each tree tells so that has them. One tree after the other: each is listed."""
            left: dict[str, Entry | None] = {**differing}
            for each in parts:
                there = plumbing.whole(each.main).paths
                left = {path: entry for path, entry in left.items() if path not in there or tells(each, path)}
            return left

        entries = are(lambda parts, path: parts.judges(path, helps=parts.main != first))
        if not entries and all(part_of(path) is Part.MANIFEST for path in sources):
            return None
        left_out = filter(is_code, added)
        entries |= dict.fromkeys(self._trial.parts.unused(left_out, entries))
        entries |= are(lambda parts, path: parts(path) is Part.CONFIG)
        return replace(changed_since, entries=entries, sources=tuple(path for path in sources if path not in entries))

    def _grown(self, path: str, first: Entry, now: Entry | None) -> bool:
        """True if a file of tests has only got more of them: as main has it, it judges as it did."""
        if now is None or first[0] != now[0] or not is_test_file(path):
            return False
        with self._plumbing.blobs() as blobs:
            return grown(path, *(blobs.text(oid, TEXT_CHARS_MAX) for _, oid in (first, now)))

    def _asked(self) -> dict[str, Entry | None]:
        """Return the change's versions of the judges that its issue is about: what needs main's says nothing then."""
        changes, parts = self._plumbing.changes(self._task.main, self._task.tree), self._trial.parts
        lifts = (change.path for change in changes if lifted(change.path, self._trial.issue))
        asked = tuple(path for path in lifts if parts(path) is not Part.PRODUCT)
        now = self._plumbing.entries(self._task.tree, asked)
        return {path: now.get(path) for path in asked}

    def _parts(self, first: str) -> tuple[Parts, ...]:
        """Return what files are to the gates at first, on main and as the change has them."""
        trial, others = self._trial, (first, self._task.tree)
        at_first, now = (Parts.known(trial.scope.env, commit, trial.gates) for commit in others)
        return at_first, trial.parts, now

    def _inner(self, at_first: Rewritten, tree: str, others: Mapping[str, Entry | None]) -> dict[str, Entry | None]:
        """Return the sources as they are in a tree, or among `others`, with what judges in them at first."""
        plumbing, paths = self._plumbing, at_first.sources
        was, now = plumbing.entries(at_first.first, paths), plumbing.entries(tree, paths)
        now |= {path: entry for path in paths if (entry := others.get(path)) is not None}
        entries: dict[str, Entry | None] = {}
        with plumbing.blobs() as blobs:
            for path, (mode, oid) in now.items():
                if {mode, was[path][0]} <= REGULAR and (path.endswith(HOLDERS) or part_of(path) is Part.MANIFEST):
                    text = _judging_as(path, *(blobs.text(each, TEXT_CHARS_MAX) for each in (was[path][1], oid)))
                    entries |= {path: (mode, store_text(plumbing, text))} if text is not None else {}
        return entries

    def _pass_alone(self, at_first: Rewritten, tree: str) -> bool:
        """True if nothing but tests known by id is as it was, and all of them pass when only they run.

        Then the whole gates need not run for them.
        """
        files, first = {path for path, entry in at_first.entries.items() if entry}, self._plumbing.tree(at_first.first)
        alone: dict[GateSpec, Inventory] = {}
        for gate in self._hard:
            known = self._trial.known(first, gate) or Inventory()
            tests = tuple((name, ended) for name, ended in known.tests if file_of(name) in files)
            if tests and gate.kind is GateKind.TEST:
                command = narrowed(gate.command, known.runners, tuple(name for name, _ in tests))
                if command is None or measures(gate):
                    return False
                alone[replace(gate, command=command, report=None)] = replace(known, tests=tests, count=None)
        if at_first.sources or not files <= files_of(alone.values()):
            return False
        gated = self._trial.run_on(tree, tuple(alone), steady=False)
        green = {result.gate.command for result in gated.results if result.passed}
        ran = ((gate, compared(known, self._trial.known(tree, gate))) for gate, known in alone.items())
        return all(gate.command in green and not short.short for gate, short in ran)

    def _lost(
        self, at_first: Rewritten, mains: Mapping[str, Entry | None], taken: Collection[str], *, anew: bool = False
    ) -> _Lost | None:
        """Return the first gate that main passes with these files, and the change does not.

        A file that cannot be collected keeps others from running: they run once more without it. So do they if main
        cannot collect it, to which it says nothing.
        """
        lost: _Lost | None = None
        for _ in range(_ROUNDS_MAX):
            tree, on_main = self._tree(at_first, mains), self._tree(at_first, self._asked(), on_main=True)
            gated = self._trial.run_on(tree, self._hard, steady=False, anew=anew)
            green = {result.gate.command for result in gated.results if result.passed}
            if green >= {gate.command for gate in self._hard} and not self._fewer(at_first.first, tree):
                return lost
            green_on_main = self._green_on_main(on_main, anew=anew)
            broken = self._broken(on_main) & at_first.entries.keys()
            if not broken:
                new = self._new(gated, tree, on_main, green_on_main - green, taken)
                if new is not None and (lost is None or lost.gate == new.gate):
                    tests = tuple(dict.fromkeys((*(lost.tests if lost is not None else ()), *new.tests)))
                    lost = replace(new, tests=tests)
                broken = self._broken(tree)
            if not broken:
                return lost
            mains = {path: entry for path, entry in mains.items() if path not in broken}
            at_first = replace(at_first, entries={p: entry for p, entry in at_first.entries.items() if p not in broken})
        return lost

    def _new(
        self, gated: Gated, tree: str, on_main: str, lost: Collection[str], taken: Collection[str]
    ) -> _Lost | None:
        """Return the first gate that ends otherwise on the change; `lost` are the commands that only main passes."""
        broken, results = self._broken(tree), {result.gate.command: result for result in gated.results}
        for gate in self._hard:
            result, main = results.get(gate.command), self._trial.known(on_main, gate)
            failure = result.failure if result is not None else gated.failure
            if gate.kind is GateKind.TEST and main is not None and main.tests:
                short = without(compared(main, self._trial.known(tree, gate)), self._own)
                unsteady = self._trial.facts.unsteady.get(gate.command, {})
                names = (test for test in (*short.failed, *short.skipped, *short.gone) if test not in unsteady)
                seen = (test for test in names if not broken or test not in short.gone or file_of(test) in broken)
                if tests := tuple(test for test in seen if not named_among(test, taken)):
                    return _Lost(gate, tests, failure)
            elif gate.command in lost:
                return _Lost(gate, (), failure)
        return None

    def _broken(self, tree: str) -> set[str]:
        """Return the files that could not be collected in runs of a tree that broke off for them."""
        ran = (self._trial.known(tree, gate) for gate in self._hard)
        tests = (test for each in ran if each is not None and not each.complete for test in each.tests)
        return {name for name, outcome in tests if outcome is Outcome.FAILED and "::" not in name}

    def _fewer(self, first: str, tree: str) -> bool:
        """True if a test does not pass that passed when the run began, as far as its ids are known."""
        at_first = self._plumbing.tree(first)
        known = ((gate, self._trial.known(at_first, gate)) for gate in self._hard)
        return any(was and was.tests and compared(was, self._trial.known(tree, gate)).short for gate, was in known)

    def _green_on_main(self, tree: str, *, anew: bool) -> frozenset[str]:
        """Return which gates main passes with these files; what is known of that is not asked again."""
        keys = {(tree, gate.command) for gate in self._hard}
        if keys <= self._trial.facts.asked and not anew:
            return frozenset(gate.command for gate in self._hard if self._trial.passes(tree, gate))
        gated = self._trial.run_on(tree, self._hard, steady=False, anew=anew)
        self._trial.facts.asked.update(keys)
        return frozenset(result.gate.command for result in gated.results if result.passed)


def _judging_as(path: str, first: str, now: str) -> str | None:
    """Return a file that judges beside what else it does as it is now, but judging as at first; None: it does."""
    if part_of(path) is not Part.MANIFEST:
        return with_main_tests(path, first, now)
    combined = with_main_judging(path, first, now)
    return combined if combined != with_main_judging(path, now, now) else None
