"""Finds the user's repository. The names of the modules around it can be had from here."""

from pathlib import Path

from noface.errors import UsageError
from noface.git.command import Git
from noface.git.discovery import (
    any_case,
    check_complete,
    check_version,
    excludes,
    hooks_in_tree,
    identity,
    main_ref,
    no_repository,
)
from noface.git.names import hold_ref, scratch_branch, slug
from noface.git.plumbing import Merge, Plumbing
from noface.git.repository import Repository

__all__ = ["Merge", "Plumbing", "Repository", "discover", "hold_ref", "scratch_branch", "slug"]


def discover(start: Path, main: str = "") -> Repository:
    """Find the repository around `start` and check that noface can work in it.

    Raises UsageError: git missing or too old, no repository, a bare one, no commit, no such main branch, a
    partial clone, a branch in the way of the scratch branches.
    """
    check_version(Git.user("/"))
    git = Git.user(str(start))
    shown = git.run(
        "rev-parse",
        "--path-format=absolute",
        "--is-bare-repository",
        "--show-object-format",
        "--is-shallow-repository",
        "--git-common-dir",
    )
    if shown.code != 0:
        raise no_repository(start, shown.stderr)
    bare, object_format, shallow, common = shown.text.split("\n", 3)
    if bare == "true":
        raise UsageError(
            f"{start} is a bare repository: there are no files for issues and configuration to stand in.",
            "Clone it (`git clone <this> work`) and run noface in the clone.",
        )
    top = git.run("rev-parse", "--path-format=absolute", "--show-toplevel")
    if top.code != 0:
        raise UsageError(f"{start} is inside the .git folder.", "Change to the repository's working tree.")
    root = Path(top.text)
    check_complete(git)
    return Repository(
        root=root,
        common_dir=Path(common),
        main=main_ref(git, main),
        identity=identity(git),
        object_format=object_format,
        shallow=shallow == "true",
        excludes=excludes(git, root, Path(common)),
        hooks=hooks_in_tree(git, root),
        any_case=any_case(Path(common)),
    )
