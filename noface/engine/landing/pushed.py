"""Landings that are pushed at once (`[landing] push = true`): the remote's main first, main after it.

The push is the compare-and-swap, from the commit that the proof was made on to the proven one. What was pushed has
landed, even if the person's files keep main from following. After a kill the remote's main tells.
"""

from contextlib import suppress

from noface.engine.context import RunContext
from noface.errors import GitError
from noface.git.fast_forward import Blocked, Landed
from noface.git.landing import advance
from noface.git.landings import landings
from noface.git.plumbing import Plumbing
from noface.git.refs import RefUpdate
from noface.git.remote import Rejected
from noface.process.supervise import Canceller


def landed_there(plumbing: Plumbing, issue_id: str, candidate: str, main: str) -> Landed | None:
    """Return the landing of an issue on main of which the work in `candidate` knows nothing, None without one."""
    landed = landings(plumbing, f"{candidate}..{main}")
    return next((Landed(each.commit) for each in landed if each.issue == issue_id), None)


def push_landing(context: RunContext, old: str, new: str, cancel: Canceller) -> Rejected | None:
    """Move the remote's main from `old` to `new`, in a thread; harmless to repeat. Raises RemoteError."""
    remote = context.remote
    assert remote is not None  # noqa: S101 - the start of the run has seen to it
    return remote.push(new, remote.main, old, cancel)


def follow_push(context: RunContext, old: str, new: str, note: str) -> None:
    """Have main follow what was pushed, and remember that the remote has it; tell where something is in the way."""
    remote, plumbing = context.remote, context.env.plumbing
    assert remote is not None  # noqa: S101 - the start of the run has seen to it
    with suppress(GitError):  # a fetch may have been faster
        plumbing.refs.apply(RefUpdate(remote.fetched, new, old))
    main, name = plumbing.local_main(), plumbing.repository.main_name
    if plumbing.is_ancestor(new, main):
        return
    if not plumbing.is_ancestor(main, new):
        why = f"{name} has commits that {remote.main_name} lacks: bring them together"
    else:
        result = advance(plumbing, main, new, note if main == old else f"noface: follow {remote.main_name}")
        if isinstance(result, Landed):
            return
        why = result.reason if isinstance(result, Blocked) else f"{name} was moved meanwhile"
        why += f": {', '.join(result.paths)}" if isinstance(result, Blocked) and result.paths else ""
    context.announce("remote_main", None, {"state": "behind", "text": f"{name} stays behind {remote.main_name}: {why}"})


def was_pushed(context: RunContext, commit: str) -> bool:
    """True if the remote's main holds a commit, as far as was fetched."""
    fetched = context.env.plumbing.resolve(context.remote.fetched) if context.remote is not None else None
    return fetched is not None and context.env.plumbing.is_ancestor(commit, fetched)
