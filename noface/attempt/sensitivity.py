"""Finds the changes with which main's tests pass whatever they ask for (law 11).

Main's tests with other values in what they assert run on the change, and on main if any of them passes. By default
these are the tests that name what the change changes, as far as the runner can be told so: a runner that the product
patches, or a value that equals everything, blinds them as it blinds the others.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from types import MappingProxyType

from noface.attempt.excused import measures
from noface.attempt.trial import Trial
from noface.gates.narrow import TESTS_MAX as NARROWED_MAX
from noface.gates.narrow import going_on, narrowed
from noface.git.plumbing import store_text
from noface.git.stored import Entry
from noface.integrity.entries import is_data
from noface.integrity.inner_tests import HOLDERS, MARKS
from noface.integrity.inventory import Inventory, Outcome
from noface.integrity.judges import Part, part_of
from noface.integrity.lexing import TEXT_CHARS_MAX
from noface.integrity.nearest import changed_names, nearest
from noface.integrity.prose import is_prose
from noface.integrity.strength import Body, all_bodies, asks_only_more, bodies
from noface.integrity.tampering import begins_test, blind, is_code, named_among, vacuous
from noface.integrity.turned import kept, turned, turned_alike, turned_inside
from noface.model.attempt import ABSENT, REGULAR, FileChange
from noface.model.failure import Failure
from noface.model.gate import GateSpec
from noface.model.patch import decoded

_TESTS_MAX = 500
_NEAREST_MAX = 20
"""So many tests of main are asked about a change: what blinds them blinds those that name what it changes."""
_SHIFTS = (0, 1)
"""Tests are asked again with further values before they are accused: `half(7) == 3` holds as `half(8) == 4` does."""
_DATA_MAX = 100
_NO_TEXT = "\0"
_VALUE_OF_NAME = re.compile(
    r"\s*+(?:(?:const|let|var|static|final|public|private)\s++)*+\w++(?:\s*+:[^=]*+)?\s*+:?=(?!=)"
)
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """How a gate is asked: by what command, and of which bodies the tests count; None: all, and the gate itself."""

    command: str
    bodies: frozenset[str] | None = None


class Sensitivity:
    """Whether main's tests can still turn red on the tree of a trial."""

    def __init__(self, trial: Trial) -> None:
        self._trial, self._plumbing, self._task, self._parts = trial, trial.plumbing, trial.task, trial.parts
        self._often = trial.scope.env.sensitivity
        """[integrity] sensitivity: of which tests it is asked."""
        self._gates = tuple(gate for gate in trial.test_gates if not measures(gate))

    def failure(
        self, mains: Mapping[str, Entry | None], tests: Iterable[FileChange] = (), taken: Collection[str] = ()
    ) -> Failure | None:
        """Return the failure of a change on which a test passes that does not on main; `mains` are main's judges.

        `tests` are those that the change touches, but for what its issue is about; of `taken` ones it is known that
        they ask for less. What measures coverage is left out: it is red for more than what a test asserts.
        """
        if not self._gates or self._often == "never":
            return None
        return self._blind(mains) or self._emptied(tests, taken)

    def _emptied(self, tests: Iterable[FileChange], taken: Collection[str]) -> Failure | None:
        """Return the failure of a change in whose version tests of main pass whatever they ask for."""
        rewritten = {key: body for key, body in self._rewritten(tests).items() if body.label not in taken}
        lost: dict[GateSpec, frozenset[str]] = {}
        for shift in _SHIFTS if rewritten else ():
            unmoved = self._unmoved(rewritten, shift)
            lost = {gate: each & lost.get(gate, each) for gate, each in unmoved.items()}
            if not any(lost.values()):
                return None
        return next((vacuous(gate, tuple(sorted(each))) for gate, each in lost.items() if each), None)

    def _unmoved(self, rewritten: Mapping[Key, Body], shift: int) -> dict[GateSpec, frozenset[str]]:
        """Return which tests of rewritten bodies pass with other values in them, as they do not on main."""
        files = frozenset(body.path for body in rewritten.values())
        others = self._turned_alike(self._task.tree, files, shift)
        by_data = any(not is_code(path) for path in others)  # which may say what a test without values asks for
        after = all_bodies(others)
        unturned = (body.label for key, body in rewritten.items() if not by_data and after.get(key, body) == body)
        asked = frozenset(body.label for body in rewritten.values()) - {*unturned}
        passed = self._passing(self._task.tree, others, self._alone(self._task.tree, asked))
        if not any(passed.values()):
            return {}
        on_main = self._alone(self._task.main, asked)
        had = {gate: {n.partition("[")[0] for n in self._ids(self._task.main, gate, asked)} for gate in on_main}
        still = self._passing(self._task.main, self._turned_alike(self._task.main, files, shift), on_main)
        return {gate: frozenset(passed.get(gate, ())) & had[gate] - {*still[gate]} for gate in on_main}

    def _alone(self, tree: str, bodies: frozenset[str]) -> dict[GateSpec, _Asked]:
        """Return how gates run the tests of these bodies that they ran on a tree; alone if their runners know how."""
        result = {}
        for gate in self._gates:
            known, ids = self._known(tree, gate), self._ids(tree, gate, bodies)
            if known is not None and ids:
                command = narrowed(gate.command, known.runners, ids, whole=False) or gate.command
                result[gate] = _Asked(going_on(command, known.runners), bodies)
        return result

    def _ids(self, tree: str, gate: GateSpec, bodies: Collection[str]) -> tuple[str, ...]:
        """Return the ids of the tests of these bodies, as a gate ran them on a tree."""
        known = self._known(tree, gate)
        return tuple(name for name, _ in known.tests if named_among(name, bodies)) if known is not None else ()

    def _known(self, tree: str, gate: GateSpec) -> Inventory | None:
        return self._trial.known(self._plumbing.tree(tree), gate)

    def _rewritten(self, tests: Iterable[FileChange]) -> dict[Key, Body]:
        """Return the bodies of main that a change rewrites; all tests where one is rewritten that they may use."""
        pairs = [
            (each.path, each.old_oid, each.new_oid) for each in tests if ABSENT not in (each.old_mode, each.new_mode)
        ]
        files: dict[Key, Body] = {}
        values = False
        with self._plumbing.blobs() as blobs:
            for path, old, new in pairs:
                main, now = (bodies(path, blobs.text(oid, TEXT_CHARS_MAX)) for oid in (old, new))
                files |= {key: body for key, body in now.items() if not asks_only_more(main.get(key, body), body)}
                rests = ((body.lines for body in side.values() if not body.name) for side in (main, now))
                was, rest = (frozenset(line for lines in side for line in lines) for side in rests)
                values |= any(_VALUE_OF_NAME.match(line) for line in was - rest)
        if not values and all(body.test or not body.name for body in files.values()):
            return {key: body for key, body in files.items() if body.test}
        return {key: body for key, body in self._bodies(self._task.tree).items() if body.test}

    def _bodies(self, tree: str, paths: tuple[str, ...] | None = None) -> dict[Key, Body]:
        return all_bodies(self._plumbing.texts(tree, self._tests(tree) if paths is None else paths, TEXT_CHARS_MAX))

    def _blind(self, mains: Mapping[str, Entry | None]) -> Failure | None:
        """Return the failure of a change on which main's tests pass with other values in what they assert."""
        names = self._changed_names()
        if not names and self._often != "always":
            return None
        holders, main = self._holders(), self._bodies(self._task.main)
        tests = {key: body for key, body in main.items() if body.test}
        if not holders and self._often != "always":
            near = {body.label for body in nearest(tests.values(), names, _NEAREST_MAX)}
            tests = {key: body for key, body in tests.items() if body.label in near} or tests
        lost: dict[GateSpec, Counter[str]] = {}
        for shift in _SHIFTS:
            unseen = self._unseen(mains, holders, tests, shift)
            lost = {gate: each & lost.get(gate, each) for gate, each in unseen.items()}
            if not any(lost.values()):
                return None
        return next((blind(gate, tuple(sorted(filter(None, each)))) for gate, each in lost.items() if each), None)

    def _unseen(
        self, mains: Mapping[str, Entry | None], holders: tuple[str, ...], tests: Mapping[Key, Body], shift: int
    ) -> dict[GateSpec, Counter[str]]:
        """Return which of these tests of main pass on the change with other values in them, as they do not on main."""
        others = self._turned(self._task.main, frozenset(body.path for body in tests.values()), shift)
        inside = self._turned_inside(self._task.tree, holders, mains, shift)
        gates = tuple(gate for gate in self._gates if self._looks_at(gate, {**others, **inside}))
        asked = {gate: _Asked(gate.command) for gate in gates}
        if not inside and tests:
            asked = self._near(gates, self._with_other_values(tests, others))
        passed = self._passing(self._task.tree, {**others, **inside}, asked, mains)
        if not any(passed.values()):
            return {}
        inside = self._turned_inside(self._task.main, holders, {}, shift)
        on_main = self._passing(self._task.main, {**others, **inside}, asked)
        return {gate: passed[gate] - on_main[gate] for gate in gates}

    def _looks_at(self, gate: GateSpec, paths: Collection[str]) -> bool:
        """True if a gate reads one of these files, as far as it is known what it has read on main."""
        reads = self._parts.reads.get(gate.name)
        return reads is None or not all(path in reads.unread for path in paths)

    def _with_other_values(self, tests: Mapping[Key, Body], others: Mapping[str, str]) -> list[Body]:
        """Return those of main's tests in which values are turned, or that may use what is turned beside them."""
        before, after = self._bodies(self._task.main, tuple(others)), all_bodies(others)
        shared = {body.path for key, body in before.items() if not body.test and after.get(key) != body}
        by_data = any(not is_code(path) for path in others)
        return [b for key, b in tests.items() if by_data or b.path in shared or after.get(key, b) != b]

    def _near(self, gates: tuple[GateSpec, ...], tests: list[Body]) -> dict[GateSpec, _Asked]:
        """Return how gates run these tests of main: alone, if they are few and the runner can be told so."""
        nearest_by, bodies = {}, frozenset(body.label for body in tests)
        for gate in gates if tests else ():
            known, command = self._known(self._task.main, gate), None
            if known is None or not known.tests:
                nearest_by[gate] = _Asked(gate.command)
                continue
            in_turn = zip_longest(*(self._ids(self._task.main, gate, (body,)) for body in sorted(bodies)))
            ids = tuple(dict.fromkeys(test for row in in_turn for test in row if test is not None))
            if len(tests) <= _NEAREST_MAX:
                command = narrowed(gate.command, known.runners, ids[:NARROWED_MAX], whole=False)
            nearest_by[gate] = _Asked(going_on(command or gate.command, known.runners), bodies if ids else None)
        return nearest_by

    def _changed_names(self) -> frozenset[str]:
        """Return the names in what the change changes of the product; none if that is prose or new data only."""
        changes = self._plumbing.changes(self._task.main, self._task.tree)
        others = (c.path for c in changes if is_code(c.path) or not (c.old_mode == ABSENT or is_prose(c.path)))
        paths = frozenset(decoded(path) for path in others if self._parts(path) in (Part.PRODUCT, Part.SOFT))
        patch = self._plumbing.diff(self._task.main, self._task.tree).patch.decode("utf-8", "replace")
        return changed_names(patch, paths) if paths else frozenset()

    def _tests(self, tree: str) -> tuple[str, ...]:
        named = (path for path in self._plumbing.paths(tree) if part_of(path) is Part.TEST)
        documents = (path for path in self._parts.reached.files if is_prose(path) or path.endswith(".txt"))
        judging = (path for path in (*named, *self._parts.listed) if self._parts(path) is Part.TEST)
        code_first = sorted(judging, key=lambda path: not is_code(path))
        return tuple(dict.fromkeys((*code_first, *documents)))[:_TESTS_MAX]

    def _turned(self, tree: str, files: Collection[str], shift: int) -> dict[str, str]:
        """Return these tests of a tree, and what tests share, with other values in what they assert."""
        return self._each(tree, self._tests(tree), files, partial(turned, shift=shift))

    def _turned_alike(self, tree: str, files: Collection[str], shift: int) -> dict[str, str]:
        """Return these tests of a tree, what tests share and their data with other values, the same for equal ones."""
        tests = (path for path in self._tests(tree) if is_code(path) or is_data(path))
        paths = tuple(dict.fromkeys((*tests, *self._data_by_use())))
        return self._each(tree, paths, files, partial(turned_alike, shift=shift))

    def _each(
        self, tree: str, paths: tuple[str, ...], files: Collection[str], turn: Callable[..., str | None]
    ) -> dict[str, str]:
        """Return files of a tree as `turn` makes them, of their path, text and what stays; None leaves one out.

        A file in which tests begin is turned only if it is one of these `files`: lexing all of a large suite takes
        longer than to run what is asked of it.
        """
        held = {path: oid for path, (mode, oid) in self._plumbing.entries(tree, paths).items() if mode in REGULAR}
        with self._plumbing.blobs() as blobs:
            texts = {path: blobs.text(oid, TEXT_CHARS_MAX) for path, oid in held.items()}
        stays = kept(self._plumbing.paths(tree), texts)
        left_out = {path for path, text in texts.items() if is_code(path) and path not in files and begins_test(text)}
        wanted = (path for path, text in texts.items() if path not in left_out and _NO_TEXT not in text)
        others = {path: turn(path, texts[path], stays) for path in wanted}
        return {path: text for path, text in others.items() if text is not None}

    def _data_by_use(self) -> tuple[str, ...]:
        """Return main's data that judges though no name says so; none if there is too much to look at."""
        read = frozenset[str]().union(*(each.read for each in self._parts.reads.values()))
        paths = [path for path in sorted(read) if not is_code(path) and part_of(path) in (Part.PRODUCT, Part.SOFT)]
        return tuple(path for path in paths if self._parts.holds_cases(path)) if len(paths) <= _DATA_MAX else ()

    def _holders(self) -> tuple[str, ...]:
        """Return the sources of main's product with tests inside, as far as the gates may run them."""
        holders = (path for path in self._plumbing.files_with(self._task.main, MARKS) if path.endswith(HOLDERS))
        known = [self._known(self._task.main, gate) for gate in self._gates]
        if all(each is not None and each.runners == ("pytest",) for each in known):
            holders = (path for path in holders if path in self._parts.listed)  # by the ids of what it runs of them
        return tuple(path for path in holders if self._parts(path) is Part.PRODUCT)[:_TESTS_MAX]

    def _turned_inside(
        self, tree: str, holders: tuple[str, ...], mains: Mapping[str, Entry | None], shift: int
    ) -> dict[str, str]:
        """Return the tree's sources with other values in main's tests inside them; of `mains` the files come first."""
        ours = {path: each for path in holders if (each := mains.get(path)) is not None}
        held = self._plumbing.entries(tree, holders) | ours
        with self._plumbing.blobs() as blobs:
            texts = {path: blobs.text(oid, TEXT_CHARS_MAX) for path, (mode, oid) in held.items() if mode in REGULAR}
        others = {path: turned_inside(path, text, shift) for path, text in texts.items()}
        return {path: text for path, text in others.items() if text is not None}

    def _passing(
        self,
        tree: str,
        texts: Mapping[str, str],
        asked: Mapping[GateSpec, _Asked],
        mains: Mapping[str, Entry | None] = MappingProxyType({}),
    ) -> dict[GateSpec, Counter[str]]:
        """Return how many tests pass on a tree with these texts, by name without parameters; "" is the gate.

        `mains` are there beside them.
        """
        if not asked:
            return {}
        modes = {**self._plumbing.entries(self._task.main, tuple(texts)), **self._plumbing.entries(tree, tuple(texts))}
        stored = {path: (modes[path][0], store_text(self._plumbing, text)) for path, text in texts.items()}
        other = self._plumbing.tree_with(tree, {**mains, **stored})
        runs = tuple(replace(gate, command=each.command, again=0, retries=0) for gate, each in asked.items())
        gated = self._trial.run_on(other, runs, steady=False)
        ended_well = {result.gate.command for result in gated.results if result.passed}
        results = {}
        for gate, each in asked.items():
            known = self._trial.known(other, replace(gate, command=each.command))
            tests = known.tests if known is not None else ()
            names = [name.partition("[")[0] for name, outcome in tests if outcome is Outcome.PASSED]
            count = int(each.command in ended_well) + ((known.count if known is not None else None) or 0)
            if each.bodies is None:
                results[gate] = +Counter({**Counter(names), "": count})
            else:
                results[gate] = Counter(name for name in names if named_among(name, each.bodies))
        return results
