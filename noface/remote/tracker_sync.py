"""Keeps the backlog and its tracker on another machine in step while a run works.

What is to be said is what the rows say now, compared with what was said last: nothing waits in a queue, and a kill
between a call and its record repeats the call, which changes nothing (law 7).
"""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial

from noface.engine.outages import Outage, passes
from noface.engine.parts import RunParts
from noface.engine.stations import Patience, Station, Steps, Tick, call
from noface.errors import ForgeAwayError, ForgeError, NofaceError, UsageError
from noface.model.publication import Heard, Notice, Publication
from noface.model.taxonomy import IssueStatus
from noface.process.apart import run_apart
from noface.process.clock import Clock
from noface.process.command import Canceller
from noface.process.failpoints import hit
from noface.recovery.polling import Asked, Pace, answered, away_until, refused
from noface.recovery.said import ASKING, AT_WORK, Standing, digest, notice_of
from noface.recovery.tracker_round import Candidate, Round, next_round
from noface.remote.proposing import clean
from noface.remote.tracker_answers import Listener
from noface.trackers.base import RemoteTracker

FIRST_COPY_S = 600.0
"""How long a run waits for its first copy of the issues: 5,000 of them take about a minute."""
FIRST_LOOK_S = 60.0
"""How long a run that has a copy waits at its beginning for a newer one."""


@dataclass(slots=True)
class RemoteIssues:
    """A tracker on another machine. `fetched` came of the fetch before the run, `away` tells why nothing did."""

    tracker: RemoteTracker
    name: str
    lock: threading.Lock = field(default_factory=threading.Lock)
    fetched: Asked | None = None
    away: ForgeAwayError | None = None


@dataclass(slots=True)
class RoundEnd:
    """What came of a round. What it did not come to is None; `marked` is the newest comment at an issue, by its id.

    `before` was written before a question was put. `error` ended it.
    """

    changed: bool | None = None
    marked: dict[str, int] | None = None
    placed: list[tuple[Notice, int | None]] = field(default_factory=list)
    refused: list[tuple[Notice, ForgeError]] = field(default_factory=list)
    before: tuple[Heard, ...] = ()
    heard: tuple[Heard, ...] = ()
    error: ForgeError | None = None


def carry_out(remote: RemoteIssues, due: Round, _cancel: Canceller) -> RoundEnd:
    """Make the calls of a round; what one issue is refused keeps nobody from the others."""
    end, tracker = RoundEnd(), remote.tracker
    with remote.lock:
        try:
            if due.refresh:
                end.changed = tracker.refresh()
            if due.marks:
                ids = [standing.issue_id for standing in due.marks]
                before = end.before = tracker.hear(ids, due.after)
                known = {issue_id: due.after.get(issue_id, 0) for issue_id in ids}
                end.marked = {
                    name: max([at, *(h.id for h in before if h.issue_id == name and not h.label)])
                    for name, at in known.items()
                }
            for notice, comment in due.says:
                _say(tracker, notice, comment, end)
            if due.hears:
                end.heard = tracker.hear(due.hears, due.after)
        except ForgeError as error:
            end.error = error
    return end


def _say(tracker: RemoteTracker, notice: Notice, comment: int | None, end: RoundEnd) -> None:
    try:
        comment = tracker.say(notice, comment)
    except ForgeAwayError:
        raise
    except ForgeError as error:
        end.refused.append((notice, error))
        return
    hit("tracker_told")
    end.placed.append((notice, comment))


def fetch_first(remote: RemoteIssues, clock: Clock, outage_max_s: float, tell: Callable[[str], None]) -> None:
    """Bring the copy up to date before a run, which goes on with an old one if the tracker is away.

    Raises NofaceError if that lasts too long, and ForgeError if the tracker refuses.
    """
    copied, began, announced = has_copy(remote.tracker), clock.now(), False
    while True:
        away = _fetched_once(remote, clock, FIRST_LOOK_S if copied else FIRST_COPY_S)
        if away is None or copied:
            return
        until = max(away.until, clock.now() + _AGAIN_S)
        if until > began + outage_max_s:
            raise NofaceError(
                f"there is no copy of the issues yet, and they cannot be fetched: {away.message}", _NO_COPY
            )
        if not announced:
            tell(f"There is no copy of the issues yet, and they cannot be fetched now: {away.message} Waiting.")
            announced = True
        clock.sleep(until - clock.now())


def _fetched_once(remote: RemoteIssues, clock: Clock, seconds: float) -> ForgeAwayError | None:
    def refresh() -> None:
        with remote.lock:
            remote.tracker.refresh()

    try:
        error = run_apart(refresh, "remote").exception(seconds)
    except TimeoutError:
        error = ForgeAwayError(f"it has not answered within {seconds:.0f} s", clock.now() + seconds)
    if error is None:
        remote.fetched, remote.away = answered(None, clock.now(), changed=False), None
        return None
    if not isinstance(error, ForgeAwayError):
        raise error
    remote.fetched, remote.away = refused(None, clock.now(), error.until), error
    return error


_AGAIN_S = 5.0
_NO_COPY = "Try again once the host answers: noface run"


def has_copy(tracker: RemoteTracker) -> bool:
    try:
        tracker.backlog()
    except UsageError:
        return False
    return True


