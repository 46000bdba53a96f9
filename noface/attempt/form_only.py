"""Takes out of a worker's change the files that it only lays out anew, where their issue neither names nor wants that.

What is taken out is kept as a patch; nobody is charged, and nothing is repeated. The gates decide: where they pass with
these files alone, as with generated code, the files stay.
"""

import re
from dataclasses import replace

from noface.attempt.attempt import PATCH_FILE, Judging
from noface.attempt.changes import PATCH_BYTES_MAX, masked_patch, own_values
from noface.attempt.environment import put
from noface.attempt.examine import modified
from noface.git.plumbing import entries_before
from noface.integrity.asked_for import asks_for, names_file, words_of
from noface.integrity.form import changed_beside_form, same_but_for_form
from noface.model.attempt import FileChange
from noface.model.quoting import some
from noface.secrets.masked_records import masked_snapshot, named_anew

_FORM_FILE = "form.patch"
_FILE_BYTES_MAX = 400_000
_TOTAL_BYTES_MAX = 10_000_000
_SHOWN_MAX = 5
_LAID_OUT_LINES_MIN = 60
_CHARS_OF_A_LINE = 5
"""So few characters to a changed line, from the first to the last that says something else, are not what changed it."""


def formed(attempt: Judging) -> tuple[tuple[FileChange, ...], tuple[str, ...]]:
    """Return the files that a worker has laid out anew beside its work, and notes on those where that is the most.

    None, if the issue asks for that.
    """
    change, issue, left = attempt.change, attempt.issue, _TOTAL_BYTES_MAX
    if not change.files or asks_for("form", (*words_of(issue), *issue.accept)):
        return (), ()
    files, notes = [], []
    with attempt.plumbing.blobs() as blobs:
        for file in change.files:
            pair = modified(blobs, file, min(_FILE_BYTES_MAX, left // 2))
            if pair is None:
                continue
            left -= sum(map(len, pair))
            lines = (file.added or 0) + (file.deleted or 0)
            if same_but_for_form(file.path, *pair):
                files += [file] * (not names_file(issue, file.path))
            elif lines >= _LAID_OUT_LINES_MIN and changed_beside_form(*pair) < _CHARS_OF_A_LINE * lines:
                notes.append(f"{file.path} is laid out anew beside the change in it: {lines} lines, most in form only")
    return tuple(files) if len(files) < len(change.files) else (), tuple(notes[:_SHOWN_MAX])


def without(attempt: Judging, files: tuple[FileChange, ...]) -> Judging:
    """Return the attempt without these files, as a commit of its own on its work; what they held is kept as a patch."""
    env, plumbing, main, change = attempt.env, attempt.plumbing, attempt.order.main, attempt.change
    snapshot = attempt.work.snapshot
    tree = plumbing.tree_with(snapshot.candidate_tree, entries_before(files))
    commit = attempt.commit(tree, snapshot.candidate)
    diff = plumbing.diff(main, tree)
    patch = diff.patch[:PATCH_BYTES_MAX]
    rest = replace(snapshot, candidate=commit, candidate_tree=tree, changes=diff.changes)
    masked = _but_for(change.masked, files)  # it may hide secrets that nobody knows any more where it is judged again
    own = own_values(env, main, named_anew(rest), masked)
    taken_out = plumbing.diff(tree, snapshot.candidate_tree).patch[:PATCH_BYTES_MAX]
    put(attempt.folder / _FORM_FILE, masked_patch(env, main, taken_out, own))
    put(attempt.folder / PATCH_FILE, masked)
    cut = len(patch) < len(diff.patch)
    change = replace(change, files=diff.changes, patch=patch, masked=masked, cut=cut)
    work = replace(attempt.work, snapshot=masked_snapshot(rest, env.masker, own))
    return Judging(attempt.order, attempt.scope, work, change)


def _but_for(patch: bytes, files: tuple[FileChange, ...]) -> bytes:
    """Return a patch without the sections of these files; one whose name git quotes stays."""
    heads = tuple(f"a/{file.path} b/{file.path}\n".encode("utf-8", "surrogateescape") for file in files)
    begin = b"diff --git "
    sections = re.split(rb"^diff --git ", patch, flags=re.MULTILINE)[1:]
    return b"".join(begin + section for section in sections if not section.startswith(heads))


def left_out(attempt: Judging, files: tuple[FileChange, ...]) -> str:
    """Return the note on files that are taken out."""
    to_see = f"noface logs {attempt.issue.id} {attempt.order.number} --undone"
    return f"{_form_only(files)} and left out; to see them: {to_see}"


def put_back(attempt: Judging, files: tuple[FileChange, ...], why: str) -> str:
    """Show the whole change again; return the note on files that the gates need."""
    (attempt.folder / _FORM_FILE).unlink(missing_ok=True)
    put(attempt.folder / PATCH_FILE, attempt.change.masked)
    return f"{_form_only(files)} and needed all the same; without: {why}"


def _form_only(files: tuple[FileChange, ...]) -> str:
    counted = "1 file is" if len(files) == 1 else f"{len(files)} files are"
    return f"{counted} changed in form only ({some(tuple(file.path for file in files), _SHOWN_MAX)})"
