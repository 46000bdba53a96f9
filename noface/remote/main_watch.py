"""Watches the remote's main while a run goes on, if what lands here is pushed."""

from functools import partial

from noface.engine.ground import fetch_again, mark_landed_elsewhere
from noface.engine.parts import RunParts
from noface.engine.stations import Steps, Tick, call
from noface.recovery.polling import Asked, Pace, answered, is_due


def watch_main(run: RunParts) -> Steps[None]:
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
