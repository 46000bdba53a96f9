"""Finishes or undoes a landing that was cut off between its intent and its record (law 7).

A kill in the middle of a fast-forward leaves every changed path old, new, absent or a prefix of new (SAFETY,
"dangerous git" 7). Where all are one of these, only noface has touched them, and the landing is carried to its
end; otherwise a person has, and is asked.
"""

import os
from pathlib import Path

from noface.git.command import Git
from noface.git.land import Held, Landed, Moved, Result, advance, changed_paths, local_changes
from noface.git.refs import RefUpdate
from noface.git.repo import Plumbing
from noface.git.worktrees import Worktree, holding, user_git


def settle(plumbing: Plumbing, old: str, new: str, note: str) -> Result:
    """Bring an intended move of main from `old` to `new` to an end; harmless to repeat."""
    main = plumbing.main()
    if plumbing.is_ancestor(new, main):
        return Landed(new)
    tree = holding(plumbing.repository, plumbing.repository.main)
    if main != old:
        return Moved(main)
    _remove_own_ref_lock(plumbing, new)
    if tree is None or not _half_moved(plumbing, tree, old, new):
        return advance(plumbing, old, new, note)
    return _carry_on(plumbing, tree, old, new)


def _remove_own_ref_lock(plumbing: Plumbing, new: str) -> None:
    """Remove main's lock file where it is the one our killed update-ref left: it holds the new commit's id."""
    lock = plumbing.repository.common_dir / f"{plumbing.repository.main}.lock"
    try:
        if lock.read_text().strip() in (new, ""):
            lock.unlink()
    except OSError:
        pass  # there is none


def _half_moved(plumbing: Plumbing, tree: Worktree, old: str, new: str) -> bool:
    if (tree.git_dir / "index.lock").exists():
        return True
    return bool(local_changes(user_git(tree), changed_paths(plumbing, old, new)))


def _carry_on(plumbing: Plumbing, tree: Worktree, old: str, new: str) -> Result:
    paths = changed_paths(plumbing, old, new)
    git = user_git(tree)
    foreign = tuple(path for path in paths if not _ours(git, tree.path / path, path, old, new))
    if foreign:
        return Held(f"a landing was cut off in {tree.path}, and these files hold neither the old nor the new", foreign)
    (tree.git_dir / "index.lock").unlink(missing_ok=True)
    staged = git.run("read-tree", "-i", "-m", old, new)
    if staged.code != 0:
        return Held(f"a landing was cut off in {tree.path}: {staged.stderr.strip()}", paths)
    kept = plumbing.entries(new, paths)
    for path in paths:
        if path not in kept:
            (tree.path / path).unlink(missing_ok=True)
    feed = "".join(f"{path}\0" for path in kept).encode("utf-8", "surrogateescape")
    git.ask("checkout-index", "-f", "-u", "-z", "--stdin", stdin=feed)
    plumbing.refs.apply(RefUpdate(plumbing.repository.main, new, old))
    return Landed(new)


def _ours(git: Git, file: Path, path: str, old: str, new: str) -> bool:
    """Tell whether the file is as `old` or `new` has it, absent, or a beginning of `new`."""
    try:
        found = os.fsencode(file.readlink()) if file.is_symlink() else file.read_bytes()
    except OSError:
        return not file.exists()
    before, after = _content(git, old, path), _content(git, new, path)
    return found == before or (after is not None and after.startswith(found))


def _content(git: Git, commit: str, path: str) -> bytes | None:
    output = git.run("cat-file", "--filters", f"{commit}:{path}")
    return output.stdout if output.code == 0 else None
