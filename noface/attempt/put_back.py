"""Puts main's versions in the place of what judges a change: files, sections of manifests, tests inside of sources."""

from noface.git.objects import ObjectReader
from noface.git.plumbing import Plumbing, entries_before, store_text
from noface.git.stored import Entry
from noface.integrity.inner_tests import with_main_tests
from noface.integrity.judges import Touched, with_main_judging
from noface.integrity.tampering import assertions
from noface.model.attempt import ABSENT

_TEXT_BYTES_MAX = 4_000_000

Entries = dict[str, Entry | None]


def mains_versions(plumbing: Plumbing, judging: Touched) -> Entries:
    """Return main's versions of what judges, of a file that also does something else as far as it judges."""
    with plumbing.blobs() as blobs:
        return {
            **entries_before((*judging.tests, *judging.config)),
            **_sections(plumbing, blobs, judging),
            **_inner_tests(plumbing, blobs, judging),
        }


def _sections(plumbing: Plumbing, blobs: ObjectReader, judging: Touched) -> Entries:
    entries: Entries = {}
    for change in judging.manifests:
        now = _text(blobs, change.new_oid) if change.new_mode != ABSENT else ""
        main = _text(blobs, change.old_oid) if change.old_mode != ABSENT else ""
        combined = with_main_judging(change.path, main, now) if change.new_mode != ABSENT else None
        if combined is None:
            entries |= entries_before((change,))
        elif combined != with_main_judging(change.path, now, now):
            entries[change.path] = (change.new_mode, store_text(plumbing, combined))
    return entries


def _inner_tests(plumbing: Plumbing, blobs: ObjectReader, judging: Touched) -> Entries:
    entries: Entries = {}
    for change in judging.sources:
        text = with_main_tests(change.path, _text(blobs, change.old_oid), _text(blobs, change.new_oid))
        if text is not None:
            entries[change.path] = (change.new_mode, store_text(plumbing, text))
    return entries


def moved_tests(plumbing: Plumbing, judging: Touched) -> dict[str, str]:
    """Return which test files of main are gone, and where they stand now with all that they assert."""
    with plumbing.blobs() as blobs:
        now = {assertions(_text(blobs, c.new_oid)): c.path for c in judging.tests if c.old_mode == ABSENT}
        was = ((c.path, assertions(_text(blobs, c.old_oid))) for c in judging.tests if c.new_mode == ABSENT)
        return {path: now[asserted] for path, asserted in was if asserted and asserted in now}


def _text(blobs: ObjectReader, oid: str) -> str:
    return blobs.text(oid, _TEXT_BYTES_MAX)
