"""Which stories and stations a run has, in the order in which they have their turn."""

import json
from dataclasses import replace
from functools import partial

from noface.engine.context import RunContext
from noface.engine.ground import fetch_again, mark_landed_elsewhere
from noface.engine.parts import Elsewhere, RunParts
from noface.engine.planner import Landable, Pause
from noface.engine.prompt_context import attempt_directory
from noface.engine.stations import Station, Steps, Tick, call
from noface.errors import ForgeAwayError, ForgeError, RemoteError, UsageError
from noface.forge.github import Forge
from noface.git.landings import pushed_work
from noface.git.refs import RefUpdate, branch_name, hold_ref, slug
from noface.git.remote import Remote
from noface.model.attempt import PastAttempt
from noface.model.codec import encode
from noface.model.pull_request import PullRequest, PullState
from noface.model.taxonomy import PASSED
from noface.process.command import Canceller
from noface.recovery.polling import Asked, Pace, answered, is_due
from noface.recovery.proposal import read_marker, read_model
from noface.recovery.pull_rounds import PullSeen
from noface.recovery.review_words import review_key
from noface.remote.follow_pulls import PullFollower
from noface.remote.lease import RepositoryLease
from noface.remote.publishing import Publishing, look_at_branch
from noface.remote.tracker_answers import Listener
from noface.remote.tracker_sync import RemoteIssues, TrackerSync
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


_HOW = '[landing] how = "pull-request"'


def elsewhere(issues: RemoteIssues | None) -> Elsewhere:
    lease = RepositoryLease()
    return Elsewhere(lease.held, _check_publishing, partial(_stations, issues, lease))


def _stations(issues: RemoteIssues | None, lease: RepositoryLease, run: RunParts) -> tuple[Station, ...]:
    context = run.context
    listener = Listener(context, context.publications, run.leave)
    stations: list[Station] = []
    if issues is not None:
        stations.append(TrackerSync(run, issues, listener))
    else:
        context.publications.back()  # it was another tracker that was away
    if context.forge is not None:
        stations.append(PullFollower(run, context.forge, listener))
    if context.settings.config.landing.publishes:
        run.stations.begin(_watch_main(run))
    if context.settings.config.landing.by_pull_request:
        stations.append(Publishing(run))
    return (Pause(context), Landable(run), *stations, lease)


def _watch_main(run: RunParts) -> Steps[None]:
    """Fetch main again and again, seldom while nothing comes of it; what has landed there is not landed here."""
    context, pace = run.context, Pace(run.context.settings.config.github.poll)
    asked = Asked(context.clock.now())
    while True:
        yield Tick()  # and no time: a clock that is set back would have it wait for one that is long past
        if not is_due(asked, pace, context.clock.now()):
            continue
        gained = yield from call(partial(fetch_again, context))
        asked = answered(asked, context.clock.now(), changed=bool(gained))
        if gained:
            for issue_id in mark_landed_elsewhere(context, gained):
                run.queue.drop(issue_id)
            context.backlog_stale = True


def _check_publishing(context: RunContext, cancel: Canceller) -> None:
    """See that work can be pushed and proposed; learn of pull requests that a lost database knew.

    If the other side does not answer, the run goes on. Raises UsageError and ForgeError.
    """
    if not context.settings.config.landing.by_pull_request:
        return
    remote, forge = context.remote, context.forge
    if remote is None or forge is None:
        raise UsageError(
            f"{_HOW}: this repository has no git remote to push to.",
            "Add it: git remote add origin git@github.com:OWNER/NAME.git; or leave `how` out, and work lands on main.",
        )
    try:
        forge.check_access()
        _check_rules(context, forge)
        learn(context, remote, forge, cancel)
    except ForgeAwayError as error:
        context.forge_away = error
        context.log_event("forge_away", None, until=error.until, reason=error.message)
    except RemoteError as error:
        if not error.passing:
            raise
        context.log_event("forge_away", None, until=context.clock.now(), reason=error.message)


def _check_rules(context: RunContext, forge: Forge) -> None:
    """Raise ForgeError if the repository's rules refuse each push; what they may refuse only is told."""
    issues = context.tracker.backlog().issues
    branch = branch_name(issues[0].id if issues else "1")
    context.linear_branches = forge.wants_linear(branch)
    signed = context.signs
    refusals = forge.refusals(branch)
    refusals = tuple(each for each in refusals if not (signed and each.kind == "required_signatures"))
    if certain := next((each for each in refusals if each.certain), None):
        raise ForgeError(f"What noface would push to {branch} is refused: {certain.text}.", certain.advice)
    if refusals:
        context.announce(
            "rules_may_refuse", None, {"reason": " ".join(f"{each.text}. {each.advice}" for each in refusals)}
        )
