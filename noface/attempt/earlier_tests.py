"""What a change takes from main's tests: bodies that are gone or ask for less, and their data."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from noface.attempt.parts import Parts
from noface.git.objects import ObjectReader
from noface.git.plumbing import Plumbing
from noface.integrity.entries import all_values, fewer_values
from noface.integrity.judges import Part, lifted, part_of
from noface.integrity.looking import looked_at_less
from noface.integrity.origins import Side
from noface.integrity.strength import Loss, Weaker, all_bodies, of_bodies
from noface.integrity.tampering import asserts, is_code, is_test_file
from noface.integrity.uses import uses_code
from noface.model.attempt import ABSENT, REGULAR, AttemptOrder, FileChange

_TEXT_BYTES_MAX = 2_000_000
_NO_TEXT = "\0"
_HOLDING = (*REGULAR, "120000")


@dataclass(frozen=True, slots=True)
class EarlierTests:
    """Main's tests before and after an order's change.

    `parts` tells which data judges.
    """

    plumbing: Plumbing
    blobs: ObjectReader
    order: AttemptOrder
    parts: Parts

    def weaker(self, files: tuple[FileChange, ...]) -> Weaker:
        """Return what tests and their data have lost by a change of `files`.

        What the issue may change of them has lost nothing. A test that has lost what it asserts need not be said to
        look at nothing as well.
        """
        changes = tuple(file for file in files if not lifted(file.path, self.order.issue))
        tests = tuple(each for each in changes if is_test_file(each.path))
        tests = tuple(test for test in tests if test.added is not None)  # no binaries, which no text tells of
        new = tuple(c for c in changes if c.old_mode == ABSENT and is_code(c.path) and not is_test_file(c.path))
        weakened = self._weaker_bodies(tests, new)
        if tests:
            known = {loss.test for loss in weakened.lost}
            unlooked = looked_at_less(*self._sides(files), tuple(test.path for test in tests))
            weakened = replace(weakened, lost=(*weakened.lost, *(loss for loss in unlooked if loss.test not in known)))
        return replace(weakened, lost=(*weakened.lost, *self._fewer_values(changes)))

    def _sides(self, files: tuple[FileChange, ...]) -> tuple[Side, Side]:
        """Return main's tree and the one that a change makes of it, to look names up in."""
        paths = self.plumbing.whole(self.order.main).paths
        new = {file.path: file.new_oid for file in files}
        there = {file.path for file in files if file.new_mode != ABSENT}

        def before(path: str) -> str:
            return self.blobs.text(self.blobs.resolve(f"{self.order.main}:{path}") or "", _TEXT_BYTES_MAX)

        def after(path: str) -> str:
            return self.blobs.text(new[path], _TEXT_BYTES_MAX) if path in new else before(path)

        others = tuple(path for path in there if is_code(path))
        return Side(paths, before), Side((paths - new.keys()) | there, after, there - paths, others)

    def _weaker_bodies(self, tests: tuple[FileChange, ...], others: tuple[FileChange, ...]) -> Weaker:
        """Return what these tests have lost; what they asserted may stand in another new file now, if they use that."""
        if all(test.old_mode == ABSENT for test in tests):
            return Weaker()
        main = {t.path: self.blobs.text(t.old_oid, _TEXT_BYTES_MAX) for t in tests if t.old_mode != ABSENT}
        now = {t.path: self.blobs.text(t.new_oid, _TEXT_BYTES_MAX) for t in tests if t.new_mode != ABSENT}
        new = {c.path: text for c in others if asserts(text := self.blobs.text(c.new_oid, _TEXT_BYTES_MAX))}
        now |= {p: text for p, text in new.items() if any(uses_code(test, now[test], p) for test in now)}
        bodies, after = all_bodies(main), all_bodies(now)
        return of_bodies(bodies, after)

    def _fewer_values(self, changes: tuple[FileChange, ...]) -> tuple[Loss, ...]:
        """Return which data of main's tests is gone or holds little of it; what stands elsewhere is not lost."""
        new = {each.new_oid for each in changes if each.old_mode == ABSENT}
        data = [each for each in changes if _may_lose(self.blobs, each, new) and self.parts.holds_cases(each.path)]
        if not data:
            return ()
        gaining = [c for c in changes if c.new_mode in _HOLDING and (part_of(c.path) is Part.TEST or c in data)]
        main = all_values({c.path: _text(self.blobs, c.old_oid) for c in (*data, *gaining) if c.old_mode in _HOLDING})
        now = all_values({c.path: _text(self.blobs, c.new_oid) for c in gaining})
        paths = [c.path for c in data]
        return fewer_values(main, now, paths)


def _may_lose(blobs: ObjectReader, change: FileChange, new: Collection[str]) -> bool:
    """True if a file of main has fewer words, as far as its form tells; one that moved has not."""
    if change.old_mode not in _HOLDING or is_code(change.path) or change.old_oid in {*new, change.new_oid}:
        return False
    return change.new_mode in (*_HOLDING, ABSENT) and (blobs.size(change.new_oid) or 0) <= _TEXT_BYTES_MAX


def _text(blobs: ObjectReader, oid: str) -> str:
    """Return a blob as text; of one that is none it only counts that it is there."""
    text = blobs.text(oid, _TEXT_BYTES_MAX)
    return _NO_TEXT if _NO_TEXT in text else text


def bodies_since(plumbing: Plumbing, old: str, new: str) -> tuple[str, ...]:
    """Return the tests, as path and name, that `new` has and `old` has not, or not so; a new file as well."""
    tests = [change for change in plumbing.changes(old, new) if part_of(change.path) is Part.TEST]
    if not tests:
        return ()
    added, paths = {test.path for test in tests if test.old_mode == ABSENT}, tuple(test.path for test in tests)
    with plumbing.blobs() as blobs:
        before, after = (all_bodies(_texts(plumbing, blobs, commit, paths)) for commit in (old, new))
    others = (body for key, body in after.items() if body != before.get(key))
    return tuple(body.label for body in others if body.name or body.path in added)


def _texts(plumbing: Plumbing, blobs: ObjectReader, commit: str, paths: tuple[str, ...]) -> dict[str, str]:
    return {path: blobs.text(oid, _TEXT_BYTES_MAX) for path, (_, oid) in plumbing.entries(commit, paths).items()}
