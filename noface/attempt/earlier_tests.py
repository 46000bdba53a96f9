"""How strong main's tests were when the run began, so that many landings cannot take from a test what none may at once.

What others than the run put on main since then counts as they left it, and so does what somebody let a landing change:
a person, a reviewer, or an issue that names the tests.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from noface.attempt.parts import Parts
from noface.git.objects import ObjectReader
from noface.git.plumbing import Plumbing
from noface.integrity.entries import Values, all_values, fewer_values
from noface.integrity.judges import Part, lifted, part_of
from noface.integrity.looking import looked_at_less
from noface.integrity.origins import Side
from noface.integrity.strength import K, Loss, Texts, V, Weaker, all_bodies, as_was, of_bodies
from noface.integrity.tampering import asserts, is_code, is_test_file
from noface.integrity.uses import uses_code
from noface.model.attempt import ABSENT, REGULAR, AttemptOrder, FileChange

_TEXT_BYTES_MAX = 2_000_000
_NO_TEXT = "\0"
_HOLDING = (*REGULAR, "120000")


@dataclass(frozen=True, slots=True)
class EarlierTests:
    """Main's tests before and after an order's change, and as they were when the run began.

    `parts` tells which data judges.
    """

    plumbing: Plumbing
    blobs: ObjectReader
    order: AttemptOrder
    parts: Parts

    def weaker(self, files: tuple[FileChange, ...]) -> Weaker:
        """Return what tests and their data have lost by a change of `files`, with what earlier landings took from them.

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
        weaker = of_bodies(bodies, after)
        if weaker.lost or not self.order.landed:
            return weaker
        mine = {body.label for key, body in bodies.items() if body != after.get(key)}
        over_all = of_bodies(self._at_first(main, all_bodies), after)
        return replace(weaker, lost=tuple(loss for loss in over_all.lost if loss.test in mine))

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
        weaker = fewer_values(main, now, paths)
        if weaker or not self.order.landed:
            return weaker
        less = [path for path in paths if path in now and now[path].total() < main[path].total()]
        return self._fewer_over_all((main, now), less) if less else ()

    def _fewer_over_all(
        self, change: tuple[Mapping[str, Values], Mapping[str, Values]], less: list[str]
    ) -> tuple[Loss, ...]:
        """Return which of these files has lost most since the run began; what any landing put elsewhere is not lost."""
        main, now = change
        start = self.order.landed[0][0]
        moved = tuple(c.path for c in self.plumbing.changes(start, self.order.main) if part_of(c.path) is Part.TEST)
        first = {path: values for path, values in main.items() if path not in moved}
        first |= all_values(self._texts(start, moved))
        first |= self._at_first(less, all_values)
        others = all_values(self._texts(self.order.main, tuple(path for path in moved if path not in {*first, *now})))
        return fewer_values(first, {**others, **now}, less)

    def _at_first(self, paths: Iterable[str], read: Callable[[Texts], Mapping[K, V]]) -> dict[K, V]:
        """Return what these files held when the run began, as `read` tells; on main they hold what is new there."""
        mine = {new for _, new in self.order.landed}
        first, paths = self.order.landed[0][0], tuple(paths)
        free = []
        for commit in reversed(self.plumbing.landed_commits(first, self.order.main)):
            if commit not in mine:
                pair = (f"{commit}^", commit)
                old, new = (self._texts(each, paths) for each in pair)
                free += [(read(old), read(new))] if old != new else []
        main = self._texts(self.order.main, paths)
        return as_was(read(self._texts(first, paths)), free, read(main))

    def _texts(self, commit: str, paths: tuple[str, ...]) -> dict[str, str]:
        return _texts(self.plumbing, self.blobs, commit, paths)


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
