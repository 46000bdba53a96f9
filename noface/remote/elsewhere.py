"""Which stories and stations a run has, in the order in which they have their turn."""

from functools import partial

from noface.engine.context import RunContext
from noface.engine.ground import fetch_again, mark_landed_elsewhere
from noface.engine.parts import Elsewhere, RunParts
from noface.engine.planner import Pause
from noface.engine.stations import Station, Steps, Tick, call
from noface.errors import ForgeAwayError, ForgeError, RemoteError, UsageError
from noface.forge.github import Forge
from noface.git.refs import branch_name
from noface.process.command import Canceller
from noface.recovery.polling import Asked, Pace, answered, is_due
from noface.remote.follow_pulls import PullFollower
from noface.remote.lease import RepositoryLease
from noface.remote.publishing import Publishing
from noface.remote.taking_over import learn
from noface.remote.tracker_answers import Listener
from noface.remote.tracker_calls import RemoteIssues
from noface.remote.tracker_sync import TrackerSync

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
    return (Pause(context), *stations, lease)


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
    signed = context.settings.config.landing.sign
    refusals = forge.refusals(branch)
    refusals = tuple(each for each in refusals if not (signed and each.kind == "required_signatures"))
    if certain := next((each for each in refusals if each.certain), None):
        raise ForgeError(f"What noface would push to {branch} is refused: {certain.text}.", certain.advice)
    if refusals:
        context.announce(
            "rules_may_refuse", None, {"reason": " ".join(f"{each.text}. {each.advice}" for each in refusals)}
        )
