"""Keeps secrets out of the commits that hold what did not land (law 2, I12): a push of all refs carries those."""

from dataclasses import replace

from noface.engine.attempt_environment import AttemptEnvironment
from noface.engine.examine import PATCH_BYTES_MAX, Change, added_secrets, masked_patch, own_values
from noface.gates.secrets import without_secrets
from noface.git.plumbing import Entry, store_text, tree_with
from noface.integrity.tampering import shown
from noface.model.attempt import FileChange, Snapshot
from noface.model.failure import Failure

_BYTES_MAX = 64 << 20


def without_added_secrets(env: AttemptEnvironment, main: str, tree: str) -> str:
    """Return a tree like `tree` with marks for the secrets that it adds to `main`; the tree itself where it adds none.

    What is too much to be looked through stays as it is.
    """
    diff = env.plumbing.diff(main, tree)
    patch = diff.patch[:PATCH_BYTES_MAX]
    own = own_values(env, main, Snapshot(tree, tree, tree, tree, diff.changes), patch)
    masked = masked_patch(env, main, patch, own)
    change = Change(diff.changes, patch, masked, by_worker=True, cut=len(patch) < len(diff.patch))
    found = added_secrets(env, main, change)
    places = set() if isinstance(found, Failure) else {secret.path for secret in found}
    entries: dict[str, Entry | None] = {}
    for file in diff.changes if places else ():
        marked = without_secrets(file.path.encode("utf-8", "surrogateescape"), env.masker).decode("utf-8", "replace")
        if places & {file.path, shown(file.path), env.masker.values(file.path), marked}:
            entries |= _masked(env, file, marked if marked in places else file.path)
    return tree_with(env.plumbing, tree, entries) if entries else tree


def _masked(env: AttemptEnvironment, file: FileChange, path: str) -> dict[str, Entry | None]:
    """Return what stands in the place of a file: the same without secrets, at `path`."""
    with env.plumbing.blobs() as blobs:
        data = blobs.read(file.new_oid, _BYTES_MAX)
    if data is None:
        return {}
    return {file.path: None, path: (file.new_mode, store_text(env.plumbing, without_secrets(data, env.masker)))}


def clean(env: AttemptEnvironment, main: str, snapshot: Snapshot) -> Snapshot:
    """Return a snapshot whose trees add no secret; its commits have yet to be made."""
    tree = without_added_secrets(env, main, snapshot.tree)
    same = snapshot.candidate_tree == snapshot.tree
    return replace(
        snapshot,
        tree=tree,
        candidate_tree=tree if same else without_added_secrets(env, main, snapshot.candidate_tree),
    )
