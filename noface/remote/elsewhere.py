"""Which stories and stations a run has, in the order in which they have their turn."""

from functools import partial

from noface.engine.ground import fetch_again, mark_landed_elsewhere
from noface.engine.parts import Elsewhere, RunParts
from noface.engine.pause import Pause
from noface.engine.stations import Station, Steps, Tick, call
from noface.recovery.polling import Asked, Pace, answered, is_due
from noface.remote.follow_pulls import PullFollower
from noface.remote.lease import RepositoryLease
from noface.remote.publishing import Publishing
from noface.remote.publishing_checks import check_publishing
from noface.remote.tracker_answers import Listener
from noface.remote.tracker_calls import RemoteIssues
from noface.remote.tracker_sync import TrackerSync


def elsewhere(issues: RemoteIssues | None) -> Elsewhere:
    lease = RepositoryLease()
    return Elsewhere(lease.held, check_publishing, partial(_stations, issues, lease))


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
            context.backlog_changed()
