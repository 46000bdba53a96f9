"""Keeps secrets, and what servers refuse, out of the commits that hold work, and off branches and pushes (I12).

Work is kept below `refs/noface/` (law 2) with marks in place of the secrets that it adds. No branch and no push gets a
commit that has a secret, or what git's own checks refuse, in itself or in an ancestor that main has not.
"""

from noface.attempt.changes import added_secrets
from noface.attempt.environment import AttemptEnvironment
from noface.gates.secrets import AddedSecret, keys_of, secret_failure, shown_path, without_secrets
from noface.git.plumbing import Plumbing, entries_before, make_and_hold, occurring, store_text
from noface.git.server_checks import refused
from noface.git.stored import Entry
from noface.integrity.diff.names import may_be_refused, refused_by_servers
from noface.integrity.diff.rules import unfit_failures
from noface.model.attempt import FileChange
from noface.model.failure import Failure

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
    """Return a commit that brings `tree` to main: `commit`, or one that `ref` holds, without a history held back."""
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
    """Return a commit on `base` with a tree and with the message of `commit`, held by `ref`."""
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
