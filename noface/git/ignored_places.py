"""What lies in a person's checkout and is no part of the project, such as keys: no agent is to read it."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from noface.errors import GitError
from noface.git.command import Git
from noface.process.home_places import is_closed, is_environment_file, only_the_persons

_PLACES_MAX = 400


def ignored_places(root: str, depth: int = 4) -> Iterator[str]:
    """Yield the absolute paths in a checkout that git ignores, and of new files `.env` and what only the person reads.

    Of a repository in it, which is looked through as well, where git does not tell, it is the whole.
    """
    git = Git.user(root)
    try:
        ignored = git.answer("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory").parts
        new = git.answer("ls-files", "-z", "--others", "--exclude-standard").parts
    except GitError:
        yield root
        return
    inner = [f"{root}/{path.rstrip('/')}" for path in (*new, *_submodules(git, root))]
    repositories = [path for path in inner if os.path.lexists(f"{path}/.git")]
    places = [f"{root}/{path.rstrip('/')}" for path in ignored]
    # Links lead to packages and caches, and only some to secrets.
    places = [p for p in places if not os.path.islink(p) or _is_environment(p) or is_closed(os.path.realpath(p))]
    for place in (f"{root}/{path}" for path in new if not path.endswith("/")):
        with suppress(OSError):
            places += [place] if _is_environment(place) or only_the_persons(os.lstat(place)) else []
    if len(places) > _PLACES_MAX or (repositories and not depth):
        yield root
        return
    yield from places
    for path in repositories:
        # Its configuration may hold a login, and its history whatever was taken out of its files.
        if Path(path, ".git").is_dir():
            yield f"{path}/.git"
        yield from ignored_places(path, depth - 1)


def _submodules(git: Git, root: str) -> list[str]:
    if not Path(root, ".gitmodules").is_file():
        return []
    entries = git.run("config", "-z", "--file", ".gitmodules", "--get-regexp", r"^submodule\..*\.path$").parts
    return [entry.partition("\n")[2] for entry in entries]


def _is_environment(place: str) -> bool:
    return is_environment_file(os.path.basename(place))
