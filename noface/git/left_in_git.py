"""Takes over what an agent's own git holds and its files may not: stashes, branches, detached commits (law 2).

No git runs in what an agent has written (law 4). Refs and logs are read as text. Objects, loose or packed, are handed
to noface's own git as a stream, as a server gets what is pushed: it names each by its content and checks its form.
Links are not followed; hooks, alternates and settings that lie there are not read.
"""

import hashlib
import os
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path

from noface.errors import GitError
from noface.git.command import Git
from noface.git.plumbing import Plumbing
from noface.git.scan_worktree import display_path
from noface.process.files import is_folder, read_regular

STASH, NO_BRANCH = "a stash", "commits of no branch"
_NAMES = (
    ("logs/refs/stash", STASH),
    ("refs/stash", STASH),
    ("refs/heads", "the branch {}"),
    ("refs/tags", "the tag {}"),
    ("HEAD", NO_BRANCH),
    ("ORIG_HEAD", NO_BRANCH),
    ("worktrees", NO_BRANCH),
    ("logs/HEAD", NO_BRANCH),
)
_OID = re.compile(rb"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_PACKED_REF = re.compile(rb"^([0-9a-f]{40,64}) refs/(?:heads/(.+)|stash)$", re.MULTILINE)
_LOOSE = re.compile(r"[0-9a-f]{2}/[0-9a-f]{38,62}")
_KINDS = {b"commit": 1, b"tree": 2, b"blob": 3, b"tag": 4}
_NAMED_MAX, _KEPT_MAX = 200, 20
_REFS_BYTES_MAX = 1 << 24
_BYTES_MAX = 1 << 27
"""Of one object, of one pack, and of all loose objects together."""
_SECONDS_MAX = 120.0


def left_in_git(
    plumbing: Plumbing, workspace: Path, places: tuple[str, ...], start: str
) -> tuple[tuple[tuple[str, str], ...], str]:
    """Return what the git of a workspace, and of the repositories at `places` in it, holds beside `start`.

    That is what each is called, and its commit, in noface's store; the second value says why some could not be taken.
    """
    named: dict[str, str] = {}
    why = ""
    for git_dir in (workspace / place / ".git" for place in ("", *places)):
        try:
            new: dict[str, str] = {}
            for oid, what in islice(_named(git_dir) if is_folder(git_dir) else (), _NAMED_MAX):
                new.setdefault(oid, what)
            # A copy of somebody else's project is no work: one of ours names a commit that we have.
            ours = git_dir.parent == workspace or any(map(plumbing.resolve, new))
            if ours and any(plumbing.resolve(oid) is None for oid in new if oid.strip("0")):
                _take_over(plumbing, git_dir)
            named = (new if ours else {}) | named
        except (GitError, OSError) as error:
            why = str(error).partition("\n")[0]
    commits = {oid: what for oid, what in named.items() if oid != start and plumbing.resolve(oid) == oid}
    if not commits:
        return (), why
    apart = plumbing.git.run("merge-base", "--independent", start, plumbing.main(), *commits)
    tips = set(apart.text.split()) if apart.code == 0 else commits.keys()  # one whose history is not whole is met later
    return tuple((what, oid) for oid, what in commits.items() if oid in tips)[:_KEPT_MAX], why


def _named(git_dir: Path) -> Iterator[tuple[str, str]]:
    for oid, name in _PACKED_REF.findall(read_regular(git_dir / "packed-refs", _REFS_BYTES_MAX) or b""):
        yield oid.decode(), f"the branch {display_path(os.fsdecode(name))}" if name else STASH
    for place, what in _NAMES:
        for file in _files(git_dir, place):
            name = display_path(str(file.relative_to(git_dir / place)))
            for oid in reversed(_OID.findall(read_regular(file, _REFS_BYTES_MAX) or b"")):
                yield oid.decode(), what.format(name)


def _files(git_dir: Path, place: str) -> Iterator[Path]:
    """Yield the files at a place or below it; none beyond a link."""
    with suppress(OSError):  # its permissions were taken away
        top = git_dir / place
        if any(path.is_symlink() for path in (top, *top.parents) if path.is_relative_to(git_dir)):
            return
        if not is_folder(top):
            yield top
        for folder, folders, names in os.walk(top):
            folders.sort()
            yield from (Path(folder, name) for name in sorted(names))


def _take_over(plumbing: Plumbing, git_dir: Path) -> None:
    """Have all objects of a git dir in noface's store. Raises GitError if one is unsound, or if they are too much."""
    extra = (("GIT_ALLOC_LIMIT", str(2 * _BYTES_MAX)),)  # a few bytes can stand for an object of any size
    git = replace(plumbing.git, environment=(*plumbing.git.environment, *extra), seconds_max=_SECONDS_MAX)
    loose, left = list[bytes](), _BYTES_MAX
    for file in _files(git_dir, "objects"):
        if file.suffix == ".pack":
            _stored(git, read_regular(file, _BYTES_MAX) or b"")
        elif _LOOSE.fullmatch(f"{file.parent.name}/{file.name}"):
            with suppress(zlib.error):
                content = zlib.decompressobj().decompress(read_regular(file, left) or b"", left)
                head, _, body = content.partition(b"\0")
                kind, _, size = head.partition(b" ")
                if kind in _KINDS and size == b"%d" % len(body):
                    loose.append(_entry(_KINDS[kind], body))
                left -= len(content)
        if left <= 0:
            raise GitError(f"its git holds more than {_BYTES_MAX} bytes of new objects")
    data = b"".join((struct.pack(">4sII", b"PACK", 2, len(loose)), *loose))
    _stored(git, data + hashlib.new(plumbing.repository.object_format, data).digest())


def _entry(kind: int, body: bytes) -> bytes:
    """Return an object as it stands in a pack (gitformat-pack(5))."""
    byte, rest, head = kind << 4 | len(body) & 15, len(body) >> 4, bytearray()
    while rest:
        head.append(byte | 0x80)
        byte, rest = rest & 0x7F, rest >> 7
    return bytes((*head, byte)) + zlib.compress(body, 1)


def _stored(git: Git, pack: bytes) -> None:
    git.answer("index-pack", "--stdin", "--fix-thin", "--fsck-objects", f"--max-input-size={_BYTES_MAX}", stdin=pack)
