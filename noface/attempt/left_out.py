"""Tells what of a worker's work is not in its change: once to the worker, and to a person with each landing."""

import re

from noface.attempt.attempt import Judging
from noface.attempt.changes import PATCH_BYTES_MAX
from noface.attempt.environment import put
from noface.gates.secrets import without_secrets
from noface.git.guarded import PROTECTED, guarded
from noface.git.stored import Entry
from noface.model.attempt import LEFT_OUT, LEFT_OUT_FILE, NotTaken
from noface.model.quoting import some
from noface.process.files import read_regular

_SHOWN_MAX = 5
_TOLD = f"{LEFT_OUT}: "
_LAID_OUT, _STRAY = "changed in form only", "new, and outside the issue's paths"


def left_out(attempt: Judging) -> tuple[NotTaken, ...]:
    """Return what is not in the change, but for what nobody has to be told of."""
    snapshot = attempt.work.snapshot
    return (
        *(one for one in snapshot.not_taken if not one.known),
        *(NotTaken(path, f"put back to main's: {why}") for path, why in put_back(attempt).items()),
        *(NotTaken(place, "a git repository of its own: without its .git it is taken") for place in snapshot.elsewhere),
        *(NotTaken(file.path, _LAID_OUT if file.status == "M" else _STRAY) for file in attempt.laid_out),
    )


def put_back(attempt: Judging) -> dict[str, str]:
    snapshot, plumbing, main = attempt.work.snapshot, attempt.plumbing, attempt.order.main
    if not snapshot.protected_edits:
        return {}
    undone = guarded(plumbing, main, plumbing.changes(main, snapshot.tree), attempt.order.protection)
    why = {change.path: reason for change, reason in undone.items()}
    return {path: why.get(path, PROTECTED) for path in snapshot.protected_edits}


def keep_left_out(attempt: Judging) -> tuple[str, ...]:
    """Write the patch that brings back what is left out, and return the note on it; nothing if all is taken."""
    now, last = left_out(attempt), attempt.reminded
    seen = (*(change.path for change in attempt.change.files), *(one.path for one in now))
    told = last.excerpt.splitlines() if last is not None and attempt.order.start != attempt.order.main else []
    words = (line.removeprefix(_TOLD) for line in told if line.startswith(_TOLD))
    before = tuple(each for each in words if each.partition(" (")[0] not in seen)
    if not now and not before:
        return ()
    masked = without_secrets(_patch(attempt), attempt.env.masker, ())
    if before and last is not None:
        old = read_regular(attempt.folder.parent / str(last.number) / LEFT_OUT_FILE, PATCH_BYTES_MAX) or b""
        masked += without_files(old, seen)
    if masked:
        put(attempt.folder / LEFT_OUT_FILE, masked)
    return (f"{LEFT_OUT}: {some((*(f'{one.path} ({one.why})' for one in now), *before), _SHOWN_MAX)}",)


def _patch(attempt: Judging) -> bytes:
    plumbing, snapshot = attempt.plumbing, attempt.work.snapshot
    entries: dict[str, Entry | None] = {file.path: (file.new_mode, file.new_oid) for file in attempt.laid_out}
    edits = plumbing.entries(snapshot.tree, snapshot.protected_edits)
    entries |= {path: edits.get(path) for path in snapshot.protected_edits}
    if snapshot.aside is not None:
        paths = tuple(one.path for one in snapshot.not_taken if not one.known and not one.ignored)
        entries |= plumbing.entries(snapshot.aside, paths)
    tree = attempt.snapshot.candidate_tree
    return plumbing.patch_to_apply(tree, plumbing.tree_with(tree, entries))[:PATCH_BYTES_MAX] if entries else b""


def without_files(patch: bytes, paths: tuple[str, ...]) -> bytes:
    heads = tuple(f"a/{path} b/{path}\n".encode("utf-8", "surrogateescape") for path in paths)
    begin = b"diff --git "
    sections = re.split(rb"^diff --git ", patch, flags=re.MULTILINE)[1:]
    return b"".join(begin + section for section in sections if not section.startswith(heads))
