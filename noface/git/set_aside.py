"""Takes out of a snapshot what is no part of the change, and keeps it in a commit of its own (law 2)."""

import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from noface.git.command import Git
from noface.git.objects import TreeDiff
from noface.git.plumbing import Plumbing, entries_before, write_entries
from noface.git.scan_worktree import display_path
from noface.git.stored import LINK_MODE
from noface.git.submodules import links_in
from noface.git.workspace import Slot
from noface.integrity.diff.names import leads_outside
from noface.integrity.not_taken import is_source
from noface.integrity.rubbish import HEAD_BYTES, Rubbish, RubbishRules, above, kind_of, rewritten, rubbish_in, says
from noface.model.attempt import ABSENT, NotTaken
from noface.model.quoting import some
from noface.process.files import read_regular

_LINK = "120000"
_FILES_MAX = 200
_LOOKED_AT_MAX = 20_000
_BYTES_MAX = 1 << 20
_FROM_STDIN = ("--pathspec-from-file=-", "--pathspec-file-nul")


ASIDE_MESSAGE = "What is no part of an attempt's change\n"


def set_aside(
    plumbing: Plumbing,
    git: Git,
    slot: Slot,
    start: str,
    main: str,
    diff: TreeDiff,
    wanted: RubbishRules,
    since: float | None,
    within: tuple[NotTaken, ...] = (),
) -> tuple[tuple[NotTaken, ...], str | None, tuple[NotTaken, ...], tuple[str, ...]]:
    """Take rubbish from the index of a slot, with the ignored sources newer than `since`, None if nothing is ignored.

    Returns what is no part of the snapshot, the commit that holds it (None if it is worth none), what looks like it,
    and notes on what has changed in the index. `diff` is the index against `main`, `within` what was
    changed in submodules.
    """
    ignored = tuple(_ignored(git, slot, since)) if since is not None else ()
    looks = _rubbish(plumbing, git, main, diff, wanted) | _links(plumbing, git, slot, diff, wanted)
    began = frozenset(plumbing.paths(start)) if looks and start != main else frozenset[str]()
    rubbish = {path: one for path, one in looks.items() if one.proven and path not in began}
    worth = {path: one for path, one in rubbish.items() if not one.worthless}
    commit = None
    if ignored:
        git.run(
            "add", "-f", "--ignore-errors", *_FROM_STDIN, stdin="\0".join(f":(top,literal){i.path}" for i in ignored)
        )
    if worth or ignored or within:
        _take_out(git, [path for path, one in rubbish.items() if one.worthless])
        tree = _with_files(git, slot, within, plumbing.repository.null_id) if within else git.ask("write-tree")
        commit = plumbing.commit_tree(tree, (start,), ASIDE_MESSAGE)
    if anew := rewritten(diff.changes):
        write_entries(git, entries_before(anew), plumbing.repository.null_id)
    _take_out(git, [*rubbish, *(one.path for one in ignored)])
    by_what: dict[str, list[str]] = {}
    for path, one in rubbish.items():
        if one.known:
            by_what.setdefault(one.what, []).append(display_path(path))
    notes = tuple(f"not taken: {some(tuple(paths), 1)}: {what}" for what, paths in by_what.items())
    taken_out = (NotTaken(display_path(path), one.what, known=one.known) for path, one in worth.items())
    files = (*within, *ignored, *taken_out)
    suspects = tuple(NotTaken(display_path(path), one.what) for path, one in looks.items() if not one.proven)
    notes += tuple(f"as on main: {display_path(one.path)}: a cache" for one in anew)
    return files[:_FILES_MAX], commit, suspects[:_FILES_MAX], notes


def _take_out(git: Git, paths: list[str]) -> None:
    if paths:
        git.ask("update-index", "--force-remove", "-z", "--stdin", stdin="".join(f"{path}\0" for path in paths))


def _with_files(git: Git, slot: Slot, within: tuple[NotTaken, ...], null_id: str) -> str:
    """Return the index's tree with files of submodules in the place of these; the index stays as it is."""
    links = links_in(git, slot.private_git_dir / "index")
    paths = [one.path for one in within[:_FILES_MAX] if "\n" not in one.path and _newer(slot.path / one.path, 0.0)]
    oids = git.ask("hash-object", "-w", "--no-filters", "--stdin-paths", stdin="".join(f"{path}\n" for path in paths))
    files = {path: ("100644", oid) for path, oid in zip(paths, oids.split(), strict=True)}
    # A tree holds either a submodule or files at a place: it goes for this tree, and comes back into the index.
    outer = {link for link in links if any(path.startswith(f"{link}/") for path in files)}
    tree = write_entries(git, {**dict.fromkeys(outer), **files}, null_id)
    write_entries(git, {**dict.fromkeys(files), **{link: (LINK_MODE, links[link]) for link in outer}}, null_id)
    return tree


