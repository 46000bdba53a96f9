"""Keeps secrets, and what servers refuse, out of the commits that hold work, and off branches and pushes (I12).

What an attempt left is kept below `refs/noface/` (law 2) with marks in place of the secrets that it adds; a file that
cannot be marked is left as on main. No branch and no push gets a commit that has a secret, or what git's own checks
refuse, in itself or in an ancestor that main has not: `why_held_back` is asked where a branch is moved and where git
pushes (refs.py, landing.py, remote.py). Work whose history holds one goes on without that history.
"""

from collections.abc import Callable, Iterator

from noface.attempt.changes import added_secrets, change_to, secrets_in_bytes
from noface.attempt.environment import AttemptEnvironment
from noface.gates.secrets import AddedSecret, keys_of, secret_failure, without_secrets
from noface.git.plumbing import Plumbing, entries_before, make_and_hold, occurring, store_text
from noface.git.server_checks import refused
from noface.git.stored import Entry
from noface.integrity.diff.names import may_be_refused, refused_by_servers
from noface.integrity.diff.rules import unfit_failures
from noface.model.attempt import FileChange
from noface.model.failure import Failure
from noface.model.patch import decoded

_BYTES_MAX = 64 << 20
_HISTORIES_MAX = 4_096
_MESSAGE = "the message of a commit"


def why_held_back(env: AttemptEnvironment, commit: str) -> str:
    """Say why a commit may stand on no branch and not leave this machine, "" if it may."""
    failure = history_failure(env, commit)
    return f"with it would go what cannot be pushed: {failure.message}" if failure is not None else ""


def history_failure(env: AttemptEnvironment, commit: str) -> Failure | None:
    """Return the failure for secrets and what servers refuse, in a commit or an ancestor of it that no main has.

    Only what those commits bring is read, and once. A secret that main holds, or held where the work began, is no news.
    """
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
    held = secrets_in_bytes(env, main, changes, whole=False, bases=tuple(bases))
    if isinstance(held, Failure):
        return held
    messages = b"\n".join(new.messages)
    names = {key.telltale: key.name for key in keys_of(messages.decode("utf-8", "surrogateescape"))}
    names |= {form: name for form in masker.telling(messages) for name in masker.names_of((form,))}
    known = frozenset[str]().union(*(occurring(plumbing, base, names) for base in (main, *bases)))
    held += tuple(AddedSecret(_MESSAGE, name, "") for telltale, name in names.items() if telltale not in known)
    if held:
        return secret_failure(held)
    if new.foreign or may_be_refused(each.path for each in changes):
        unfit = tuple(refused_by_servers(*one) for one in refused(plumbing, commit, (main, *bases)))
        if failure := next(unfit_failures(unfit), None):
            return failure
    seen.update((each.path, each.new_oid, mains) for each in changes)
    return None


def without_history(env: AttemptEnvironment, ref: str, main: str, commit: str, tree: str) -> str | Failure:
    """Return a commit that brings `tree` to main: `commit`, or one without its history if that is held back.

    `ref` holds that. The failure is for what the tree has itself.
    """
    if history_failure(env, commit) is None:
        return commit
    alone = put_on(env.plumbing, ref, main, tree, commit)
    return history_failure(env, alone) or alone


def fit_to_show(env: AttemptEnvironment, ref: str, commit: str, decoded: str | None) -> str:
    """Return a commit that may stand on a branch: `commit`, or its work without secrets and what servers refuse.

    `ref` holds that then.

    It is what is `decoded` there already where that says the same.
    """
    if history_failure(env, commit) is None:
        return commit
    plumbing = env.plumbing
    base = plumbing.git.ask("merge-base", plumbing.main(), commit)
    tree = _without_refused(plumbing, base, without_added_secrets(env, base, plumbing.tree(commit))[0])
    if decoded is not None and plumbing.tree(decoded) == tree and history_failure(env, decoded) is None:
        return decoded
    return put_on(plumbing, ref, base, tree, commit)


def _without_refused(plumbing: Plumbing, base: str, tree: str) -> str:
    """Return a tree in which the places that servers refuse are as in `base`; itself if there are none."""
    changed = plumbing.changes(base, tree)
    errors = refused(plumbing, tree, (base,)) if may_be_refused(each.path for each in changed) else ()
    places = tuple({one.path for one in errors})
    taken_back = [
        file for file in changed if "." in places or any(f"{file.path}/".startswith(f"{place}/") for place in places)
    ]
    return plumbing.tree_with(tree, entries_before(taken_back)) if taken_back else tree


def put_on(plumbing: Plumbing, ref: str, base: str, tree: str, commit: str) -> str:
    """Return a commit on `base` with a tree and with the message of `commit`, held by `ref`."""
    message = plumbing.git.ask("log", "-1", "--format=%B", commit)  # its trailers name issue and attempt
    return make_and_hold(plumbing, ref, lambda: plumbing.commit_tree(tree, (base,), message), str)


def without_added_secrets(env: AttemptEnvironment, main: str, tree: str) -> tuple[str, tuple[AddedSecret, ...]]:
    """Return a tree like `tree` with marks for the secrets that it adds to `main`, and these.

    It is the tree itself if it adds none. A file that holds one all the same (in UTF-16, too large to be written anew)
    is as on main. What is too much to be looked through stays as it is.
    """
    met = added_secrets(env, main, change_to(env, main, tree))
    if isinstance(met, Failure):
        return tree, ()
    if met:
        tree = _put(env, tree, env.plumbing.changes(main, tree), met, _masked)
        changes = env.plumbing.changes(main, tree)
        left = secrets_in_bytes(env, main, changes, whole=False)
        tree = tree if isinstance(left, Failure) else _put(env, tree, changes, left, _as_on_main)
    return tree, met


_Replaced = Callable[[AttemptEnvironment, FileChange, str], dict[str, Entry | None]]


def _put(
    env: AttemptEnvironment,
    tree: str,
    changes: tuple[FileChange, ...],
    secrets: tuple[AddedSecret, ...],
    replaced: _Replaced,
) -> str:
    """Return a tree in which the files that hold what was found are replaced."""
    entries: dict[str, Entry | None] = {}
    for file, path in _holding(env, changes, secrets):
        entries |= replaced(env, file, path)
    return env.plumbing.tree_with(tree, entries) if entries else tree


def _holding(
    env: AttemptEnvironment, changes: tuple[FileChange, ...], secrets: tuple[AddedSecret, ...]
) -> Iterator[tuple[FileChange, str]]:
    """Yield the files that hold what was found, each with its path without secrets."""
    places = {secret.path for secret in secrets}
    for file in changes:
        marked = without_secrets(file.path.encode("utf-8", "surrogateescape"), env.masker).decode("utf-8", "replace")
        if places & {file.path, decoded(file.path), env.masker.values(file.path), marked}:
            yield file, marked if marked in places else file.path


def _masked(env: AttemptEnvironment, file: FileChange, path: str) -> dict[str, Entry | None]:
    """Return what stands in the place of a file: the same without secrets, at `path`."""
    with env.plumbing.blobs() as blobs:
        data = blobs.read(file.new_oid, _BYTES_MAX)
    if data is None:
        return _as_on_main(env, file, path)
    return {file.path: None, path: (file.new_mode, store_text(env.plumbing, without_secrets(data, env.masker)))}


def _as_on_main(_env: AttemptEnvironment, file: FileChange, _path: str) -> dict[str, Entry | None]:
    return entries_before((file,))
