"""Brings half-moved files to an end: what a kill left, forwards or backwards (law 7)."""

from noface.errors import GitError
from noface.git.command import failed
from noface.git.forward import Move, cut_off, index_is_new, put_back, unlock
from noface.git.outcome import Held
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate
from noface.git.worktrees import Worktree, checked_out

PATHS_SHOWN_MAX = 20
_GITLINK = "160000"


def make_move(plumbing: Plumbing, tree: Worktree, old: str, new: str, descriptor: int) -> Move:
    """Return the move of a working tree's files from `old` to `new`."""
    args = ("-r", "-z", "--raw", "--no-renames", "--no-abbrev", old, new)
    output = plumbing.git.run("diff-tree", *args)
    if output.code != 0:
        raise failed(("diff-tree", old, new), output)
    fields = output.stdout.decode("utf-8", "surrogateescape").split("\0")
    changes, links, unlinked = {}, set(), set()
    for meta, path in zip(fields[::2], fields[1::2], strict=False):
        old_mode, new_mode, _, _, letter = meta.lstrip(":").split(" ")
        changes[path] = letter[0]
        if _GITLINK in (old_mode, new_mode):
            links.add(path)
        if old_mode == _GITLINK and letter[0] == "T":
            unlinked.add(path)
    index = plumbing.repository.state_dir / "landing-index"
    return Move(plumbing, tree, old, new, changes, frozenset(links), frozenset(unlinked), index, (descriptor,))


def mend(plumbing: Plumbing, tree: Worktree, descriptor: int) -> Held | None:
    """Bring a move that was cut off in `tree` to an end, forwards or backwards; None where all is well."""
    ends = cut_off(tree)
    if ends is None:
        return None
    try:
        move = make_move(plumbing, tree, *ends, descriptor)
        forwards = index_is_new(move)
    except GitError as error:
        return Held(f"a landing was cut off in {tree.path}, and git cannot tell how far it came: {error}")
    if forwards:
        try:
            forth = plumbing.is_ancestor(move.old, move.new)
            if forth and plumbing.main() == move.old and checked_out(tree) == plumbing.repository.main:
                plumbing.refs.apply(RefUpdate(plumbing.repository.main, move.new, move.old))
        except GitError as error:
            return Held(f"a landing was cut off in {tree.path}, and main cannot be moved: {error}")
        unlock(tree)
        return None
    try:
        foreign = put_back(move)
    except GitError as error:
        return Held(f"a landing was cut off in {tree.path}, and git cannot put the old files back: {error}")
    unlock(tree)
    if not foreign:
        return None
    reason = f"a landing was cut off in {tree.path}, and these files hold neither the old nor the new"
    return Held(reason, foreign[:PATHS_SHOWN_MAX])
