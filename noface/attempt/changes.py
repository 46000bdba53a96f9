"""A change against main, in memory only, and the secrets that it adds. What main holds, or is moved, is no news."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from noface.attempt.environment import AttemptEnvironment
from noface.gates.secrets import AddedSecret, keys_of, without_secrets
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
_LEAVE_OUT = "leave out what need not be committed, or name it in .gitignore"


def added_secrets(
    env: AttemptEnvironment,
    main: str,
    changes: tuple[FileChange, ...],
    *,
    bytes_max: int = TOTAL_BYTES_MAX,
    bases: tuple[str, ...] = (),
) -> tuple[AddedSecret, ...] | Failure:
    """Return the secrets that changes add to `main` and `bases`; a failure for too much. Raises GitError."""
    plumbing, masker = env.plumbing, env.masker
    files = tuple(
        change
        for change in changes
        if change.new_mode not in (ABSENT, _GITLINK) and (change.new_oid != change.old_oid or change.status == "A")
    )
    on_main: frozenset[str] | None = None
    left = bytes_max
    secrets: list[AddedSecret] = []
    with plumbing.blobs() as blobs:
        for at, change in enumerate(files):
            left -= blobs.size(change.new_oid) or 0
            if left < 0:
                paths, rule = tuple(each.path for each in files[at : at + _SHOWN_MAX]), "not-looked-through"
                message = (
                    f"the change is too large to search for secrets: {', '.join(paths)} were not read; {_LEAVE_OUT}"
                )
                kind = FailureKind.RESOURCE_EXHAUSTED
                return Failure(kind, message, rule=rule, location=paths[0], signature=rule, evidence=paths)
            added = _added(masker, blobs, change, keys=not matches_any(change.path, env.diff_limits.test_keys))
            if not added:
                continue
            known = frozenset[str]().union(*(occurring(plumbing, base, added) for base in (main, *bases)))
            names = {name for written, name in added.items() if written not in known}
            if names and on_main is None:
                on_main = plumbing.objects(main)
            if on_main is None or change.new_oid not in on_main or change.status == "A":
                secrets += [AddedSecret(change.path, name) for name in sorted(names)]
    return tuple(secrets)


def _added(masker: Masker, blobs: ObjectReader, change: FileChange, *, keys: bool) -> Mapping[str, str]:
    held = _held(masker, blobs, change.new_oid, keys=keys)
    if held and change.old_mode != ABSENT:
        before = _held(masker, blobs, change.old_oid, keys=keys)
        held = {written: name for written, name in held.items() if written not in before}
    if change.status == "A":
        held |= _found(masker, change.path.encode("utf-8", "surrogateescape"), keys=keys, more=False)
    return held


def _held(masker: Masker, blobs: ObjectReader, oid: str, *, keys: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    window, overlap = b"", max(masker.longest_bytes, KEY_CHARS_MAX)
    for data in blobs.chunks(oid, _CHUNK_BYTES):
        window = window[-overlap:] + data
        found |= _found(masker, window, keys=keys, more=True)
    return found | _found(masker, window[-overlap:], keys=keys, more=False)


def _found(masker: Masker, data: bytes, *, keys: bool, more: bool) -> dict[str, str]:
    """Return the secrets in bytes, also in UTF-16. If there is `more`, a key at the end is found in the next bytes."""
    values = {form: name for form in masker.telling(data) for name in masker.names_of((form,))}
    found: dict[str, str] = {}
    texts = (data.decode("latin-1"), *((data.replace(b"\0", b"").decode("latin-1"),) if b"\0" in data else ()))
    for text in texts if keys else ():
        found |= {key.telltale: key.name for key in keys_of(text) if not (more and key.end == len(text))}
    return found | values


def own_values(env: AttemptEnvironment, main: str, names: Collection[str]) -> frozenset[str]:
    """Return which of the values in the paths that a change names anew stand on `main` already, in a file or a name."""
    written = "\n".join(names).encode("utf-8", "surrogateescape")
    return occurring(env.plumbing, main, env.masker.telling(written))


@dataclass(frozen=True, slots=True)
class Change:
    """A change against main, unmasked and in memory only: a mask in a file's name would hide it from the rules.

    `patch` may be cut off; `masked` is the same without secrets, as it lies on disk, with marks for those that it adds.
    `by_worker` is False if the worker has changed nothing of what the attempt started with.
    """

    files: tuple[FileChange, ...]
    patch: bytes
    masked: bytes
    by_worker: bool


def change_of(
    env: AttemptEnvironment,
    main: str,
    changes: tuple[FileChange, ...],
    whole: bytes,
    *,
    masked: bytes | None = None,
    by_worker: bool = True,
) -> Change:
    """Return a change by its `whole` patch, or by one that was `masked` before: its secrets may be known no more."""
    added, patch = added_secrets(env, main, changes), whole[:PATCH_BYTES_MAX]
    kinds = () if isinstance(added, Failure) else [each.type for each in added]
    masked = without_secrets(patch if masked is None else masked, env.masker, kinds)
    return Change(changes, patch, masked, by_worker=by_worker)
