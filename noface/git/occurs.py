"""Tells which texts stand in a commit: in the names of its files, or in what these hold."""

from collections.abc import Collection
from dataclasses import replace

from noface.git.plumbing import Plumbing

_TEXTS_MAX = 20
_SECONDS_MAX = 60.0
_UNASKED = frozenset("\n\0")  # git grep takes no pattern that holds one


def occurring(plumbing: Plumbing, commit: str, texts: Collection[str]) -> frozenset[str]:
    """Return those of `texts` that stand in `commit`.

    Of many that are in no file's name only the first twenty are looked for in files; those of several lines, or with
    a NUL, are looked for in names only. The texts may be secrets: git is given them as its input, since every user of
    the machine can read command lines. Raises GitError where the commit cannot be read.
    """
    if not texts:
        return frozenset()
    paths = plumbing.paths(commit)
    found = {text for text in texts if any(text in path for path in paths)}
    left = sorted(text for text in set(texts) - found if not _UNASKED & set(text))[:_TEXTS_MAX]
    if len(left) > 1 and not _in_a_file(plumbing, commit, left):
        return frozenset(found)  # asked for all at once: most often none of them is there
    return frozenset(found | {text for text in left if _in_a_file(plumbing, commit, [text])})


def _in_a_file(plumbing: Plumbing, commit: str, texts: list[str]) -> bool:
    """Tell whether one of the texts stands in a file; no, where git takes too long to say."""
    git = replace(plumbing.git, seconds_max=_SECONDS_MAX)
    feed = "".join(f"{text}\n" for text in texts).encode("utf-8", "surrogateescape")
    return git.run("grep", "-q", "-a", "-F", "-f", "-", commit, "--", stdin=feed).code == 0
