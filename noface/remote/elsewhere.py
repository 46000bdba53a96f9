"""Which stories and stations a run has, in the order in which they have their turn."""

from functools import partial

from noface.engine.parts import Elsewhere, RunParts
from noface.engine.pause import Pause
from noface.engine.stations import Station
from noface.remote.follow_pulls import PullFollower
from noface.remote.lease import RepositoryLease
from noface.remote.main_watch import watch_main
from noface.remote.publishing import Publishing
from noface.remote.publishing_checks import check_publishing
from noface.remote.tracker_answers import Listener
from noface.remote.tracker_calls import RemoteIssues
from noface.remote.tracker_sync import TrackerSync


def elsewhere(issues: RemoteIssues | None) -> Elsewhere:
    """Return what a run does with other machines; `issues` is its tracker if that is on one."""
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
        run.stations.begin(watch_main(run))
    if context.settings.config.landing.by_pull_request:
        stations.append(Publishing(run))
    return (Pause(context), *stations, lease)
