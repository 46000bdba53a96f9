"""Finds the checks that a change excuses itself from: its comments are muted, and the checks run once more (law 11)."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from posixpath import splitext

from noface.attempt.trial import Trial
from noface.git.objects import ObjectReader
from noface.git.plumbing import store_text
from noface.git.stored import Entry
from noface.integrity.asked_for import words_of
from noface.integrity.excuses import STUB, Excuse, excuses, muted, near, rules_in, stub_beside
from noface.integrity.judges import Part
from noface.integrity.lexing import TEXT_CHARS_MAX
from noface.integrity.meant_imports import excuses_unused_import, meant_imports
from noface.integrity.tampering import excused
from noface.model.attempt import ABSENT, REGULAR, FileChange
from noface.model.failure import Failure
from noface.model.gate import GateKind, GateSpec, worst

_FILES_MAX = 200
_ASKED_MAX = 100
_LINE_CHARS_MAX = 1_000
_COVERAGE = re.compile(r"\b(cov|coverage|nyc|c8|istanbul)\b")


class ExcusedChecks:
    """What the product's part of a change may be excused from by the words that it adds.

    An excuse that main has in the same words, or whose rules main excuses other code from, is the project's custom; one
    that the issue's text names is its work. An import that is meant to be there though it is not used (`meant_imports`)
    needs no other reason.
    """

    def __init__(self, trial: Trial) -> None:
        self._trial, self._plumbing, self._tree = trial, trial.plumbing, trial.task.tree
        self._main = trial.landed[0][0] if trial.landed else trial.task.main
        """Main as the run found it: what a run excuses is nobody's custom yet."""

    def failure(self, changes: Iterable[FileChange]) -> Failure | None:
        """Return what the gates that check find once nothing excuses the change; None if that is nothing."""
        part, hard = self._trial.parts, (gate for gate in self._trial.gates if gate.hard and not gate.accept)
        checks = tuple(gate for gate in hard if gate.kind is not GateKind.TEST or measures(gate))
        product = [c for c in changes if c.new_mode in REGULAR and part(c.path) is not Part.TEST] if checks else []
        texts, comments = self._read(product[:_FILES_MAX])
        if not comments:
            return None
        red = self._red(texts, comments, checks)
        if red is not None and (others := self._unknown(comments)) != comments:
            comments = others
            red = self._red(texts, comments, checks) if comments else None
        if red is None:
            return None
        text = f"{red.location or ''}\n{red.excerpt}\n" + "\n".join(red.evidence)
        return excused(tuple(each.label for each in near(comments, text)), red)

    def _read(self, changes: Collection[FileChange]) -> tuple[dict[FileChange, str], tuple[Excuse, ...]]:
        texts: dict[FileChange, str] = {}
        rows: list[Excuse] = []
        tree = self._plumbing.whole(self._tree).paths if any(c.path.endswith((".py", ".pyi")) for c in changes) else ()
        with self._plumbing.blobs() as blobs:
            for change in changes:
                text = _text(blobs, change.new_oid)
                added = added_lines(_text(blobs, change.old_oid) if change.old_mode in REGULAR else "", text)
                stub = stub_beside(change.path, tree) if change.old_mode == ABSENT else ()
                if here := stub or _asked_about(change.path, text, excuses(change.path, text, added), tree):
                    texts[change] = text
                    rows += here
        return texts, tuple(rows)

    def _red(
        self, texts: dict[FileChange, str], comments: tuple[Excuse, ...], checks: tuple[GateSpec, ...]
    ) -> Failure | None:
        entries: dict[str, Entry | None] = {}
        for change, text in texts.items():
            here = [each for each in comments if each.path == change.path]
            if here:
                rest = None if here[0].text == STUB else store_text(self._plumbing, muted(text, here))
                entries[change.path] = None if rest is None else (change.new_mode, rest)
        gated = self._trial.run_on(self._plumbing.tree_with(self._tree, entries), checks)
        red = worst(tuple(result for result in gated.results if not result.passed and result.gate in checks))
        return red.failure if red is not None and red.failure is not None and red.failure.charged else None

    def _unknown(self, comments: tuple[Excuse, ...]) -> tuple[Excuse, ...]:
        """Leave out what main says in the same words, and what the issue names."""
        kinds = dict.fromkeys(each.kind for each in comments)
        text = "\n".join(words_of(self._trial.issue))
        asked = [kind for kind in kinds if kind and kind not in text][:_ASKED_MAX]
        new = {kind for kind in asked if kind == STUB or not self._plumbing.files_with(self._main, (kind,))}
        left = tuple(each for each in comments if each.kind in new)
        custom = self._custom(left)
        return tuple(each for each in left if not each.rules or not each.rules <= custom)

    def _custom(self, comments: tuple[Excuse, ...]) -> frozenset[tuple[str, str]]:
        """Return the rules among those of these excuses that main excuses other code from, in the same language."""
        custom = set[tuple[str, str]]()
        for ending in {splitext(each.path)[1] for each in comments if each.rules}:
            names = {name for each in comments if each.path.endswith(ending) for _, name in each.rules}
            paths = self._plumbing.files_with(self._main, tuple(sorted(names)), f"*{ending}")[:_FILES_MAX]
            with self._plumbing.blobs() as blobs:
                for _, oid in self._plumbing.entries(self._main, paths).values():
                    lines = (line for line in _text(blobs, oid).split("\n") if any(name in line for name in names))
                    custom.update(rule for line in lines for rule in rules_in(line[:_LINE_CHARS_MAX]))
        return frozenset(custom)


def _asked_about(path: str, text: str, comments: tuple[Excuse, ...], tree: Collection[str]) -> tuple[Excuse, ...]:
    """Leave out what excuses imports that are meant to be there though they are not used, and nothing else."""
    if not path.endswith((".py", ".pyi")) or not any(excuses_unused_import(each.kind) for each in comments):
        return comments
    meant = meant_imports(path, text, tree)
    return tuple(each for each in comments if not (each.line in meant and excuses_unused_import(each.kind)))


def measures(gate: GateSpec) -> bool:
    """True if a test gate also measures coverage, which a comment can excuse code from."""
    return gate.kind is GateKind.TEST and _COVERAGE.search(gate.command) is not None


def _text(blobs: ObjectReader, oid: str) -> str:
    text = blobs.text(oid, TEXT_CHARS_MAX, "surrogateescape")
    return "" if "\0" in text else text


def added_lines(old: str, new: str) -> frozenset[int]:
    """Return the numbers of the lines that stand more often in the new text, counted from 1."""
    left = Counter(old.split("\n"))
    added: set[int] = set()
    for number, line in enumerate(new.split("\n"), 1):
        left[line] -= 1
        if left[line] < 0:
            added.add(number)
    return frozenset(added)
