"""A change against main, unmasked and in memory only, and the secrets that it adds.

Contents come from the object store, never from a slot.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from noface.attempt.environment import AttemptEnvironment
from noface.gates.secrets import MARK, AddedSecret, keys_of, marked, scan
from noface.git.objects import ObjectReader
from noface.git.plumbing import occurring
from noface.model.attempt import ABSENT, FileChange
from noface.model.failure import Failure
from noface.model.patterns import matches_any
from noface.model.taxonomy import FailureKind
from noface.secrets.masking import Masker
from noface.secrets.shapes import KEY_CHARS_MAX

_GITLINK = "160000"
_CHUNK_BYTES = 1 << 19
TOTAL_BYTES_MAX = 1 << 30
PATCH_BYTES_MAX = 20 * 1024 * 1024
_SHOWN_MAX = 10


@dataclass(frozen=True, slots=True)
class _Held:
    """The secrets of a file: values as they are written, names of keys by a line of each."""

    forms: frozenset[str]
    keys: Mapping[str, str]

    def without(self, known: Collection[str]) -> "_Held":
        """Return what of this is not known."""
        keys = {telltale: name for telltale, name in self.keys.items() if telltale not in known}
        return _Held(self.forms.difference(known), keys)


def secrets_in_bytes(
    env: AttemptEnvironment,
    main: str,
    changes: tuple[FileChange, ...],
    *,
    whole: bool,
    bytes_max: int = TOTAL_BYTES_MAX,
    bases: tuple[str, ...] = (),
) -> tuple[AddedSecret, ...] | Failure:
    """Return the secrets in files that the patch does not show; the failure for more than can be read.

    `whole`: the patch against `main` is not cut, so only files without lines are read. `bytes_max`
    bounds what is read in all. What `bases` hold is no news either. Raises GitError if git ends early.
    """
    plumbing, masker = env.plumbing, env.masker
    unseen = tuple(
        change
        for change in changes
        if change.new_mode not in (ABSENT, _GITLINK)
        and change.new_oid != change.old_oid
        and (not whole or change.added is None)
    )
    on_main: frozenset[str] | None = None
    left = bytes_max
    secrets: list[AddedSecret] = []
    with plumbing.blobs() as blobs:
        for at, change in enumerate(unseen):
            left -= blobs.size(change.new_oid) or 0
            if left < 0:
                return _unread(tuple(each.path for each in unseen[at:]))
            added = _added(masker, blobs, change)
            if matches_any(change.path, env.diff_limits.test_keys):
                added = replace(added, keys={})
            if added == _NOTHING:
                continue
            known = (occurring(plumbing, base, (*added.forms, *added.keys)) for base in (main, *bases))
            new = added.without(frozenset[str]().union(*known))
            if new == _NOTHING:
                continue
            on_main = plumbing.objects(main) if on_main is None else on_main
            if change.new_oid not in on_main:
                names = sorted({*masker.names_of(new.forms), *new.keys.values()})
                secrets += [AddedSecret(change.path, name, f"the value of {name}") for name in names]
    return tuple(secrets)


def _added(masker: Masker, blobs: ObjectReader, change: FileChange) -> _Held:
    name = change.path.encode("utf-8", "surrogateescape") if change.status == "A" else b""
    held = _held(masker, blobs, change.new_oid)
    if held != _NOTHING and change.old_mode != ABSENT:
        before = _held(masker, blobs, change.old_oid)
        held = held.without({*before.forms, *before.keys})
    return replace(held, forms=held.forms | masker.telling(name), keys={**held.keys, **_keys(name, more=False)})


_NOTHING = _Held(frozenset(), {})


def _held(masker: Masker, blobs: ObjectReader, oid: str) -> _Held:
    forms: set[str] = set()
    keys: dict[str, str] = {}
    window, overlap = b"", max(masker.longest_bytes, KEY_CHARS_MAX)
    for data in blobs.chunks(oid, _CHUNK_BYTES):
        window = window[-overlap:] + data
        forms |= masker.telling(window)
        keys |= _keys(window, more=True)
    return _Held(frozenset(forms), keys | _keys(window[-overlap:], more=False))


def _keys(data: bytes, *, more: bool) -> dict[str, str]:
    """Return the names of the keys in bytes, or in the letters of UTF-16, by a line of each.

    Where there is `more`, one at the end may be cut off, and is found in the next bytes.
    """
    texts = (data.decode("latin-1"), *((data.replace(b"\0", b"").decode("latin-1"),) if b"\0" in data else ()))
    return {key.telltale: key.name for text in texts for key in keys_of(text) if not (more and key.end == len(text))}


def _unread(paths: tuple[str, ...]) -> Failure:
    return Failure(
        FailureKind.RESOURCE_EXHAUSTED,
        f"the change is too large to search for secrets: {', '.join(paths[:_SHOWN_MAX])} were not read;"
        " leave out what need not be committed, or name it in .gitignore",
        rule="not-looked-through",
        location=paths[0],
        signature="not-looked-through",
        evidence=paths[:_SHOWN_MAX],
    )


def own_values(env: AttemptEnvironment, main: str, names: tuple[str, ...], patch: bytes) -> frozenset[str]:
    """Return which of the values that a change seems to add are on `main` already: in a file or in its name.

    `names` are the paths that it names anew. What the patch against main removes is there. Git looks only for the
    others.
    """
    added, removed = env.masker.added(patch, names), env.masker.removed(patch)
    return (added & removed) | occurring(env.plumbing, main, added - removed)


@dataclass(frozen=True, slots=True)
class Change:
    """A change against main, unmasked and in memory only: a mask in a file's name would hide it from the rules.

    `patch` may be `cut`; `masked` is the same without the known secrets, as it lies on disk, with marks for those that
    it adds. `by_worker` is False if the worker has changed nothing of what the attempt started with.
    """

    files: tuple[FileChange, ...]
    patch: bytes
    masked: bytes
    by_worker: bool
    cut: bool = False


def added_secrets(env: AttemptEnvironment, main: str, change: Change) -> tuple[AddedSecret, ...] | Failure:
    """Return the secrets that a change adds; the failure for more than can be read."""
    in_lines = marked(change.masked.decode("utf-8", "surrogateescape"))
    unseen = secrets_in_bytes(env, main, change.files, whole=not change.cut)
    return unseen if isinstance(unseen, Failure) else (*in_lines, *unseen)


def masked_patch(env: AttemptEnvironment, main: str, patch: bytes, own: Collection[str]) -> bytes:
    """Return a patch against `main` without secrets, with marks for those that it adds; `own` are values on main."""
    text = env.masker.patch(patch, MARK, own).decode("utf-8", "surrogateescape")
    masked, telltales = scan(text, (), env.diff_limits.test_keys)
    if known := occurring(env.plumbing, main, telltales):
        masked, _ = scan(text, known, env.diff_limits.test_keys)
    return masked.encode("utf-8", "surrogateescape")


def change_to(env: AttemptEnvironment, main: str, tree: str) -> Change:
    """Return the change that makes `tree` of `main`, as a worker's."""
    diff = env.plumbing.diff(main, tree)
    patch = diff.patch[:PATCH_BYTES_MAX]
    names = tuple(change.path for change in diff.changes if change.old_mode == ABSENT)
    masked = masked_patch(env, main, patch, own_values(env, main, names, patch))
    return Change(diff.changes, patch, masked, by_worker=True, cut=len(patch) < len(diff.patch))
