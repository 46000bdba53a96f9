"""Calls to a tracker on another machine: in threads, one at a time, each of which may be repeated after a kill."""

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from noface.errors import ForgeAwayError, ForgeError, NofaceError, UsageError
from noface.model.publication import Heard, Notice
from noface.process.clock import Clock
from noface.process.command import Canceller
from noface.process.failpoints import hit
from noface.recovery.polling import Asked, answered, refused
from noface.recovery.tracker_round import Round
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
    outcome: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()

    def refresh() -> None:
        try:
            with remote.lock:
                remote.tracker.refresh()
        except BaseException as error:  # noqa: BLE001 - raised by whoever waits
            outcome.put(error)
        else:
            outcome.put(None)

    threading.Thread(target=refresh, name="remote", daemon=True).start()
    try:
        error = outcome.get(timeout=seconds)
    except queue.Empty:
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
