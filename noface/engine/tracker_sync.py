"""Keeps the backlog and its tracker on another machine in step while a run works.

Threads make the calls; the loop's thread decides what is due, and records what came of it. Nothing waits in a queue to
be sent: what is to be said is what the rows say now, compared with what was said last. So nothing is lost while the
tracker is away, and a kill between a call and its record repeats the call, which changes nothing (law 7).
"""

import queue
import time
from collections.abc import Callable
from dataclasses import replace

from noface.engine.claims import ClaimKeeper
from noface.engine.context import RunContext
from noface.engine.jobs import Job, JobKind, Jobs
from noface.engine.places import clean
from noface.engine.tracker_answers import Listener
from noface.engine.tracker_calls import RemoteIssues, RoundEnd, carry_out
from noface.errors import ForgeAwayError, ForgeError
from noface.model.taxonomy import IssueStatus
from noface.process.command import Canceller
from noface.process.failpoints import hit
from noface.recovery.polling import Asked, Pace, answered, away_until, refused
from noface.recovery.said import ASKING, AT_WORK, Standing, digest, said_of
from noface.recovery.tracker_round import Candidate, Round, Told, next_round

BEGINNING_S = 30.0
"""How long a run waits at its beginning for what people have answered since the last one."""
ENDING_S = 60.0
"""How long it takes at its end for the last words; the next run says the rest. A host may want a second for each."""
_REFUSED_AGAIN_S = 600.0


