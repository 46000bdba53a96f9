"""Which stories and stations a run has, in the order in which they have their turn."""

from functools import partial

from noface.engine.engine import Elsewhere, RunParts
from noface.engine.pause import Pause
from noface.engine.stations import Station
from noface.remote.claims import ClaimKeeper
from noface.remote.follow_pulls import PullFollower
from noface.remote.main_watch import watch_main
from noface.remote.publishing import Publishing
from noface.remote.publishing_checks import check_publishing
from noface.remote.tracker_answers import Listener
from noface.remote.tracker_calls import RemoteIssues
from noface.remote.tracker_sync import TrackerSync


def elsewhere(issues: RemoteIssues | None) -> Elsewhere:
    """Return what a run does with other machines; `issues` is its tracker if that is on one."""
    return Elsewhere(check_publishing, partial(_stations, issues))


def _stations(issues: RemoteIssues | None, run: RunParts) -> tuple[Station, ...]:
    context = run.context
    listener, claims = Listener(context, context.publications, run.leave), ClaimKeeper(run)
    stations: list[Station] = []
    if issues is not None:
        stations.append(TrackerSync(run, issues, claims, listener))
    else:
        context.publications.back()  # it was another tracker that was away
    if context.forge is not None:
        stations.append(PullFollower(run, context.forge, listener))
    if context.settings.landing.publishes:
        run.stations.begin(watch_main(run))
    if context.settings.landing.pull_request:
        stations.append(Publishing(run))
    return (Pause(context), *stations, claims)  # the last: what another station does not admit is not claimed
