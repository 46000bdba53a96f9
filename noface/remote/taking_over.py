"""Takes over pull requests of noface's of which the records were lost, or that another clone opened.

The hidden line names issue and attempt, the branch's trailers tell which attempts were pushed, and what reviewers wrote
before the newest was answered by it.
"""

import json
from dataclasses import replace

from noface.engine.context import RunContext
from noface.engine.prompt_context import attempt_directory
from noface.forge.github import Forge
from noface.git.landings import pushed_work
from noface.git.refs import RefUpdate, branch_name, hold_ref, slug
from noface.git.remote import Remote
from noface.model.attempt import PastAttempt
from noface.model.codec import encode
from noface.model.pull_request import PullRequest, PullState
from noface.model.taxonomy import PASSED
from noface.process.command import Canceller
from noface.recovery.proposal import read_marker, read_model
from noface.recovery.pull_rounds import PullSeen
from noface.recovery.review_words import review_key
from noface.remote.publishing import look_at_branch
from noface.remote.web_commits import committed_there

_PATCH = "taken over"
"""What stands for the hash of a patch that nobody has taken: it was not empty."""
_NOTE = "taken over from pull request #{number}: this clone's records of it were lost"


_LostPull = tuple[str, PullRequest, int]
"""An issue, its pull request, and the attempt that it shows by its hidden line."""


def learn(context: RunContext, remote: Remote, forge: Forge, cancel: Canceller) -> None:
    """Take over noface's pull requests that its branches on the remote tell of. Raises RemoteError, ForgeError."""
    unknown = tuple(_unknown(context, remote, forge, cancel))
    if not unknown:
        return
    numbers: dict[str, int] = json.loads(context.reader.fact("numbers") or "{}")
    for issue_id, _, attempt in unknown:
        numbers[slug(issue_id)] = max(numbers.get(slug(issue_id), 0), attempt)
    context.journal.fact("numbers", json.dumps(numbers))
    for each in unknown:
        _know(context, forge, each, cancel)


def _unknown(context: RunContext, remote: Remote, forge: Forge, cancel: Canceller) -> list[_LostPull]:
    held, _ = remote.read("refs/heads/noface/*", cancel=cancel)
    known = {f"refs/heads/{row.branch}" for row in context.pulls.rows()}
    if held.keys() <= known:
        return []
    issues = {branch_name(issue.id): issue.id for issue in context.tracker.backlog().issues}
    result = []
    for ref in held:
        issue_id = issues.get(ref.removeprefix("refs/heads/"))
        if issue_id is None or context.pulls.row(issue_id) is not None:
            continue
        pull = forge.find(branch_name(issue_id))
        marker = read_marker(pull.body) if pull is not None else None
        if pull is not None and marker is not None and marker[0] == issue_id:
            result.append((issue_id, pull, marker[1]))
    return result


def _know(context: RunContext, forge: Forge, lost: _LostPull, cancel: Canceller) -> None:
    """Record a pull request that was found; of one that was closed nothing is known, and the issue begins anew.

    If a person has pushed to its branch, no head of noface's is known: whoever follows it sees that it is theirs.
    """
    (issue_id, pull, attempt), plumbing, now = lost, context.env.plumbing, context.clock.now()
    if pull.state is PullState.CLOSED:
        return
    _, ours = look_at_branch(context, issue_id, cancel)
    here = plumbing.resolve(pull.head) is not None
    tree = plumbing.tree(pull.head) if ours and here else ""
    head = pull.head if ours else ""
    if here and not ours:  # its newest commit, if all that stands above it is of the forge's pages
        work = pushed_work(plumbing, issue_id, plumbing.main(), pull.head)
        newest = work[0].commit if work else ""
        head = newest if committed_there(plumbing, newest, pull.head, plumbing.main(), pull.url) else ""
    context.pulls.recovered(now, issue_id, pull, attempt, tree, head=head)
    if pull.state is PullState.MERGED:
        context.pulls.merged(now, issue_id, pull.merge_commit or pull.head)
    elif here and not any(each.number == attempt for each in context.reader.past(issue_id)):
        _take_over(context, forge, lost, ours=ours)


def _take_over(context: RunContext, forge: Forge, lost: _LostPull, *, ours: bool) -> None:
    (issue_id, pull, attempt), plumbing = lost, context.env.plumbing
    pushed = pushed_work(plumbing, issue_id, plumbing.main(), pull.head)
    if not pushed:
        return
    newest = pushed[0]
    base = plumbing.merge_base(newest.commit, plumbing.main()) or pull.base
    plumbing.refs.apply(RefUpdate(hold_ref(issue_id, str(attempt)), newest.commit))
    changes = plumbing.changes(plumbing.tree(base), plumbing.tree(newest.commit))
    models = context.settings.models
    model_name = read_model(pull.body, attempt)
    model = model_name if model_name in models else next(iter(models))
    past = PastAttempt(
        number=attempt,
        model=model,
        tier=models[model].tier,
        outcome=PASSED,
        charged=False,
        patch_hash=_PATCH,
        commit=newest.commit,
        candidate=newest.commit,
        gates_passed=len(context.settings.gates),
        finished_at=newest.at,
        started_at=newest.at,
        changed=tuple(change.path for change in changes),
        lines=sum((change.added or 0) + (change.deleted or 0) for change in changes),
        main=base,
        notes=(_NOTE.format(number=pull.number),),
    )
    seen = PullSeen(heads=tuple(each.commit for each in reversed(pushed)))
    reviews = forge.reviews(pull.number) if ours else ()
    answered = tuple(review_key(review) for review in reviews if review.at < newest.at)
    rounds = len({each.attempt for each in pushed}) - 1
    directory = attempt_directory(context.settings.attempts_dir, issue_id, attempt)
    context.pulls.taken_over(
        context.clock.now(), issue_id, past, directory, encode(replace(seen, answered=answered)), rounds
    )
