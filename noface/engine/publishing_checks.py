"""Before a worker is paid: can its work be proposed, and which pull requests are open already? Only reads."""

import json

from noface.engine.context import RunContext
from noface.engine.publishing import look_at_branch
from noface.errors import ForgeAwayError, RemoteError, UsageError
from noface.forge.base import Forge
from noface.git.refs import branch_name, slug
from noface.git.remote import Remote
from noface.model.pull_request import PullRequest, PullState
from noface.process.command import Canceller
from noface.recovery.proposal import read_marker

_HOW = '[landing] how = "pull-request"'


def check_publishing(context: RunContext, cancel: Canceller) -> None:
    """See that work can be pushed and proposed, where it is to be; learn of pull requests that a lost database knew.

    Where the other side does not answer, the run goes on: what it proves is published later. Raises UsageError where
    there is no remote, ForgeError where the token may not do what is needed.
    """
    if not context.settings.landing.pull_request:
        return
    remote, forge = context.remote, context.forge
    if remote is None or forge is None:
        raise UsageError(
            f"{_HOW}: this repository has no git remote to push to.",
            "Add it: git remote add origin git@github.com:OWNER/NAME.git; or leave `how` out, and work lands on main.",
        )
    try:
        forge.check_access()
        _learn(context, remote, forge, cancel)
    except ForgeAwayError as error:
        context.forge_away = error.until, error.message
        context.log_event("forge_away", None, until=error.until, reason=error.message)
    except RemoteError as error:
        if not error.passing:
            raise
        context.log_event("forge_away", None, until=context.clock.now(), reason=error.message)


def _learn(context: RunContext, remote: Remote, forge: Forge, cancel: Canceller) -> None:
    """Find noface's pull requests by its branches on the remote, of which the database knows nothing.

    It was lost, or another machine has opened them.
    """
    held = remote.read("refs/heads/noface/*", cancel=cancel).refs
    known = {f"refs/heads/{row.branch}" for row in context.pulls.rows()}
    if held.keys() <= known:
        return
    issues = {branch_name(issue.id): issue.id for issue in context.tracker.backlog().issues}
    numbers: dict[str, int] = json.loads(context.reader.fact("numbers") or "{}")
    for ref in held:
        issue_id = issues.get(ref.removeprefix("refs/heads/"))
        if issue_id is None or context.pulls.row(issue_id) is not None:
            continue
        pull = forge.find(branch_name(issue_id))
        told = read_marker(pull.body) if pull is not None else None
        if pull is None or told is None or told[0] != issue_id:
            continue
        numbers[slug(issue_id)] = max(numbers.get(slug(issue_id), 0), told[1])
        _know(context, issue_id, pull, told[1], cancel)
    context.journal.fact("numbers", json.dumps(numbers))


def _know(context: RunContext, issue_id: str, pull: PullRequest, attempt: int, cancel: Canceller) -> None:
    """Record a pull request that was found; of one that was closed nothing is known, and the issue begins anew.

    Where a person has pushed to its branch, no head of noface's is known: whoever follows it sees that it is theirs.
    """
    plumbing, now = context.env.plumbing, context.clock.now()
    if pull.state is PullState.CLOSED:
        return
    ours = look_at_branch(context, issue_id, cancel).ours
    tree = plumbing.tree(pull.head) if ours and plumbing.resolve(pull.head) is not None else ""
    context.pulls.found(now, issue_id, pull, attempt, tree, head=pull.head if ours else "")
    if pull.state is PullState.MERGED:
        context.pulls.merged(now, issue_id, pull.merge_commit or pull.head)
