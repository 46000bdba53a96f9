"""The ground that a run works on: main, or with pushes and pull requests what was fetched of the remote's main.

If the remote's main is ahead, the gates run on it first; main then moves by compare-and-swap with the person's files
safe (laws 1 and 3), and the intent is recorded before (law 7).
"""

from dataclasses import replace

from noface.engine.context import RunContext
from noface.errors import FollowError, NofaceError, RemoteError
from noface.git.fast_forward import Blocked, Landed
from noface.git.landing import settle
from noface.git.landings import landings
from noface.git.plumbing import Plumbing
from noface.git.remote import Remote
from noface.model.taxonomy import IssueStatus
from noface.process.failpoints import hit
from noface.process.supervise import Canceller
from noface.recovery.ground import LandingMode, RemoteMain, StartPlan, course

_FOLLOWING = "following"
"""The fact that holds the move of main to what was fetched, while it is under way."""

_SEEN = "landed_elsewhere"
"""The fact that holds the fetched commit up to which is known what other machines have landed."""


def take_ground(context: RunContext, cancel: Canceller) -> StartPlan:
    """Fetch; have work start where it should. Raises DivergedError, UnpushedError, UsageError, KeyboardInterrupt."""
    rules, remote = context.settings.config.landing, context.remote
    seen = None if remote is None else _look(context.env.plumbing, remote, cancel)
    if cancel.cancelled:
        raise KeyboardInterrupt
    hit("ground_fetched")
    decided = course(seen, rules.mode)
    if isinstance(decided, NofaceError):
        raise decided
    for state, text in decided.notices:
        context.announce("remote_main", None, {"state": state, "text": text})
    if decided.fetched and remote is not None:
        context.env.plumbing.work_from(remote.fetched)
        if rules.publishes:
            fetched, seen_at = context.env.plumbing.main(), context.reader.fact(_SEEN)
            if seen_at != fetched:  # what other machines have landed since the last run that looked
                known = seen_at is not None and context.env.plumbing.is_ancestor(seen_at, fetched)
                mark_landed_elsewhere(context, f"{seen_at}..{fetched}" if known else fetched)
                context.journal.fact(_SEEN, fetched)
    return decided


def _look(plumbing: Plumbing, remote: Remote, cancel: Canceller) -> RemoteMain:
    seen = RemoteMain(plumbing.repository.main_name, remote.name, remote.main_name)
    try:
        refs, head = remote.fetch_main(cancel)
    except RemoteError as error:
        seen = replace(seen, away=error.message, hint=error.hint)
    else:
        if remote.main not in refs:
            return replace(seen, lacks=True, head=head.removeprefix("refs/heads/"))
    fetched = plumbing.resolve(remote.fetched)
    return seen if fetched is None else replace(seen, apart=plumbing.ahead_behind(plumbing.local_main(), fetched))


# Main follows


def follow(context: RunContext, decided: StartPlan) -> None:
    """Move main to the fetched commit on which the gates have just passed; FollowError where that is not possible."""
    remote, plumbing = context.remote, context.env.plumbing
    if not decided.follows or remote is None:
        return
    context.keep_hold()
    old, new = plumbing.local_main(), plumbing.main()
    context.journal.fact(_FOLLOWING, f"{old} {new}")
    hit("follow_recorded")
    _settle(context, remote.main_name, old, new)
    if context.settings.config.landing.mode is LandingMode.MERGE:
        plumbing.work_from("")


def settle_following(context: RunContext) -> None:
    """Bring a move of main to what was fetched to an end, which a kill has cut off; harmless to repeat."""
    ends = (context.reader.fact(_FOLLOWING) or "").split()
    if ends:
        _settle(context, "what was fetched", *ends)


def _settle(context: RunContext, remote: str, old: str, new: str) -> None:
    plumbing = context.env.plumbing
    result = settle(plumbing, old, new, f"noface: follow {remote}")
    hit("followed")
    context.journal.fact(_FOLLOWING, "")
    name = plumbing.repository.main_name
    if isinstance(result, Landed):
        mark_landed_elsewhere(context, f"{old}..{new}")
        context.announce("main_followed", None, {"main": name, "remote": remote, "commit": new})
        return
    why = result.text if isinstance(result, Blocked) else f"{name} was moved meanwhile"
    raise FollowError(f"{name} cannot follow {remote}: {why}.", "Clear the way, then run again.")


def mark_landed_elsewhere(context: RunContext, commits: str) -> tuple[str, ...]:
    """Record as merged what another machine has landed, by the trailers of fetched commits; return those issues."""
    states, marked = context.reader.states(), []
    beside = context.settings.config.landing.by_pull_request
    for landing in landings(context.env.plumbing, commits, first_parent=not beside):
        state = states.get(landing.issue)
        if beside and context.pulls.row(landing.issue) is not None:
            continue
        if state is None or state.status not in (IssueStatus.MERGED, IssueStatus.RUNNING):
            context.journal.merged(context.clock.now(), landing.issue, landing.commit)
            marked.append(landing.issue)
    return tuple(marked)


def fetch_again(context: RunContext, cancel: Canceller) -> str:
    """Fetch the remote's main, in a thread; return the commits that it has gained as a range, "" for nothing."""
    remote, plumbing = context.remote, context.env.plumbing
    if remote is None or not context.settings.config.landing.publishes:
        return ""
    before = plumbing.resolve(remote.fetched)
    try:
        remote.fetch_main(cancel)
    except RemoteError:
        return ""
    now = plumbing.resolve(remote.fetched)
    return f"{before}..{now}" if before is not None and now != before else ""
