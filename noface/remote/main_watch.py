"""Watches the remote's main while a run goes on."""

from collections.abc import Iterable
from functools import partial

from noface.engine.engine import RunParts
from noface.engine.ground import fetch_again, mark_landed_elsewhere
from noface.engine.stations import Station, Steps, Tick, call
from noface.recovery.polling import Asked, Pace, answered, is_due


class MainWatch(Station):
    """Fetches main again while noface publishes: seldom while nothing comes of it."""

    def __init__(self, run: RunParts) -> None:
        self._run = run

    def stories(self) -> Iterable[Steps[None]]:
        """Watch main, if what is landed here is pushed."""
        return (self._watch(),) if self._run.context.settings.landing.publishes else ()

    def _watch(self) -> Steps[None]:
        context, pace = self._run.context, Pace(self._run.context.settings.landing.poll_s)
        asked = Asked(context.clock.now())
        while True:
            yield Tick()
            if not is_due(asked, pace, context.clock.now()):
                continue
            gained = yield from call(partial(fetch_again, context))
            asked = answered(asked, context.clock.now(), changed=bool(gained))
            if gained:
                for issue_id in mark_landed_elsewhere(context, gained):
                    self._run.queue.drop(issue_id)
                context.backlog_changed()
