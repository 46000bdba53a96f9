"""What a change takes from main's tests: bodies that are gone or ask for less."""

from collections.abc import Iterable

from noface.git.objects import ObjectReader
from noface.integrity.judges import lifted
from noface.integrity.strength import Weaker, weaker
from noface.integrity.tampering import asserts, is_code, is_test_file
from noface.integrity.uses import uses_code
from noface.model.attempt import ABSENT, FileChange
from noface.model.issue import Issue

_TEXT_BYTES_MAX = 2_000_000


def weaker_tests(blobs: ObjectReader, issue: Issue, files: Iterable[FileChange]) -> Weaker:
    """Return what tests have lost by a change, but for what the issue may change or a new file asserts now."""
    changes = [each for each in files if not lifted(each.path, issue)]
    tests = [each for each in changes if is_test_file(each.path) and each.added is not None]
    if all(test.old_mode == ABSENT for test in tests):
        return Weaker()
    main = {t.path: blobs.text(t.old_oid, _TEXT_BYTES_MAX) for t in tests if t.old_mode != ABSENT}
    now = {t.path: blobs.text(t.new_oid, _TEXT_BYTES_MAX) for t in tests if t.new_mode != ABSENT}
    others = [c for c in changes if c.old_mode == ABSENT and is_code(c.path) and not is_test_file(c.path)]
    new = {c.path: text for c in others if asserts(text := blobs.text(c.new_oid, _TEXT_BYTES_MAX))}
    now |= {path: text for path, text in new.items() if any(uses_code(test, now[test], path) for test in now)}
    return weaker(main, now)
