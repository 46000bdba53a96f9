"""How strong main's tests were when the run began, so that many landings cannot take from a test what none may at once.

What others than the run put on main since then counts as they left it, and so does what somebody let a landing change:
a person, a reviewer, or an issue that names the tests.
"""

from dataclasses import replace

from noface.engine.context import RunContext
from noface.git.objects import ObjectReader
from noface.git.plumbing import Plumbing
from noface.integrity.judges import Part, lifted, part_of
from noface.integrity.looking import looked_at_less
from noface.integrity.origins import Side
from noface.integrity.strength import Body, Texts, Weaker, all_bodies, as_was, of_bodies
from noface.integrity.tampering import is_code
from noface.model.attempt import ABSENT, AttemptOrder, FileChange, changed_tests
from noface.model.history import Verdict

_TEXT_BYTES_MAX = 2_000_000


def weaker_tests(
    plumbing: Plumbing,
    blobs: ObjectReader,
    order: AttemptOrder,
    tests: tuple[FileChange, ...],
    files: tuple[FileChange, ...],
) -> Weaker:
    """Return what these tests have lost by a change of `files`, with what earlier landings of the run took from them.

    A test that has lost what it asserts need not be said to look at nothing as well.
    """
    tests = tuple(test for test in tests if test.added is not None)  # no binaries, which no text tells of
    if not tests:
        return Weaker()
    asking_less = _asking_less(plumbing, blobs, order, tests)
    known = {loss.test for loss in asking_less.lost}
    main, now = _sides(plumbing, blobs, order.main, files)
    unlooked = looked_at_less(main, now, tuple(test.path for test in tests))
    return replace(asking_less, lost=(*asking_less.lost, *(loss for loss in unlooked if loss.test not in known)))


def _sides(plumbing: Plumbing, blobs: ObjectReader, main: str, files: tuple[FileChange, ...]) -> tuple[Side, Side]:
    """Return main's tree and the one that a change makes of it, to look names up in."""
    paths = plumbing.whole(main).paths
    new = {file.path: file.new_oid for file in files}
    there = {file.path for file in files if file.new_mode != ABSENT}

    def before(path: str) -> str:
        return blobs.text(blobs.resolve(f"{main}:{path}") or "", _TEXT_BYTES_MAX)

    def after(path: str) -> str:
        return blobs.text(new[path], _TEXT_BYTES_MAX) if path in new else before(path)

    others = tuple(path for path in there if is_code(path))
    return Side(paths, before), Side((paths - new.keys()) | there, after, there - paths, others)


def _asking_less(plumbing: Plumbing, blobs: ObjectReader, order: AttemptOrder, tests: tuple[FileChange, ...]) -> Weaker:
    if all(test.old_mode == ABSENT for test in tests):
        return Weaker()
    main = {t.path: blobs.text(t.old_oid, _TEXT_BYTES_MAX) for t in tests if t.old_mode != ABSENT}
    now = {t.path: blobs.text(t.new_oid, _TEXT_BYTES_MAX) for t in tests if t.new_mode != ABSENT}
    bodies, after = all_bodies(main), all_bodies(now)
    found = of_bodies(bodies, after)
    if found.lost or not order.landed:
        return found
    mine = {body.shown for key, body in bodies.items() if body != after.get(key)}
    over_all = of_bodies(_at_first(plumbing, blobs, order, main), after)
    return replace(found, lost=tuple(loss for loss in over_all.lost if loss.test in mine))


def _at_first(plumbing: Plumbing, blobs: ObjectReader, order: AttemptOrder, main: Texts) -> dict[tuple[str, ...], Body]:
    mine = {new for _, new in order.landed}
    first, paths = order.landed[0][0], tuple(main)
    free = []
    for commit in reversed(plumbing.first_parents(first, order.main)):
        if commit not in mine:
            pair = (f"{commit}^", commit)
            old, new = (_texts(plumbing, blobs, each, paths) for each in pair)
            free += [(old, new)] if old != new else []
    return as_was(_texts(plumbing, blobs, first, paths), free, main)


def bodies_since(plumbing: Plumbing, old: str, new: str) -> tuple[str, ...]:
    """Return the tests, as path and name, that `new` has and `old` has not, or not so; a new file as well."""
    tests = [change for change in plumbing.changes(old, new) if part_of(change.path) is Part.TEST]
    if not tests:
        return ()
    added, paths = {test.path for test in tests if test.old_mode == ABSENT}, tuple(test.path for test in tests)
    with plumbing.blobs() as blobs:
        before, after = (all_bodies(_texts(plumbing, blobs, commit, paths)) for commit in (old, new))
    others = (body for key, body in after.items() if body != before.get(key))
    return tuple(body.shown for body in others if body.name or body.path in added)


def _texts(plumbing: Plumbing, blobs: ObjectReader, commit: str, paths: tuple[str, ...]) -> dict[str, str]:
    return {path: blobs.text(oid, _TEXT_BYTES_MAX) for path, (_, oid) in plumbing.entries(commit, paths).items()}


def unasked_landings(context: RunContext) -> tuple[tuple[str, str], ...]:
    """Return the landings of this run that nobody let change tests, the first first: main before and after each.

    What a run did that was cut off belongs to the one that goes on.
    """
    issues = {issue.id: issue for issue in context.issues}
    found = []
    for landing in context.reader.landed_in_run():
        issue = issues.get(landing.issue_id)
        rows = context.reader.attempts(landing.issue_id)
        notes = next((row.notes for row in rows if row.number == landing.number), ())
        approvals = context.questions.approvals(landing.issue_id)
        by_person = any(a.attempt == landing.number and a.verdict is Verdict.APPROVED for a in approvals)
        named = issue is not None and bool(issue.paths or issue.may_change)
        paths = [c.path for c in context.env.plumbing.changes(landing.old, landing.new)] if named else []
        lifts = issue is not None and any(part_of(p) is Part.TEST and lifted(p, issue) for p in paths)
        if not (by_person or lifts or changed_tests(notes)):
            found.append((landing.old, landing.new))
    return tuple(found)