BEGINNING_S = 30.0
"""How long a run waits at its beginning for what people have answered since the last one."""
ENDING_S = 60.0
"""How long it takes at its end for the last words; the next run says the rest. A host may want a second for each."""
_REFUSED_AGAIN_S = 600.0


class TrackerSync(Station):
    """What a run does with a tracker on another machine."""

    first_s, last_s = BEGINNING_S, ENDING_S

    def __init__(self, run: RunParts, remote: RemoteIssues, listener: Listener) -> None:
        self._context, self._listener = run.context, listener
        self._remote, self._publications = remote, run.context.publications
        self._pace = Pace(run.context.settings.config.github.poll)
        self._outage = Outage(run.context.clock, (self._pace.base_s / 2,), (_REFUSED_AGAIN_S,), self._tell)
        self._refused: dict[str, str] = {}
        self._read: tuple[int, list[Candidate], dict[str, int]] | None = None
        self._heard = self._pressing = self._ends = False
        self._since = self._publications.since(remote.name, run.context.clock.now())
        self._asked = remote.fetched
        self._unread = "" if remote.away is None else remote.away.message
        if remote.away is not None:
            self._failed(remote.away)
        else:
            self._publications.back()

    def stories(self) -> Iterable[Steps[None]]:
        return (self._keep_in_step(),)

    def _keep_in_step(self) -> Steps[None]:
        while True:
            candidates, settled = self._rows()
            candidates = [each for each in candidates if self._refused.get(each.notice.issue_id) != digest(each.notice)]
            now = self._context.clock.now()
            asked = None if self._pressing and away_until([self._asked], now) is None else self._asked
            if due := next_round(
                candidates, asked, self._pace, now, heard=self._heard, last=self._ends, settled=settled
            ):
                end = yield from call(partial(carry_out, self._remote, due), always=True)
                self._record(due, end)
            yield Tick(always=True)

    def ending(self) -> None:
        self._read, self._ends = None, True

    def ended(self) -> None:
        """Tell what could not be said; the next run says it."""
        names = [each.notice.issue_id for each in self._rows()[0] if each.due_at is not None]
        if names:
            self._context.log_event("tracker_unsaid", issues=names)

    def unread(self) -> Patience | None:
        if not self._unread or self._asked is None:
            return None
        return Patience(self._asked.away_until or self._asked.at, self._unread)

    def has_looked(self, since: float) -> bool:
        """True if the issues were read again after a time, or cannot be now; if not, that is done next."""
        asked = self._asked
        if asked is not None and (asked.at >= since or asked.away_until is not None):
            return True
        self._pressing = True
        return False

    def _rows(self) -> tuple[list[Candidate], dict[str, int]]:
        """Return the issues that may have to be told, and the last comment that was heard at each of the others.

        They are read again only when something has happened.
        """
        version = self._context.reader.newest_event()
        if self._read is None or self._read[0] != version:
            candidates = [self._candidate(standing) for standing in self._publications.standings(self._since)]
            open_ones = {each.standing.issue_id for each in candidates}
            listened = self._publications.listened()
            self._read = version, candidates, {name: at for name, at in listened.items() if name not in open_ones}
        return self._read[1], self._read[2]

    def _candidate(self, standing: Standing) -> Candidate:
        standing = replace(standing, pushed=self._context.settings.config.landing.push)
        notice = notice_of(standing, partial(clean, self._context.env))
        if self._ends and notice.state in AT_WORK:
            notice = replace(notice, state=IssueStatus.READY)  # nobody is at work on it once the run has ended
        return Candidate(standing, notice, self._publications.get(standing.issue_id) or Publication(standing.issue_id))

    # What came of it

    def _record(self, due: Round, end: RoundEnd) -> None:
        self._read, self._pressing = None, False
        now = self._context.clock.now()
        for heard in end.before:
            self._listener.act_on(heard, before=True)
        for standing in due.marks:
            if end.marked is not None:
                self._publications.marked(standing.issue_id, standing.question, end.marked[standing.issue_id])
        for notice, comment in end.placed:
            self._publications.commented(now, notice.issue_id, digest(notice), comment)
            hit("tracker_told_recorded")
            if notice.state in ASKING:
                self._asked = Asked(now)  # somebody may answer soon
        for notice, refusal in end.refused:
            self._refused[notice.issue_id] = digest(notice)
            self._outage.refused(refusal, notice.issue_id)
        if end.changed is not None:
            self._unread = ""
            self._asked = answered(self._asked, now, changed=end.changed or bool(end.heard))
        self._heard = self._heard or end.error is None
        for heard in end.heard:
            self._listener.act_on(heard)
        if end.error is not None:
            self._failed(end.error)
            return
        self._publications.back()
        if self._outage.over():
            self._context.log_event("tracker_back")

    def _failed(self, error: ForgeError) -> None:
        self._outage.met(error)
        self._asked = refused(self._asked, self._context.clock.now(), self._outage.until)

    def _tell(self, error: NofaceError, until: float, issue_id: str | None) -> None:
        if passes(error):
            self._publications.away(self._context.clock.now(), error.message)
            self._context.log_event("tracker_away", until=until, why=error.message)
        else:
            self._context.log_event("tracker_refused", issue_id, why=error.message, hint=error.hint)
