"""Finds the changes with which main's tests pass whatever they ask for (law 11).

Main's tests with other values in what they assert run on the change, and on main where any of them passes. By default
only a change is asked whose lines may reach what judges it: an equality, what another module holds, the end of the
process.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from noface.data import pattern
from noface.engine.attempt_environment import GateFacts
from noface.engine.excused import measures
from noface.engine.gate_session import Task
from noface.engine.gating import Gated
from noface.engine.parts import Parts
from noface.gates.narrow import narrowed
from noface.git.plumbing import Entry, Plumbing, store_text, tree_with
from noface.integrity.entries import is_data
from noface.integrity.inner_tests import HOLDERS, MARKS
from noface.integrity.inventory import Inventory, Outcome
from noface.integrity.judges import Part, part_of
from noface.integrity.lexing import TEXT_CHARS_MAX
from noface.integrity.prose import is_prose
from noface.integrity.strength import Body, all_bodies, asks_only_more, bodies
from noface.integrity.tampering import blind, changed_lines, is_code, named_among, vacuous
from noface.integrity.turned import kept, turned, turned_alike, turned_inside
from noface.model.attempt import ABSENT, FileChange
from noface.model.failure import Failure
from noface.model.gate import GateSpec

_LINE_CHARS_MAX = 2_000
_TESTS_MAX = 500
_DATA_MAX = 100
_NO_TEXT = "\0"
_VALUE_OF_NAME = re.compile(
    r"\s*+(?:(?:const|let|var|static|final|public|private)\s++)*+\w++(?:\s*+:[^=]*+)?\s*+:?=(?!=)"
)
_REGULAR = frozenset({"100644", "100755"})


class Run(Protocol):
    """Runs gates on a tree of its own; where it is not `steady`, no red test runs again."""

    def __call__(self, tree: str, gates: tuple[GateSpec, ...], *, steady: bool) -> Gated: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """Whether main's tests can still turn red on a task's tree; `parts` are main's.

    `often` is [integrity] sensitivity: of which changes it is asked.
    """

    plumbing: Plumbing
    task: Task
    parts: Parts
    facts: GateFacts
    run: Run
    often: str = "reaching"

    def failure(
        self,
        mains: Mapping[str, Entry | None],
        gates: tuple[GateSpec, ...],
        tests: Iterable[FileChange] = (),
        taken: Collection[str] = (),
    ) -> Failure | None:
        """Return the failure of a change on which a test passes that does not on main; `mains` are main's judges.

        `tests` are those that the change touches, but for what its issue is about; of `taken` ones it is known that
        they ask for less. What measures coverage is left out: it is red for more than what a test asserts.
        """
        gates = tuple(gate for gate in gates if not measures(gate))
        if not gates or self.often == "never":
            return None
        return self._blind(mains, gates) or self._emptied(gates, tests, taken)

    def _emptied(
        self, gates: tuple[GateSpec, ...], tests: Iterable[FileChange], taken: Collection[str]
    ) -> Failure | None:
        """Return the failure of a change in whose version tests of main pass whatever they ask for."""
        rewritten = self._rewritten(tests)
        if not rewritten:
            return None
        others = self._turned_alike(self.task.tree)
        by_data = any(not is_code(path) for path in others)  # which may say what a test without values asks for
        after = self._bodies(tree_with(self.plumbing, self.task.tree, others))
        asking = {body.shown for key, body in rewritten.items() if key in after and (by_data or after[key] != body)}
        asking -= {*taken}
        passed = self._alone(self.task.tree, others, gates, asking)
        if not any(passed.values()):
            return None
        on_main = self._alone(self.task.main, self._turned_alike(self.task.main), gates, asking)
        for gate in gates:
            had = {name.partition("[")[0] for name in self._ids(self.task.main, gate, asking)}
            lost = tuple(sorted(passed[gate] & had - on_main[gate]))
            if lost:
                return vacuous(gate, lost)
        return None

    def _alone(
        self, tree: str, entries: Mapping[str, Entry | None], gates: tuple[GateSpec, ...], bodies: Collection[str]
    ) -> dict[GateSpec, frozenset[str]]:
        """Return which tests of these bodies pass with these entries; they run alone if the runner can be told so."""
        commands: dict[GateSpec, str] = {}
        for gate in gates:
            known, ids = self._known(tree, gate), self._ids(tree, gate, bodies)
            if known is not None and ids:
                commands[gate] = narrowed(gate.command, known.runners, ids) or gate.command
        alone = {gate: replace(gate, command=command, report=None) for gate, command in commands.items()}
        passed = self._passing(tree, entries, tuple(alone.values())) if alone else {}
        return {
            gate: frozenset(
                test for test in (passed[alone[gate]] if gate in alone else ()) if named_among(test, bodies)
            )
            for gate in gates
        }

    def _ids(self, tree: str, gate: GateSpec, bodies: Collection[str]) -> tuple[str, ...]:
        """Return the ids of the tests of these bodies, as a gate ran them on a tree."""
        known = self._known(tree, gate)
        return tuple(name for name, _ in known.tests if named_among(name, bodies)) if known is not None else ()

    def _known(self, tree: str, gate: GateSpec) -> Inventory | None:
        return self.facts.inventories.get((self.plumbing.tree(tree), gate.command))

    def _rewritten(self, tests: Iterable[FileChange]) -> dict[tuple[str, ...], Body]:
        """Return the bodies of main that a change rewrites; all tests where one is rewritten that they may use."""
        pairs = [
            (each.path, each.old_oid, each.new_oid) for each in tests if ABSENT not in (each.old_mode, each.new_mode)
        ]
        found: dict[tuple[str, ...], Body] = {}
        values = False
        with self.plumbing.blobs() as blobs:
            for path, old, new in pairs:
                main, now = (bodies(path, blobs.text(oid, TEXT_CHARS_MAX)) for oid in (old, new))
                found |= {key: body for key, body in now.items() if not asks_only_more(main.get(key, body), body)}
                rests = ((body.lines for body in side.values() if not body.name) for side in (main, now))
                was, rest = (frozenset(line for lines in side for line in lines) for side in rests)
                values |= any(_VALUE_OF_NAME.match(line) for line in was - rest)
        if not values and all(body.test or not body.name for body in found.values()):
            return {key: body for key, body in found.items() if body.test}
        return {key: body for key, body in self._bodies(self.task.tree).items() if body.test}

    def _bodies(self, tree: str) -> dict[tuple[str, ...], Body]:
        entries = self.plumbing.entries(tree, self._tests(tree))
        with self.plumbing.blobs() as blobs:
            return all_bodies({path: blobs.text(oid, TEXT_CHARS_MAX) for path, (_, oid) in entries.items()})

    def _blind(self, mains: Mapping[str, Entry | None], gates: tuple[GateSpec, ...]) -> Failure | None:
        reaches = self._asked()
        others = self._turned(self.task.main) if reaches else {}
        inside = self._turned_inside(self.task.tree, mains) if reaches else {}
        passed = self._passing(self.task.tree, {**mains, **others, **inside}, gates) if others or inside else {}
        if not any(+each for each in passed.values()):
            return None
        inside = self._turned_inside(self.task.main, {})
        on_main = self._passing(self.task.main, {**others, **inside}, gates)
        for gate in gates:
            more = passed[gate] - on_main[gate]
            if more:
                return blind(gate, tuple(sorted(test for test in more if test)))
        return None

    def _asked(self) -> bool:
        return self.often == "always" or (self.often == "reaching" and self._may_reach())

    def _may_reach(self) -> bool:
        """Tell whether the product's added lines may reach what judges them."""
        reaches = pattern("integrity", "sensitivity", "reaches")
        patch = self.plumbing.diff(self.task.main, self.task.tree).patch.decode("utf-8", "replace")
        added = (line for line in changed_lines(patch) if not line.removed and is_code(line.path))
        reaching = {line.path for line in added if reaches.search(line.text[:_LINE_CHARS_MAX])}
        return any(self.parts(path) is Part.PRODUCT for path in reaching)

    def _tests(self, tree: str) -> tuple[str, ...]:
        named = (path for path in self.plumbing.paths(tree) if part_of(path) is Part.TEST)
        documents = (path for path in self.parts.reached.files if is_prose(path) or path.endswith(".txt"))
        judging = (path for path in (*named, *self.parts.listed) if self.parts(path) is Part.TEST)
        code_first = sorted(judging, key=lambda path: not is_code(path))
        return tuple(dict.fromkeys((*code_first, *documents)))[:_TESTS_MAX]

    def _turned(self, tree: str) -> dict[str, Entry | None]:
        """Return a tree's tests with other values in what they assert; a file without any is left out."""
        entries: dict[str, Entry | None] = {}
        with self.plumbing.blobs() as blobs:
            for path, (mode, oid) in self.plumbing.entries(tree, self._tests(tree)).items():
                text = turned(path, blobs.text(oid, TEXT_CHARS_MAX)) if mode in _REGULAR else None
                if text is not None:
                    entries[path] = (mode, store_text(self.plumbing, text))
        return entries

    def _turned_alike(self, tree: str) -> dict[str, Entry | None]:
        """Return a tree's tests and their data with other values, the same for equal ones over all files."""
        tests = (path for path in self._tests(tree) if is_code(path) or is_data(path))
        paths = tuple(dict.fromkeys((*tests, *self._data_by_use())))
        held = {path: entry for path, entry in self.plumbing.entries(tree, paths).items() if entry[0] in _REGULAR}
        with self.plumbing.blobs() as blobs:
            texts = {path: blobs.text(oid, TEXT_CHARS_MAX) for path, (_, oid) in held.items()}
        stays = kept(self.plumbing.paths(tree), texts)
        turned = {path: turned_alike(path, text, stays) for path, text in texts.items() if _NO_TEXT not in text}
        return {
            path: (held[path][0], store_text(self.plumbing, text)) for path, text in turned.items() if text is not None
        }

    def _data_by_use(self) -> tuple[str, ...]:
        """Return main's data that judges though no name says so; none if there is too much to look at."""
        read = frozenset[str]().union(*(each.read for each in self.parts.reads.values()))
        paths = [path for path in sorted(read) if not is_code(path) and part_of(path) in (Part.PRODUCT, Part.SOFT)]
        return tuple(path for path in paths if self.parts.holds_cases(path)) if len(paths) <= _DATA_MAX else ()

    def _turned_inside(self, tree: str, mains: Mapping[str, Entry | None]) -> dict[str, Entry | None]:
        """Return the tree's sources with other values in main's tests inside them; of `mains` the files come first."""
        holders = (path for path in self.plumbing.naming(self.task.main, MARKS) if path.endswith(HOLDERS))
        paths = tuple(path for path in holders if self.parts(path) is Part.PRODUCT)[:_TESTS_MAX]
        held = self.plumbing.entries(tree, paths) | {p: each for p in paths if (each := mains.get(p)) is not None}
        entries: dict[str, Entry | None] = {}
        with self.plumbing.blobs() as blobs:
            for path, (mode, oid) in held.items():
                text = turned_inside(path, blobs.text(oid, TEXT_CHARS_MAX)) if mode in _REGULAR else None
                if text is not None:
                    entries[path] = (mode, store_text(self.plumbing, text))
        return entries

    def _passing(
        self, tree: str, entries: Mapping[str, Entry | None], gates: tuple[GateSpec, ...]
    ) -> dict[GateSpec, Counter[str]]:
        """Return how many tests pass on a tree with these entries, by name without parameters; "" is the gate."""
        other = tree_with(self.plumbing, tree, entries)
        gated = self.run(other, tuple(replace(gate, again=0, retries=0) for gate in gates), steady=False)
        found = {gate: Counter[str]() for gate in gates}
        passed = {result.gate.command for result in gated.results if result.passed}
        for gate in gates:
            known = self.facts.inventories.get((other, gate.command))
            tests = known.tests if known is not None else ()
            found[gate].update(name.partition("[")[0] for name, outcome in tests if outcome is Outcome.PASSED)
            found[gate][""] = int(gate.command in passed) + ((known.count if known is not None else None) or 0)
        return found
