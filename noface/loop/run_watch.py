"""Follows one worker run: tells what it does and what it has used so far, and ends it where that is too much.

A worker that tells only tokens is priced like a finished one (`core.prices`). The limit is `max_cost_usd` of its
model; where the agent holds that itself, noface's watch is the net below, and leaves it time to end more gently.
"""

import time
from dataclasses import replace
from pathlib import Path

from noface.agents.base import AgentEvent, EventKind, Place, StreamReader
from noface.core.attempt import AttemptOrder
from noface.core.masking import Masker
from noface.core.prices import priced
from noface.core.worker_run import EndedBy, Usage
from noface.loop.log_follower import LogFollower
from noface.loop.workshop import Progress, Tell

PATIENCE_S = 2.0
"""So long a run may be over its limit: one that is about to end does so by itself, with all that it did."""

PATIENCE_WITH_OWN_LIMIT_S = 30.0
"""The same where the agent ends it by itself, which it does between two answers of its model."""

_DIME = 0.1
_WORDS_SHOWN_MAX = 160
_LOOKED_AT_MAX = 4000
_NO_PATH = frozenset(" \t\"'`*?|&;<>()$=")
"""What stands in commands and patterns; a path with one of these is not told by itself."""


class CostLimit:
    """The `max_cost_usd` of an order's model, and since when it has been passed. Times are monotonic."""

    def __init__(self, order: AttemptOrder, patience_s: float) -> None:
        self._model = order.model
        self._think = order.think
        self._patience_s = patience_s
        self._since: float | None = None

    def passed(self, used: Usage, now: float) -> str:
        """Say by how much the limit has been passed for longer than is patient; an empty text where it has not."""
        limit, cost = self._model.max_cost_usd, used.cost_usd
        if limit is None or cost is None or cost <= limit:
            self._since = None
            return ""
        self._since = now if self._since is None else self._since
        if now - self._since < self._patience_s:
            return ""
        raised = ", raised for thinking longer" if self._think else ""
        return f"stopped at {_dollars(cost)}: over max_cost_usd = {_dollars(limit)} of {self._model.name}{raised}"


class RunWatch:
    """Looks at a run every tick. `stopped` says why its cost ended it, where that did.

    `used` is priced; `most` is the most of each amount that was ever told of it.
    """

    def __init__(
        self, order: AttemptOrder, place: Place, reader: StreamReader, limit: CostLimit, masker: Masker, tell: Tell
    ) -> None:
        self.stdout = Path(place.log_folder, "agent.log")
        self.stderr = Path(place.log_folder, "agent.err")
        self._order = order
        self._workspace = place.workspace
        self._reader = reader
        self._limit = limit
        self._masker = masker
        self._tell = tell
        self._told = Progress(order.issue.id, order.number, "agent", "")
        self._follower = LogFollower(self.stdout, self.stderr, reader, self._tell_event)
        self.used = Usage()
        self.most = Usage()
        self.stopped = ""

    def close(self) -> None:
        """Close the log. Repeatable."""
        self._follower.close()

    def poll(self) -> float | EndedBy | None:
        """Take in what is new; return the monotonic time of the last sign of life, or that the cost is to end it."""
        life = self._follower.poll()
        self.used = self._priced()
        if self.used != self._told.used:
            self._tell_this(replace(self._told, used=self.used, alive=False))
        self.stopped = self.stopped or self._limit.passed(self.used, time.monotonic())
        return EndedBy.BUDGET if self.stopped else life

    def _priced(self) -> Usage:
        return replace(priced(self._reader.used(), self._order.model), session_id=None)  # only amounts are told

    def _tell_event(self, event: AgentEvent, *, alive: bool) -> None:
        text = self._masker.text(event.text[:_LOOKED_AT_MAX].replace(f"{self._workspace}/", ""))
        shown, file = text[:_WORDS_SHOWN_MAX], file_in(event.kind, text)
        issue, number = self._order.issue.id, self._order.number
        self._tell_this(Progress(issue, number, "agent", shown, alive, event.kind, file, self._priced()))

    def _tell_this(self, progress: Progress) -> None:
        self._told = progress
        self.most = at_least(progress.used, self.most)
        self._tell(progress)


def at_least(used: Usage, told: Usage) -> Usage:
    """Return what a run used, each amount no less than what was told of it before."""
    dearer = told.cost_usd is not None and (used.cost_usd is None or told.cost_usd > used.cost_usd)
    return replace(
        used,
        cost_usd=told.cost_usd if dearer else used.cost_usd,
        tokens_in=_larger(used.tokens_in, told.tokens_in),
        tokens_out=_larger(used.tokens_out, told.tokens_out),
        tokens_cached=_larger(used.tokens_cached, told.tokens_cached),
        priced=told.priced if dearer else used.priced,
    )


def _larger(one: int | None, other: int | None) -> int | None:
    return max((count for count in (one, other) if count is not None), default=None)


def file_in(kind: EventKind, text: str) -> str:
    """Return the file that a tool or an edit is about, "" where it is about none or about more than a name tells."""
    target = text.partition(" ")[2].partition(", ")[0]
    if kind is EventKind.EDIT:
        return target
    is_path = ("/" in target or "." in target) and "://" not in target and not any(c in _NO_PATH for c in target)
    return target if kind is EventKind.TOOL and is_path else ""


def _dollars(amount: float) -> str:
    """Return an amount as people write it; one of less than a dime with the digits that tell it from nothing."""
    return f"${amount:.2f}" if amount >= _DIME else f"${amount:.4f}"
