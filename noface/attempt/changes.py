"""A change against main, in memory only, and the secrets that it adds. What main holds, or is moved, is no news.

Secrets, and what servers refuse, are kept off branches and pushes (I12). Work is kept below `refs/noface/` (law 2) with
marks in place of the secrets that it adds.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from noface.attempt.environment import AttemptEnvironment
from noface.gates.secrets import AddedSecret, keys_of, secret_failure, shown_path, without_secrets
from noface.git.objects import ObjectReader
from noface.git.plumbing import Plumbing, entries_before, make_and_hold, occurring, store_text
from noface.git.server_checks import refused
from noface.git.stored import Entry
from noface.integrity.diff.names import may_be_refused, refused_by_servers
from noface.integrity.diff.rules import unfit_failures
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


_BYTES_MAX = 64 << 20
_HISTORIES_MAX = 4_096
_MESSAGE = "the message of a commit"


def why_held_back(env: AttemptEnvironment, commit: str) -> str:
    failure = history_failure(env, commit)
    return f"with it would go what cannot be pushed: {failure.message}" if failure is not None else ""


def history_failure(env: AttemptEnvironment, commit: str) -> Failure | None:
    """Return the failure for secrets and what servers refuse, in a commit or an ancestor of it that no main has."""
    mains = env.plumbing.mains()
    if (commit, mains) not in env.histories:
        if len(env.histories) >= _HISTORIES_MAX:
            env.histories.clear()
            env.looked_through.clear()
        env.histories[commit, mains] = _look_through(env, commit, mains)
    return env.histories[commit, mains]


def _look_through(env: AttemptEnvironment, commit: str, mains: frozenset[str]) -> Failure | None:
    plumbing, masker, seen = env.plumbing, env.masker, env.looked_through
    new = plumbing.new_history(commit)
    changes = tuple(each for each in new.changes if (each.path, each.new_oid, mains) not in seen)
    main, *bases = dict.fromkeys((*sorted(mains), *new.bases))
    held = added_secrets(env, main, changes, bases=tuple(bases))
    if isinstance(held, Failure):
        return held
    messages = b"\n".join(new.messages)
    names = {key.telltale: key.name for key in keys_of(messages.decode("utf-8", "surrogateescape"))}
    names |= {form: name for form in masker.telling(messages) for name in masker.names_of((form,))}
    known = frozenset[str]().union(*(occurring(plumbing, base, names) for base in (main, *bases)))
    held += tuple(AddedSecret(_MESSAGE, name) for telltale, name in names.items() if telltale not in known)
    if held:
        return secret_failure(held, masker)
    if new.foreign or may_be_refused(each.path for each in changes):
        unfit = tuple(refused_by_servers(*one) for one in refused(plumbing, commit, (main, *bases)))
        if failure := next(unfit_failures(unfit), None):
            return failure
    seen.update((each.path, each.new_oid, mains) for each in changes)
    return None


def without_history(env: AttemptEnvironment, ref: str, main: str, commit: str, tree: str) -> str | Failure:
    if history_failure(env, commit) is None:
        return commit
    alone = put_on(env.plumbing, ref, main, tree, commit)
    return history_failure(env, alone) or alone


def fit_to_show(env: AttemptEnvironment, ref: str, commit: str, decoded: str | None) -> str:
    """Return a commit that may stand on a branch: `commit`, or its work without secrets and what servers refuse.

    `ref` holds that then. It is what is `decoded` there already if that says the same.
    """
    if history_failure(env, commit) is None:
        return commit
    plumbing = env.plumbing
    base = plumbing.git.ask("merge-base", plumbing.main(), commit)
    tree = without_added_secrets(env, base, plumbing.tree(commit))[0]
    changed = plumbing.changes(base, tree)
    errors = refused(plumbing, tree, (base,)) if may_be_refused(each.path for each in changed) else ()
    places = tuple({path for path, *_ in errors})
    under = (c for c in changed if "." in places or any(f"{c.path}/".startswith(f"{place}/") for place in places))
    tree = plumbing.tree_with(tree, entries_before(tuple(under))) if places else tree
    if decoded is not None and plumbing.tree(decoded) == tree and history_failure(env, decoded) is None:
        return decoded
    return put_on(plumbing, ref, base, tree, commit)


def put_on(plumbing: Plumbing, ref: str, base: str, tree: str, commit: str) -> str:
    message = plumbing.git.ask("log", "-1", "--format=%B", commit)  # its trailers name issue and attempt
    return make_and_hold(plumbing, ref, lambda: plumbing.commit_tree(tree, (base,), message), str)


def without_added_secrets(env: AttemptEnvironment, main: str, tree: str) -> tuple[str, tuple[AddedSecret, ...]]:
    """Return a tree like `tree` with marks for the secrets that it adds to `main`, and these.

    A file that holds one all the same (in UTF-16, say) is as on main.
    """
    changes = env.plumbing.changes(main, tree)
    met = added_secrets(env, main, changes)
    if isinstance(met, Failure) or not met:
        return tree, ()
    entries: dict[str, Entry | None] = {}
    for file in _holding(changes, met):
        with env.plumbing.blobs() as blobs:
            data = blobs.read(file.new_oid, _BYTES_MAX)
        if data is None:
            entries |= entries_before((file,))
        else:
            masked = store_text(env.plumbing, without_secrets(data, env.masker))
            entries |= {file.path: None, shown_path(file.path, env.masker): (file.new_mode, masked)}
    tree = env.plumbing.tree_with(tree, entries)
    changes = env.plumbing.changes(main, tree)
    left = added_secrets(env, main, changes)
    if left and not isinstance(left, Failure):
        tree = env.plumbing.tree_with(tree, entries_before(_holding(changes, left)))
    return tree, met


def _holding(changes: tuple[FileChange, ...], secrets: tuple[AddedSecret, ...]) -> tuple[FileChange, ...]:
    places = {secret.path for secret in secrets}
    return tuple(file for file in changes if file.path in places)
