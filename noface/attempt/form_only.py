"""Takes files that say nothing new out of a change, if nobody asked for that and the gates pass without them."""

from dataclasses import replace

from noface.attempt.attempt import PATCH_FILE, Judging
from noface.attempt.changes import PATCH_BYTES_MAX, own_values
from noface.attempt.environment import put
from noface.attempt.examine import modified
from noface.attempt.left_out import without_files
from noface.git.plumbing import entries_before
from noface.integrity.asked_for import asks_for, names_file, words_of
from noface.integrity.form import same_but_for_form
from noface.integrity.rubbish import says
from noface.model.attempt import FileChange
from noface.model.quoting import some
from noface.secrets.masked_records import masked_snapshot, named_anew

_FILE_BYTES_MAX = 400_000
_TOTAL_BYTES_MAX = 10_000_000
_SHOWN_MAX = 5


def formed(attempt: Judging) -> tuple[FileChange, ...]:
    """Return the files that a worker has laid out anew beside its work; none, if the issue asks for that."""
    change, issue, left = attempt.change, attempt.issue, _TOTAL_BYTES_MAX
    if not change.files or asks_for("form", (*words_of(issue), *issue.accept)):
        return ()
    asked, files = attempt.asked(attempt.work.agent.answer), []
    with attempt.plumbing.blobs() as blobs:
        for file in change.files:
            pair = modified(blobs, file, min(_FILE_BYTES_MAX, left // 2))
            if pair is None:
                continue
            left -= sum(map(len, pair))
            if same_but_for_form(file.path, *pair) and not (names_file(issue, file.path) or says(asked, file.path)):
                files.append(file)
    return tuple(files) if len(files) < len(change.files) else ()


def without(attempt: Judging, files: tuple[FileChange, ...]) -> Judging:
    """Return the attempt without these files, as a commit of its own on its work."""
    env, plumbing, main, change = attempt.env, attempt.plumbing, attempt.order.main, attempt.change
    snapshot = attempt.work.snapshot
    tree = plumbing.tree_with(snapshot.candidate_tree, entries_before(files))
    commit = attempt.commit(tree, snapshot.candidate)
    diff = plumbing.diff(main, tree)
    patch = diff.patch[:PATCH_BYTES_MAX]
    rest = replace(snapshot, candidate=commit, candidate_tree=tree, changes=diff.changes)
    # It may hide secrets that nobody knows any more where it is judged again.
    masked = without_files(change.masked, tuple(file.path for file in files))
    own = own_values(env, main, named_anew(rest))
    put(attempt.folder / PATCH_FILE, masked)
    cut = len(patch) < len(diff.patch)
    change = replace(change, files=diff.changes, patch=patch, masked=masked, cut=cut)
    work = replace(attempt.work, snapshot=masked_snapshot(rest, env.masker, own))
    return Judging(attempt.order, attempt.scope, work, change, files)


def needed(attempt: Judging, files: tuple[FileChange, ...], why: str) -> str:
    """Show the whole change again; return the note on files that the gates need."""
    put(attempt.folder / PATCH_FILE, attempt.change.masked)
    counted = "1 file is" if len(files) == 1 else f"{len(files)} files are"
    named = some(tuple(file.path for file in files), _SHOWN_MAX)
    return f"{counted} changed in form only ({named}) and needed all the same; without: {why}"
