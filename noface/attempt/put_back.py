"""What a gate's failure says of the worker's edits and files that the gate has not seen."""

from collections.abc import Sequence
from dataclasses import replace

from noface.attempt.attempt import Judging
from noface.git.guarded import PROTECTED, guarded
from noface.model.attempt import Snapshot
from noface.model.failure import Failure
from noface.model.protection import Protection
from noface.model.quoting import some

_SHOWN_MAX = 10
_FIXTURES = (
    "A conftest.py may only gain fixtures with new names, without autouse, hooks and code that runs by itself; others"
    " belong into the test file that uses them"
)
_LIFTED = "a person can name the file in its paths or may_change"


def with_places(failure: Failure, snapshot: Snapshot) -> Failure:
    """Return a gate's failure that also names the worker's files that the gate has not seen, if there are any."""
    rubbish = [f"{one.path}, {one.why}" for one in snapshot.not_taken if not one.ignored]
    places = [repositories(snapshot.elsewhere)] if snapshot.elsewhere else []
    if not rubbish and not places:
        return failure
    named = some((*places, *rubbish), _SHOWN_MAX)
    return replace(failure, message=f"{failure.message} (left out of the change: {named})")


def with_put_back(attempt: Judging, failure: Failure) -> Failure:
    """Return a gate's failure that first says which of the worker's edits the gate has not seen, and what to do."""
    snapshot, protection = attempt.work.snapshot, attempt.order.protection
    if not snapshot.protected_edits:
        return failure
    plumbing, main = attempt.plumbing, attempt.order.main
    undone = guarded(plumbing, main, plumbing.changes(main, snapshot.tree), protection)
    why = {change.path: said for change, said in undone.items()}
    paths = sorted(snapshot.protected_edits, key=lambda path: why.get(path, PROTECTED) == PROTECTED)
    named = some(tuple(f"{path} ({why.get(path, PROTECTED)})" for path in paths), _SHOWN_MAX)
    message = f"put back to main's before the gate ran: {named}. So {failure.message}. {instead(protection, paths)}"
    return replace(failure, message=message)


def instead(protection: Protection, paths: Sequence[str]) -> str:
    """Say what a worker can do whose edits of protected files are undone."""
    fixtures = f"{_FIXTURES}. " if any(protection.may_grow(path) for path in paths) else ""
    return f"{fixtures}Do without the edit, or report that the issue needs it: {_LIFTED}"


def repositories(places: tuple[str, ...]) -> str:
    """Say that these folders are repositories."""
    kind = "a repository of its own" if len(places) == 1 else "repositories of their own"
    return f"{some(places, _SHOWN_MAX)}, {kind}"
