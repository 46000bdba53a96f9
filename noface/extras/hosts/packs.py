"""Packs: how commits go to another machine and come back. They hold only what the other side lacks."""

from collections.abc import Iterable
from pathlib import Path

from noface.errors import GitError
from noface.git.command import Git
from noface.git.plumbing import Plumbing
from noface.git.repository import Repository
from noface.git.server_checks import index_pack

COMMITS_MAX = 16
"""So many commits at most come back with an attempt: noface makes two of it, and one of what is no part of it."""
_HISTORY_KEPT = 64


def make_pack(plumbing: Plumbing, tips: Iterable[str], there: Iterable[str] = ()) -> bytes:
    wanted = "".join(f"{tip}\n" for tip in tips)
    known = "".join(f"^{commit}\n" for commit in there if plumbing.resolve(commit) is not None)
    words = ("--revs", "--stdout", "--thin", "--delta-base-offset", "-q")
    return plumbing.git.answer("pack-objects", *words, stdin=(wanted + known).encode()).stdout


def take_pack(plumbing: Plumbing, pack: bytes, tips: Iterable[str], *, checked: bool = False) -> None:
    """Put a pack's objects into the repository, and see to it that the commits `tips` are whole.

    `checked`: as a stranger's, each object by fsck; what files say that git reads is the work's affair, and is told
    where that is judged. Raises GitError: then no ref can have moved to any of it.
    """
    if checked:
        index_pack(plumbing.git, "--stdin", "--fix-thin", stdin=pack, checks=("gitmodules", "gitattributes"))
    else:
        plumbing.git.ask("index-pack", "--stdin", "--fix-thin", stdin=pack)
    for tip in tips:
        if missing := plumbing.git.run("rev-list", "--objects", "--quiet", tip, "--not", "--all").problem("rev-list"):
            raise GitError(f"the commit {tip[:12]} did not come whole: {missing}")


def base_of(plumbing: Plumbing, tip: str) -> str:
    """Return the commit of the repository's refs that a stranger's commits stand on. Raises GitError without one."""
    new = plumbing.git.ask("rev-list", "--parents", f"--max-count={COMMITS_MAX + 1}", tip, "--not", "--all")
    if not new:
        return tip
    lines = [line.split() for line in new.splitlines()]
    own = {commit for commit, *_ in lines}
    bases = {parent for _, *parents in lines for parent in parents} - own
    if len(lines) > COMMITS_MAX or len(bases) != 1:
        raise GitError(f"the commit {tip[:12]} stands on none of this repository's, or far from it")
    return bases.pop()


def commits_there(repository: Repository) -> tuple[str, ...]:
    words = ("--sort=-creatordate", f"--count={_HISTORY_KEPT}", "--format=%(objectname)")
    return tuple(repository.git().ask("for-each-ref", *words).split())


def make_repository(folder: Path, object_format: str) -> None:
    """Make an empty repository, with a working tree that nothing is put into; one that is there stays as it is."""
    if (folder / ".git" / "HEAD").exists():
        return
    (folder / ".git").mkdir(0o700, parents=True, exist_ok=True)
    Git.sealed(str(folder / ".git")).ask("init", "-q", "--template=", f"--object-format={object_format}")