def _rubbish(plumbing: Plumbing, git: Git, main: str, diff: TreeDiff, wanted: RubbishRules) -> dict[str, Rubbish]:
    """Return the rubbish in the index: new files, but none that a rule of git's names as not ignored."""
    new = {change.path: change.new_oid for change in diff.changes if change.old_mode == ABSENT}
    patch, on_main = diff.patch.decode("utf-8", "replace"), plumbing.whole(main).paths if new else ()
    with plumbing.blobs() as blobs:

        def head(path: str) -> bytes:
            return next(blobs.chunks(new[path], HEAD_BYTES), b"")

        rubbish = rubbish_in(new, on_main, wanted, patch, head)
    rules = _rules(git, [path for path, one in rubbish.items() if not one.worthless])
    unignored = {path for _, _, rule, path in rules if rule.startswith("!") and rule.strip("!*/")}
    return {path: rubbish[path] for path in sorted(rubbish) if path not in unignored}


def _links(plumbing: Plumbing, git: Git, slot: Slot, diff: TreeDiff, wanted: RubbishRules) -> dict[str, Rubbish]:
    """Return the new links in place of folders that git ignores, or that programs fill and that are elsewhere.

    The rule `node_modules/` means no link: git is asked of folders of these names elsewhere, beside the same rules.
    """
    new = {c.path: c.new_oid for c in diff.changes if c.old_mode == ABSENT and c.new_mode == _LINK}
    links = [path for path in new if not (says(wanted.words, path) and "link" in wanted.words.casefold())]
    if not links:
        return {}
    with TemporaryDirectory() as top, plumbing.blobs() as blobs:
        for path in links:
            Path(top, path).mkdir(parents=True, exist_ok=True)
            for file in (".gitignore", *(f"{folder}/.gitignore" for folder in above(path))):
                Path(top, file).write_bytes(read_regular(slot.path / file, _BYTES_MAX) or b"")
        there = replace(git, cwd=top, environment=(*git.environment, ("GIT_WORK_TREE", top)))
        ignored = [path for _, _, rule, path in _rules(there, links) if not rule.startswith("!")]
        away = [
            path for path in links if kind_of(f"{path}/_") and leads_outside(path, blobs.text(new[path], _BYTES_MAX))
        ]
    what = "a link in place of a folder that git ignores or programs fill"
    return {path: Rubbish(what, proven=True, worthless=True, known=True) for path in (*ignored, *away)}


def _rules(git: Git, paths: Iterable[str]) -> list[tuple[str, ...]]:
    """Return for each path that a rule decides: the file of the rule, its line, the rule, the path."""
    feed = "".join(f"{path}\0" for path in paths)
    parts = git.run("check-ignore", "-v", "-z", "--no-index", "--stdin", stdin=feed).parts if feed else []
    return list(zip(*(parts[at::4] for at in range(4)), strict=False))


def _ignored(git: Git, slot: Slot, since: float) -> Iterator[NotTaken]:
    entries = git.run("ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z").parts
    kept = tuple(f"{path.strip('/')}/" for path in slot.keep) or ("\0",)
    entries = [entry for entry in entries if not f"{entry.rstrip('/')}/".startswith(kept)]
    files = dict.fromkeys(file for entry in entries for file in islice(_below(slot.path, entry), _LOOKED_AT_MAX))
    sources = [path for path in files if is_source(path) and _newer(slot.path / path, since)][:_FILES_MAX]
    for source, line, rule, path in _rules(git, sources):
        inside = bool(source) and not PurePosixPath(source).is_absolute()
        where = f"{source}:{line} ({rule})" if inside else f"the excludes of git on this machine ({rule})"
        why = display_path(f"ignored by {where}")
        yield NotTaken(path, why, source if inside else "", ignored=True, known=True)


def _below(top: Path, entry: str) -> Iterator[str]:
    """Yield the files of an entry of git's, which is one itself or ends with a slash; none of another repository."""
    if not entry.endswith("/"):
        yield entry
        return
    for folder, folders, names in os.walk(top / entry):
        place = Path(folder).relative_to(top).as_posix()
        if kind_of(f"{place}/_") or ".git" in (*folders, *names):
            folders.clear()
            continue
        folders.sort()
        yield from (f"{place}/{name}" for name in sorted(names))


def _newer(path: Path, since: float) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    # The change of the inode: a tool may set the other time to whatever it likes, as tar and cp -p do.
    return status.st_ctime >= since and stat.S_ISREG(status.st_mode) and status.st_size <= _BYTES_MAX
