"""Makes trees that differ from another in some files, in the object store alone."""

import os
from collections.abc import Mapping

from noface.git.command import Git
from noface.git.hub import make_hub
from noface.git.plumbing import Plumbing

Entry = tuple[str, str]
"""Mode and object id of a file, as git writes them."""


def edited(plumbing: Plumbing, tree: str, entries: Mapping[str, Entry | None]) -> str:
    """Return a tree like `tree` (or a commit's) but for these files; None means that there is no such file.

    A file takes the place of a folder, and the other way round. Raises GitError where git fails.
    """
    repository = plumbing.repository
    hub = make_hub(repository, repository.state_dir / "hubs" / "merge")
    index = hub / f"index-{os.urandom(8).hex()}"
    try:
        extra = {"GIT_INDEX_FILE": str(index)}
        git = Git.sealed(str(hub), objects=str(repository.objects), identity=repository.identity, extra=extra)
        git.ask("read-tree", tree)
        return with_entries(git, entries, len(plumbing.main()))
    finally:
        index.unlink(missing_ok=True)


def with_entries(git: Git, entries: Mapping[str, Entry | None], id_length: int) -> str:
    """Put these files into the index that `git` works with, None takes one away; return its tree."""
    nothing = "0" * id_length
    gone = [f"0 {nothing}\t{path}\0" for path, entry in entries.items() if entry is None]
    there = [f"{entry[0]} {entry[1]}\t{path}\0" for path, entry in entries.items() if entry is not None]
    feed = "".join((*gone, *there)).encode("utf-8", "surrogateescape")
    git.ask("update-index", "--replace", "-z", "--index-info", stdin=feed)
    return git.ask("write-tree")


def stored(plumbing: Plumbing, text: str) -> str:
    """Put a file's content into the object store; return its id."""
    return plumbing.git.ask("hash-object", "-w", "--stdin", stdin=text.encode("utf-8", "surrogateescape"))
