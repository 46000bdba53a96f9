"""A person's pause: nothing more starts until they say so, from another terminal; what is under way ends, and lands."""

from collections.abc import Collection

from noface.engine.context import RunContext
from noface.engine.stations import Patience, Station
from noface.store.overview import PAUSED


class Pause(Station):
    """Lets nothing start while the run is paused, and keeps it from ending."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        if context.reader.fact(PAUSED):
            context.journal.fact(PAUSED, "")  # it was another run's: who begins one wants work done
        self._told = False

    @property
    def _paused(self) -> bool:
        return bool(self._context.reader.fact(PAUSED))

    def admitted(self, issue_ids: Collection[str]) -> Collection[str]:
        """Return which issues may start; a pause, and its end, is told once."""
        paused = self._paused
        if paused != self._told:
            self._told = paused
            text = "paused: nothing more starts; `noface resume` goes on" if paused else "resumed: it goes on"
            self._context.log_event("paused", None, text=text)
        return () if paused else issue_ids

    def patience(self, *, once: bool) -> Patience | None:
        del once  # and no time: a later one at each look would be told as a new wait each time
        return Patience(0.0, "it is paused; `noface resume` goes on") if self._paused else None
