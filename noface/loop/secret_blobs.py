"""Finds known secrets in the bytes of what a change adds, where its patch does not show them (I12).

Git shows no lines of a file that it takes for binary (one NUL is enough), and a patch is cut where it is too long. What
has landed once counts as the project's own afterwards, so what is not looked through does not land.
"""

from dataclasses import dataclass

from noface.core.attempt import FileChange
from noface.core.failure import Failure
from noface.core.masking import Masker
from noface.core.taxonomy import FailureKind
from noface.gates.secrets import Secret, secret_failure
from noface.git.objects import BlobReader
from noface.git.plumbing import Plumbing, occurring

_ABSENT = "000000"
_GITLINK = "160000"
_CHUNK_BYTES = 1 << 19
_PIECES_BYTES_MAX = 8 << 20
TOTAL_BYTES_MAX = 1 << 30
_SHOWN_MAX = 10


@dataclass(frozen=True, slots=True)
class _Added:
    """The values that a file adds, as they are written, and the names of those that stand there in pieces."""

    forms: frozenset[str]
    broken: frozenset[str]


def secrets_in_bytes(
    plumbing: Plumbing,
    masker: Masker,
    main: str,
    changes: tuple[FileChange, ...],
    *,
    whole: bool,
    bytes_max: int = TOTAL_BYTES_MAX,
) -> Failure | None:
    """Return the failure for known secrets in files that the patch does not show, or for more than can be read.

    `whole` tells that the patch against `main` was not cut: then only files without lines are read. More than
    `bytes_max` bytes are not read in all. Raises GitError where git ended.
    """
    unseen = tuple(
        change
        for change in changes
        if change.new_mode not in (_ABSENT, _GITLINK)
        and change.new_oid != change.old_oid
        and (not whole or change.added is None)
    )
    if not unseen or not masker:
        return None
    on_main: frozenset[str] | None = None
    left = bytes_max
    found: list[Secret] = []
    with plumbing.blobs() as blobs:
        for at, change in enumerate(unseen):
            left -= blobs.size(change.new_oid) or 0
            if left < 0:
                return _unread(tuple(each.path for each in unseen[at:]))
            added = _added(masker, blobs, change)
            names = added.broken | masker.names_of(added.forms - occurring(plumbing, main, added.forms))
            if names and on_main is None:
                on_main = plumbing.objects(main)
            if on_main is None or change.new_oid not in on_main:
                found += [Secret(change.path, name, f"the value of {name}") for name in sorted(names)]
    return secret_failure(tuple(found)) if found else None


def _added(masker: Masker, blobs: BlobReader, change: FileChange) -> _Added:
    name = change.path.encode("utf-8", "surrogateescape") if change.status == "A" else b""
    forms, broken = _held(masker, blobs, change.new_oid)
    if (forms or broken) and change.old_mode != _ABSENT:
        before = _held(masker, blobs, change.old_oid)
        forms, broken = forms - before[0], broken - before[1]
    return _Added(forms | masker.telling(name), broken)


def _held(masker: Masker, blobs: BlobReader, oid: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the values that stand in a blob as they are written there, and the names of those in several pieces."""
    forms: set[str] = set()
    kept, overlap = b"", masker.longest_bytes - 1
    for data in blobs.chunks(oid, _CHUNK_BYTES):
        window = kept + data
        forms |= masker.telling(window)
        kept = window[-overlap:] if overlap > 0 else b""
    return frozenset(forms), masker.in_pieces(blobs.read(oid, _PIECES_BYTES_MAX) or b"")


def _unread(paths: tuple[str, ...]) -> Failure:
    return Failure(
        FailureKind.RESOURCE_EXHAUSTED,
        f"the change is too large to be looked through for secrets: {', '.join(paths[:_SHOWN_MAX])} were not read;"
        " leave out what need not be committed, or name it in .gitignore",
        rule="not-looked-through",
        location=paths[0],
        signature="not-looked-through",
        evidence=paths[:_SHOWN_MAX],
    )