class TrackerSync:
    """What a run does with a tracker on another machine; nothing at all where it has none. For the loop's thread."""

    def __init__(self, context: RunContext, jobs: Jobs, claims: ClaimKeeper, listener: Listener) -> None:
        self._context = context
        self._listener = listener
        self._claims = claims
        self._jobs = jobs
        self._remote: RemoteIssues | None = context.remote_issues
        self._pace = Pace(context.settings.landing.poll_s)
        self._job: Job[RoundEnd] | None = None
        self._refused: dict[str, str] = {}
        self._remedies: set[str] = set()
        self._read: tuple[int, list[Candidate], dict[str, int]] | None = None
        self._asked: Asked | None = None
        self._heard = self._told_away = self._pressing = self._ends = False
        self._unread = ""
        self._publications = context.publications
        if self._remote is None:
            self._publications.back()  # it was another one that was away
            return
        self._since = self._publications.since(self._remote.name, context.clock.now())
        self._asked = self._remote.fetched
        self._unread = "" if self._remote.away is None else self._remote.away.message
        if self._remote.away is not None:
            self._away(self._remote.away)
        else:
            self._publications.back()

    def step(self, *, last: bool = False) -> bool:
        """Begin what is due; tell whether calls are under way."""
        remote = self._remote
        if remote is None or self._job is not None:
            return self._job is not None
        due = self._due(last=last)
        if not due:
            return False

        def run(_cancel: Canceller) -> RoundEnd:
            return carry_out(remote, due)

        self._job = self._jobs.start(Job(JobKind.REMOTE, "", run, lambda job: self._ended(due, job)))
        return True

    def settle(self, heed: Callable[[object], bool], seconds: float, *, last: bool = False) -> None:
        """Make the calls that are due, and wait for them, at most so long.

        `heed` gets the messages meanwhile; where it returns True, nothing more is waited for.
        """
        deadline = time.monotonic() + seconds
        while self.step(last=last):
            try:
                if heed(self._context.inbox.get(timeout=max(0.0, deadline - time.monotonic()))):
                    break
            except queue.Empty:
                break

    def last_words(self, heed: Callable[[object], bool]) -> None:
        """Say at the end of a run how everything stands; what cannot be said now is announced."""
        if self._remote is None:
            return
        self._read, self._ends = None, True
        self.settle(heed, ENDING_S, last=True)
        unsaid = [each for each in self._candidates() if each.due_at is not None and not each.standing.elsewhere]
        names = [each.said.issue_id for each in unsaid if each.said.issue_id not in self._claims.elsewhere]
        if names:
            self._context.log_event("tracker_unsaid", issues=names)

    def unread(self) -> tuple[float, str] | None:
        """Return until when the tracker is away, and why, as long as this run has not read what is new there."""
        if not self._unread or self._asked is None:
            return None
        return self._asked.away_until or self._asked.at, self._unread

    def has_looked(self, since: float) -> bool:
        """Tell whether the issues were read again after a time, or cannot be now; where not, that is done next."""
        asked = self._asked
        if self._remote is None or (asked is not None and (asked.at >= since or asked.away_until is not None)):
            return True
        self._pressing = True
        return False

    def _due(self, *, last: bool) -> Round:
        elsewhere = self._claims.elsewhere
        candidates = [
            each
            for each in self._candidates()
            if each.said.issue_id not in elsewhere
            and not each.standing.elsewhere
            and self._refused.get(each.said.issue_id) != digest(each.said)
        ]
        now = self._context.clock.now()
        asked = None if self._pressing and away_until([self._asked], now) is None else self._asked
        settled = {issue_id: at for issue_id, at in self._settled().items() if issue_id not in elsewhere}
        return next_round(candidates, asked, self._pace, now, heard=self._heard, last=last, settled=settled)

    def _candidates(self) -> list[Candidate]:
        """Return the issues that may have to be told; they are read again only when something has happened."""
        return self._rows()[0]

    def _settled(self) -> dict[str, int]:
        """Return the issues of which nothing is to be said, with the last comment that was heard at each."""
        return self._rows()[1]

    def _rows(self) -> tuple[list[Candidate], dict[str, int]]:
        version = self._publications.version()
        if self._read is None or self._read[0] != version:
            candidates = [self._candidate(standing) for standing in self._publications.standings(self._since)]
            open_ones = {each.standing.issue_id for each in candidates}
            listened = self._publications.listened()
            self._read = version, candidates, {name: at for name, at in listened.items() if name not in open_ones}
        return self._read[1], self._read[2]

    def _candidate(self, standing: Standing) -> Candidate:
        asks_any = self._remote is not None and self._remote.any_answer
        standing = replace(standing, pushed=self._context.settings.landing.push, any_answer=asks_any)
        known, said = self._publications.get(standing.issue_id), said_of(standing, self._clean)
        if self._ends and said.state in AT_WORK:
            said = replace(said, state=IssueStatus.READY)  # nobody is at work on it once the run has ended
        if known is None:
            return Candidate(standing, said)
        heard = known.heard
        told = Told(known.digest, known.at, known.comment, heard.after, heard.question, heard.listens)
        return Candidate(standing, said, told)

    def _clean(self, text: str) -> str:
        """Take secrets out of a text, and where this machine keeps the project."""
        return clean(self._context.env, text)

    # What came of it

    def _ended(self, due: Round, job: Job[RoundEnd]) -> None:
        self._job, self._read, self._pressing = None, None, False
        end = job.result
        if end is None:
            return  # noface itself broke, and the loop ends the run
        now = self._context.clock.now()
        deaf = {each.issue_id for each in due.marks if not self._listens(each.issue_id)}
        for heard in end.before:
            if heard.issue_id not in deaf:
                self._listener.act_on(heard, before=True)
        for standing in due.marks:
            if end.marked is not None:
                self._publications.marked(standing.issue_id, standing.question, end.marked[standing.issue_id])
        for said, comment in end.said:
            self._publications.said(now, said.issue_id, digest(said), comment)
            hit("tracker_told_recorded")
            if said.state in ASKING:
                self._asked = Asked(now)  # somebody may answer soon
        for said, refusal in end.refused:
            self._refused[said.issue_id] = digest(said)
            self._tell_refusal(refusal, said.issue_id)
        if end.changed is not None:
            self._unread = ""
            self._asked = answered(self._asked, now, changed=end.changed or bool(end.heard))
        self._heard = self._heard or end.error is None
        for heard in end.heard:
            self._listener.act_on(heard)
        if isinstance(end.error, ForgeAwayError):
            self._away(end.error)
        elif end.error is not None:
            self._tell_refusal(end.error, None)
            self._asked = refused(self._asked, now, now + _REFUSED_AGAIN_S)
        else:
            self._back()

    def _listens(self, issue_id: str) -> bool:
        """Tell whether what was written to noface was heard so far."""
        known = self._publications.get(issue_id)
        return known is not None and known.heard.listens

    def _back(self) -> None:
        """Remember that the tracker answers; told where it was told to be away."""
        self._publications.back()
        if self._told_away:
            self._told_away = False
            self._context.log_event("tracker_back")

    def _away(self, error: ForgeAwayError) -> None:
        """Ask no more until the tracker is back; told once, and not at each try."""
        now = self._context.clock.now()
        until = max(error.until, now + self._pace.base_s / 2)
        self._asked = refused(self._asked, now, until)
        if not self._told_away:
            self._told_away = True
            self._publications.away(now, error.message)
            self._context.log_event("tracker_away", until=until, why=error.message)

    def _tell_refusal(self, error: ForgeError, issue_id: str | None) -> None:
        """Tell what a person has to change at the tracker; once, however many calls need it."""
        remedy = error.hint or error.message
        if remedy not in self._remedies:
            self._remedies.add(remedy)
            self._context.log_event("tracker_refused", issue_id, why=error.message, hint=error.hint)
