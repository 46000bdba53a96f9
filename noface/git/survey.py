"""Reads from a repository what a check of noface's state holds against the database. Nothing is changed."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from noface.git.fast_forward import cut_off
from noface.git.landings import landings
from noface.git.plumbing import Plumbing
from noface.git.worktrees import worktrees
from noface.integrity.state.fsck_facts import GitFacts, MainMove
from noface.integrity.state.landed import TrailedCommit
from noface.process.files import read_regular

_PREFIXES = ("refs/noface/", "refs/heads/noface/")
_REFLOG_BYTES_MAX = 1 << 30
_REFLOG_WORDS_MIN = 4  # old, new, time, zone; between them a name and an address


def survey(plumbing: Plumbing, asked: Iterable[str]) -> GitFacts:
    """Return what the repository holds; `asked` are the ids of commits that the database tells of."""
    main = plumbing.main()
    landed = landings(plumbing)
    refs, broken = _references(plumbing)
    types = _types(plumbing, {*asked, *refs.values()})
    wanted = tuple(oid for oid in {*asked} if types.get(oid) == "commit")
    tips = tuple(oid for oid in refs.values() if types.get(oid) == "commit")
    heads = tuple(plumbing.references("refs/heads").values())
    sound = {ref: oid for ref, oid in refs.items() if oid in types}
    return GitFacts(
        main=main,
        landed=landed,
        moves=main_moves(plumbing),
        refs=sound,
        broken_refs=tuple(sorted({*broken, *(refs.keys() - sound.keys())})),
        present=frozenset(types),
        unreachable=_outside(plumbing, wanted, {*tips, *(head for head in heads if head not in refs.values()), main}),
        off_main=_outside(plumbing, (*wanted, *tips), (main, *plumbing.references("refs/noface/remote").values())),
        missing=_missing(plumbing, (*(oid for oid in sound.values()), main), landed),
        cut_off=tuple(str(tree.path) for tree in worktrees(plumbing.repository) if tree.reachable and cut_off(tree)),
    )


def main_moves(plumbing: Plumbing) -> tuple[MainMove, ...]:
    """Return main's reflog, oldest first; empty if there is none."""
    path = plumbing.repository.common_dir / "logs" / plumbing.repository.main
    text = read_regular(path, _REFLOG_BYTES_MAX) or b""
    moves = []
    for line in text.decode("utf-8", "surrogateescape").split("\n"):
        head, _, message = line.partition("\t")
        words = head.split(" ")
        # From the end: the name of who moved it may hold any number of blanks.
        if len(words) >= _REFLOG_WORDS_MIN and words[-2].isdigit():
            moves.append(MainMove(words[0], words[1], float(words[-2]), message))
    return tuple(moves)


def _references(plumbing: Plumbing) -> tuple[dict[str, str], tuple[str, ...]]:
    output = plumbing.repository.shared_git().run("for-each-ref", "--format=%(refname) %(objectname)", *_PREFIXES)
    refs = dict(line.split(" ", 1) for line in output.text.splitlines())
    words = [line.split() for line in output.stderr.splitlines() if "ignoring broken ref" in line]
    return refs, tuple(each[-1] for each in words)


def _types(plumbing: Plumbing, oids: set[str]) -> dict[str, str]:
    feed = "".join(f"{oid}\n" for oid in sorted(oids) if oid)
    output = plumbing.repository.shared_git().run(
        "cat-file", "--batch-check=%(objectname) %(objecttype)", stdin=feed.encode()
    )
    pairs = (line.split(" ") for line in output.text.splitlines())
    return {oid: kind for oid, kind in pairs if kind not in ("missing", "ambiguous")}


def _outside(plumbing: Plumbing, commits: Iterable[str], tips: Iterable[str]) -> frozenset[str]:
    wanted = sorted(set(commits))
    if not wanted:
        return frozenset()
    feed = "\n".join([*wanted, *(f"^{tip}" for tip in sorted(set(tips)))]) + "\n"
    output = plumbing.repository.shared_git().run("rev-list", "--stdin", "--ignore-missing", stdin=feed.encode())
    return frozenset(wanted) & frozenset(output.text.split())


def _missing(plumbing: Plumbing, tips: Iterable[str], landed: tuple[TrailedCommit, ...]) -> tuple[str, ...]:
    older = landed[0].parent if landed else plumbing.main()
    feed = "\n".join([*sorted(set(tips)), f"^{older}"]) + "\n"
    output = plumbing.repository.shared_git().run(
        "rev-list", "--objects", "--missing=print", "--stdin", stdin=feed.encode()
    )
    missing = [line[1:] for line in output.text.splitlines() if line.startswith("?")]
    if output.code != 0:
        missing.append(output.stderr.strip().splitlines()[-1] if output.stderr.strip() else "git rev-list failed")
    return tuple(missing)


_OWN = "refs/heads/noface/"
_SHORT = 12
PersonsState = tuple[Mapping[str, str], frozenset[tuple[str, int, int]]]
"""The person's refs with their objects, and size and time of the files that decide what git does."""


def persons_state(plumbing: Plumbing) -> PersonsState:
    """Return the present state; one git process and a few stats. Raises GitError if git cannot list refs."""
    refs = plumbing.repository.references("refs/heads", "refs/tags")
    refs = {name: oid for name, oid in refs.items() if not name.startswith(_OWN)}
    common = plumbing.repository.common_dir
    home = Path(os.environ.get("HOME") or "/")
    config = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git"
    named = os.environ.get("GIT_CONFIG_GLOBAL")
    paths = [common / "config", common / "config.worktree", common / "info" / "attributes", home / ".gitconfig"]
    paths += [config / "config", config / "attributes", *([Path(named)] if named else [])]
    stamps = set()
    for path in (*paths, *(common / "hooks").glob("*")):
        with suppress(OSError):
            status = path.stat()
            stamps.add((str(path), status.st_size, status.st_mtime_ns))
    return refs, frozenset(stamps)


def checkout_and_stash(plumbing: Plumbing) -> tuple[str, str]:
    """Return what is checked out where the person works, and their newest stash: files come and go with both."""
    root = os.path.realpath(plumbing.repository.root)
    places = [tree for tree in worktrees(plumbing.repository) if os.path.realpath(tree.path) == root]
    return "".join(tree.branch or tree.head for tree in places), plumbing.resolve("refs/stash") or ""


def differences(before: PersonsState, now: PersonsState, main: str) -> tuple[str, ...]:
    """Return what differs, each as a phrase; main, which noface moves too, is left to `main_moved`."""
    phrases = []
    (refs, files), (refs_now, files_now) = before, now
    for name in sorted(refs.keys() | refs_now.keys()):
        old, new = (state.get(name, "nothing")[:_SHORT] for state in (refs, refs_now))
        if name != main and old != new:
            kind = "tag" if name.startswith("refs/tags/") else "branch"
            phrases.append(f"{kind} {name.split('/', 2)[2]} moved from {old} to {new}")
    changed = {path for path, *_ in files ^ files_now}
    return (*phrases, *(f"{path} was changed" for path in sorted(changed)))


def main_moved(plumbing: Plumbing, old: str, new: str, landed: Iterable[str]) -> bool:
    """True if somebody else than noface moved main; `landed` are the commits that noface has put there."""
    forth = plumbing.is_ancestor(old, new)
    return old != new and not (forth and set(plumbing.first_parents(old, new)) <= set(landed))
