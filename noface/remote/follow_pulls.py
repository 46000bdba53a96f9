"""Follows the pull requests that noface opened: what checks, reviewers and others make of them comes back to the loop.

The loop's thread carries out a look in one transaction: a kill leaves all of it or nothing, and the next sees the rest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from operator import attrgetter
from pathlib import Path

from noface.engine.dispatch import configured, decide_and_apply
from noface.engine.landing.waiting import QueueEntry
from noface.engine.lessons import keep_lesson
from noface.engine.outages import Outage
from noface.engine.parts import RunParts
from noface.engine.prompt_context import attempt_directory, history_of
from noface.engine.stations import Patience, Station, Steps, Tick, call
from noface.errors import ForgeAwayError, ForgeError, NofaceError
from noface.forge.github import Forge
from noface.model.codec import encode
from noface.model.history import History
from noface.model.issue import Issue
from noface.model.markdown import plain
from noface.model.pull_request import PullState
from noface.model.request import PersonRequest
from noface.model.taxonomy import FailureKind, IssueStatus
from noface.process.command import Canceller
from noface.process.failpoints import hit
from noface.recovery.options import Configured
from noface.recovery.polling import Asked, Pace, answered, is_due, next_time
from noface.recovery.pull_answers import Reply, after_replies, is_quiet, refusals_of, replies_of
from noface.recovery.pull_rounds import (
    ClosedUnmerged,
    CommittedThere,
    Followed,
    Look,
    Merged,
    Outdated,
    RoundDue,
    StillOpen,
    TakenByPerson,
    WaitsFor,
    is_answered,
    of_another,
    pace_of,
    round_note,
    standing,
    still_open,
)
from noface.recovery.pull_rounds import answered as answered_by
from noface.recovery.requests import closed_request, rounds_request, taken_pull_request
from noface.recovery.review_words import asking, command_of, review_key, unheard, words_of
from noface.recovery.said import ASKING
from noface.remote.proposing import clean
from noface.remote.pull_look import PullReader, PullSnapshot, look_at, say, unreadable
from noface.remote.tracker_answers import Listener
from noface.remote.web_commits import adopt
from noface.secrets.masked_records import masked_record
from noface.store.pull_requests import PullStep

_AT_ONCE_MAX = 10
"""How many pull requests one thread looks at, one after the other."""
_ASKED_AGAIN_MAX = 5
"""How often a pull request is looked at again in vain that GitHub has not found out yet whether it can be merged."""
_SETTLED = (IssueStatus.REVIEW, IssueStatus.BLOCKED)
"""What an issue is while nobody works on it and its pull request decides."""
_FOR_PEOPLE = (WaitsFor.REVIEW, WaitsFor.MERGE, WaitsFor.PERSON)
_DONE_WITH = (IssueStatus.MERGED, IssueStatus.SKIPPED, IssueStatus.EPIC)
"""What an issue is whose pull request decides nothing any more, unless it is merged."""


_MARK = attrgetter("head", "number", "rounds", "attempt")
"""What is the same while a look at a pull request is not out of date."""
_Word = tuple[Followed, str, tuple[Reply, ...], tuple[str, ...]]
"""What is to be said on a pull request: of its newest round, "" if that is said, to those who asked, and who looks."""


@dataclass(slots=True)
class _Seen:
    looks: list[PullSnapshot] = field(default_factory=list)
    words: list[_Word] = field(default_factory=list)
    changed: Mapping[int, float] = field(default_factory=dict)
    error: ForgeError | None = None


class PullFollower(Station):
    """Looks at open pull requests and carries out what comes of it."""

    def __init__(self, run: RunParts, forge: Forge, listener: Listener) -> None:
        self.context, self.jobs, self.queue, self.watch = run.context, run.jobs, run.queue, run.watch
        self.forge, self.listener = forge, listener
        self._asked: dict[str, tuple[str, Asked]] = {}
        self._looks: dict[str, Look] = {}
        self._held: dict[str, PullSnapshot] = {}
        self._listed_at = float("-inf")
        self._changes: Mapping[int, float] = {}
        refused_s = Pace(self.context.settings.config.github.poll).longest_s
        self._outage = Outage(self.context.clock, (0.0,), (refused_s,), self._tell)
        if self.context.forge_away is not None:
            self._outage.met(self.context.forge_away, quietly=True)

    def stories(self) -> Iterable[Steps[None]]:
        """Follow the pull requests; what was held back while its issue was at work is carried out when that ends."""
        return self._release_held(), self._follow()

    def _release_held(self) -> Steps[None]:
        while True:
            yield Tick(always=True)
            for issue_id in self._held.keys() - self.jobs.issues():
                self._carry_out(self._held.pop(issue_id))

    def _follow(self) -> Steps[None]:
        while True:
            yield Tick()
            if (due := self._due()) or self._lists():
                seen = yield from call(partial(self._look, due, tuple(self._notes(due)), self._lists()))
                hit("pull_seen")
                self._record(seen)

    def patience(self, *, once: bool = False) -> Patience | None:
        """Return why a run with nothing else to do goes on for its pull requests, None if it may end.

        Each run looks at all of them at least once, and answers who asked there; with `once` it waits for nothing more.
        """
        now, rules = self.context.clock.now(), self.context.settings.config.landing
        followed = self._followed()
        if not self._is_resting(now) and any(self._last(pull) is None or self._has_word(pull) for pull in followed):
            return Patience(now)
        open_ones = () if once else (pull for pull in followed if pull.state == PullStep.OPEN)
        checked = (pull for pull in open_ones if pull.seen.waits_for not in _FOR_PEOPLE)
        waits = [Patience(p.seen.since + rules.follow_checks, p.seen.told.removeprefix("waits for ")) for p in checked]
        wait = max(waits, key=lambda each: each.until, default=None)
        return wait if wait is not None and wait.until > now else None

    def unread(self) -> Patience | None:
        if not self._outage.failures or not any(self._last(pull) is None for pull in self._followed()):
            return None
        return Patience(self._outage.until, self._outage.reason)

    def _followed(self) -> tuple[Followed, ...]:
        rows = self.context.pulls.rows(PullStep.OPEN, PullStep.CLOSED, PullStep.TAKEN)
        return tuple(row.followed for row in rows if row.number is not None)

    def _of(self, issue_id: str) -> Followed | None:
        return next((pull for pull in self._followed() if pull.issue_id == issue_id), None)

    # Looking

    def _due(self) -> tuple[Followed, ...]:
        now, followed = self.context.clock.now(), self._followed()
        if self._is_resting(now):
            return ()
        poll_s = self.context.settings.config.github.poll
        paced = [(pull, pace_of(pull, followed, poll_s)) for pull in followed]
        due = [
            (0.0 if self._has_news(pull) else next_time(self._last(pull), pace), pull)
            for pull, pace in paced
            if self._has_news(pull) or is_due(self._last(pull), pace, now)
        ]
        due.sort(key=lambda each: (each[0], each[1].number))
        return tuple(pull for _, pull in due[:_AT_ONCE_MAX])

    def _lists(self) -> bool:
        """True if to ask now which pull requests have changed: one list tells of all, however many are open."""
        now = self.context.clock.now()
        due = not self._listed_at <= now < self._listed_at + self.context.settings.config.github.poll
        return due and not self._is_resting(now) and bool(self._followed())

    def _has_news(self, pull: Followed) -> bool:
        last, look = self._last(pull), self._looks.get(pull.issue_id)
        if last is None or look is None:
            return False  # due all the same
        if self._has_word(pull):
            return True
        if self.context.clock.now() < last.at + self.context.settings.config.github.poll:
            return False
        merges = look.pull.mergeable is not None or look.pull.state is not PullState.OPEN
        asks = not merges and look.unchanged < _ASKED_AGAIN_MAX
        return asks or self._changes.get(pull.number, 0.0) > (look.pull.updated_at or float("inf"))

    def _has_word(self, pull: Followed) -> bool:
        """True if somebody there is yet to be answered, of which no list of changes tells."""
        if pull.seen.refused:
            return True
        reviewed = self.context.reader.state(pull.issue_id).status is IssueStatus.REVIEW
        done = reviewed and bool(pull.seen.points) and is_answered(pull)
        return done and any(attempt.number == pull.attempt for attempt in self.context.reader.past(pull.issue_id))

    def _last(self, pull: Followed) -> Asked | None:
        head, asked = self._asked.get(pull.issue_id, ("", None))
        return asked if head == pull.head else None

    def _is_resting(self, now: float) -> bool:
        return self._outage.until > now

    def _notes(self, due: tuple[Followed, ...]) -> list[_Word]:
        notes = []
        for pull in due:
            status = self.context.reader.state(pull.issue_id).status
            reviewed = status is IssueStatus.REVIEW
            note = round_note(pull, blocked=status is IssueStatus.BLOCKED, working=not reviewed)
            replies, reviewers = self._replies(pull) if reviewed else (refusals_of(pull), ())
            note = "" if note == pull.seen.said or (is_quiet(pull) and status is not IssueStatus.BLOCKED) else note
            if replies or reviewers or note:
                notes.append((pull, note, replies, reviewers))
        return notes

    def _replies(self, pull: Followed) -> tuple[tuple[Reply, ...], tuple[str, ...]]:
        past = self.context.reader.past(pull.issue_id)
        last = next((attempt for attempt in past if attempt.number == pull.attempt), None)
        if not pull.seen.points or last is None:
            return refusals_of(pull), ()
        before = next((head for head in reversed(pull.seen.heads) if head != pull.head), "")
        plumbing = self.context.env.plumbing
        known = bool(before) and plumbing.resolve(before) is not None and pull.seen.answered_head != pull.head
        changed = {change.path for change in plumbing.diff(before, pull.head).changes} if known else set(last.changed)
        summary = last.report.summary if last.report is not None else last.last_output
        pushed = pull.seen.answered_head != pull.head
        return replies_of(pull, summary, changed, pushed=pushed, clean=partial(clean, self.context.env))

    def _look(self, due: tuple[Followed, ...], notes: tuple[_Word, ...], lists: bool, cancel: Canceller) -> _Seen:
        context, seen = self.context, _Seen()
        try:
            if lists:
                seen.changed = self.forge.changed()
            env, rules = context.env, context.settings.config.landing
            remote, login = context.remote, self.forge.whoami()
            eyes = PullReader(self.forge, env.plumbing, rules, env.masker, remote, cancel, env.gate_rules, login)
            for pull in due:
                if cancel.cancelled:
                    break
                folder = attempt_directory(context.settings.attempts_dir, pull.issue_id, pull.attempt)
                before = self._looks.get(pull.issue_id)
                try:
                    seen.looks.append(look_at(eyes, pull, before, context.clock.now(), Path(folder) / "checks"))
                except ForgeAwayError:
                    raise
                except ForgeError as error:
                    seen.looks.append(unreadable(pull, error.message))
            for word in notes:
                say(eyes, *word)
                seen.words.append(word)
        except ForgeError as error:
            seen.error = error
        return seen

    def _record(self, seen: _Seen) -> None:
        now = self.context.clock.now()
        if seen.error is not None:
            self._outage.met(seen.error)
        else:
            self._outage.over()
        if seen.changed:
            self._listed_at, self._changes = now, {**self._changes, **seen.changed}
        for looked in seen.looks:
            issue_id = looked.followed.issue_id
            before = self._looks.get(issue_id)
            changed = before is None or replace(before, unchanged=looked.look.unchanged) != looked.look
            self._asked[issue_id] = looked.followed.head, answered(self._last(looked.followed), now, changed=changed)
            self._looks[issue_id] = looked.look
            self._carry_out(looked)
        for followed, note, _, reviewers in seen.words:
            if (pull := self._of(followed.issue_id)) is not None:
                answered_now = bool(reviewers) and is_answered(pull)
                answered_seen = after_replies(pull, note, followed.seen.refused, answered=answered_now)
                self.context.pulls.seen(now, pull.issue_id, seen=encode(answered_seen))

    def _tell(self, error: NofaceError, until: float, _: str | None) -> None:
        self.context.log_event("forge_away", None, until=until, reason=error.message)

    # Carrying out

    def _carry_out(self, looked: PullSnapshot) -> None:
        before = looked.followed
        pull, state = self._of(before.issue_id), self.context.reader.state(before.issue_id)
        if pull is None or _MARK(pull) != _MARK(before):
            return
        if not any(attempt.number == before.attempt for attempt in self.context.reader.past(before.issue_id)):
            if isinstance(looked.decision, TakenByPerson | CommittedThere):
                self.context.pulls.adopted(self.context.clock.now(), pull.issue_id, looked.decision.head)
                return
            looked = replace(looked, decision=of_another(looked.decision))
        looked, state = self._listened(looked), self.context.reader.state(before.issue_id)
        issue, decision = self.watch.issue(before.issue_id), looked.decision
        shown = looked.look.pull.state is PullState.OPEN and not looked.refused
        if issue is not None and issue.id in self.jobs.issues():
            if isinstance(decision, Merged | ClosedUnmerged | TakenByPerson):
                self._held[issue.id] = looked
            if isinstance(decision, Merged):
                for attempt in self.jobs.attempts(issue.id):
                    attempt.cancel.cancel()
            return
        match decision:
            case Merged():
                self._merged(looked, decision)
            case _ if issue is None or state.status in _DONE_WITH:  # or a person has closed it: it is left alone
                self._remember(looked)
            case ClosedUnmerged() if pull.state != PullStep.CLOSED:
                request = closed_request(decision, *self._told_of(issue, looked))
                self._block(looked, decision.reason, request, PullStep.CLOSED)
            case TakenByPerson() if pull.state != PullStep.TAKEN:
                request = taken_pull_request(decision, *self._told_of(issue, looked))
                taken = replace(looked, seen=replace(looked.seen, taken=decision.head))
                self._block(taken, decision.reason, request, PullStep.TAKEN)
            case StillOpen() if state.status in _SETTLED and (pull.state == PullStep.OPEN or shown):
                self._still_open(issue, looked, decision, pull)
            case RoundDue() if state.status is IssueStatus.REVIEW:
                self._round(issue, looked, decision)
            case Outdated() if state.status is IssueStatus.REVIEW:
                self._prove_again(issue, looked, decision)
            case CommittedThere() if state.status in _SETTLED:
                self._go_on(issue, looked, decision)
            case _:
                pass

    def _listened(self, looked: PullSnapshot) -> PullSnapshot:
        issue_id = looked.followed.issue_id
        for review in unheard(looked.look.reviews, looked.seen.answered):
            command = command_of(review)
            if command is None and self.context.reader.state(issue_id).status not in ASKING:
                continue  # it asks for a change: a round answers it
            word, text = command or ("", words_of(review))
            with self.context.questions.together():
                problem = self.listener.obey(issue_id, review.author, word, text, review.url)
                key, refused = review_key(review), looked.seen.refused
                if problem:
                    note = f"@{review.author} **Not done:** {plain(clean(self.context.env, problem))}"
                    refused = (*refused, (key, note))
                seen = replace(looked.seen, answered=(*looked.seen.answered, key), refused=refused)
                self.context.pulls.seen(self.context.clock.now(), issue_id, seen=encode(seen))
            looked = replace(looked, seen=seen)
        return looked

    def _merged(self, looked: PullSnapshot, merged: Merged) -> None:
        context, before = self.context, looked.followed
        now = context.clock.now()
        with self.context.questions.together():
            self._remember(looked)
            self.context.pulls.merged(now, before.issue_id, merged.commit)
        hit("pull_merged")
        self.queue.drop(before.issue_id)
        issue = self.watch.issue(before.issue_id)
        if issue is not None:
            keep_lesson(context, issue)
        context.backlog_stale = True

    def _still_open(self, issue: Issue, looked: PullSnapshot, decision: StillOpen, pull: Followed) -> None:
        """Record what it waits for; one that was closed, or a person's, and is not any more goes on."""
        context, now = self.context, self.context.clock.now()
        seen = still_open(looked.seen, decision, looked.look.checks, now)
        state = context.reader.state(issue.id)
        # What a person was asked about is gone: the checks have passed after all, and nobody asks more.
        mended = decision.waits_for in (WaitsFor.REVIEW, WaitsFor.MERGE) and not asking(looked.look.reviews, ())
        mended = mended and looked.followed.seen.answered_head == looked.followed.head
        with self.context.questions.together():
            if pull.state != PullStep.OPEN:
                self.context.pulls.opened(now, issue.id, looked.look.pull, ", again")
            elif state.reason != decision.reason and (state.status is IssueStatus.REVIEW or mended):
                context.set_status(issue.id, IssueStatus.REVIEW, decision.reason)
            if (seen, standing(looked.look.checks)) != (pull.seen, pull.checks):
                self.context.pulls.seen(now, issue.id, seen=encode(seen), checks=standing(looked.look.checks))

    def _remember(self, looked: PullSnapshot, *, rounds: int = -1, checks: str = "") -> None:
        seen = encode(looked.seen)
        self.context.pulls.seen(
            self.context.clock.now(), looked.followed.issue_id, seen=seen, checks=checks, rounds=rounds
        )

    def _told_of(self, issue: Issue, looked: PullSnapshot) -> tuple[Issue, Followed, History, Configured]:
        context = self.context
        masked = masked_record(issue, context.env.masker)
        return masked, looked.followed, history_of(context, issue), configured(context, issue)

    def _block(self, looked: PullSnapshot, reason: str, request: PersonRequest, step: PullStep) -> None:
        now, issue_id = self.context.clock.now(), looked.followed.issue_id
        with self.context.questions.together():
            self._remember(looked)
            self.context.pulls.ended(now, issue_id, step)
            self.context.journal.blocked(now, issue_id, reason, request)
        hit("pull_blocked")
        self.queue.drop(issue_id)

    def _round(self, issue: Issue, looked: PullSnapshot, due: RoundDue) -> None:
        """Answer what is due as a failure of the attempt whose work it is about, or ask a person."""
        context, before, failure = self.context, looked.followed, looked.failure
        assert failure is not None  # noqa: S101  # a look that finds a round due has read its evidence
        now, rounds = context.clock.now(), before.rounds + (due.allowed and not due.asks_only)
        after = replace(looked, seen=answered_by(looked.seen, due, before.head, before.attempt))
        with self.context.questions.together():
            self._remember(after, rounds=rounds, checks=standing(looked.look.checks))
            context.journal.attempt_overruled(now, issue.id, before.attempt, failure)
            if due.allowed:
                context.journal.status(now, issue.id, IssueStatus.READY, due.reason)
            else:
                # One whose cause lies outside would lift itself.
                kind = FailureKind.REVIEW_REJECTED if failure.kind.category.external else failure.kind
                request = rounds_request(due, kind, *self._told_of(issue, looked))
                context.journal.blocked(now, issue.id, due.reason, request)
        hit("round_recorded")
        if due.allowed:
            decide_and_apply(context, self.queue, issue)

    def _go_on(self, issue: Issue, looked: PullSnapshot, decision: CommittedThere) -> None:
        """Take what people have committed by the forge's pages as part of the work, and prove it where that waits."""
        context, now, number = self.context, self.context.clock.now(), looked.followed.attempt
        adopt(context, issue, number, decision.head)
        proves = context.reader.state(issue.id).status is IssueStatus.REVIEW
        with context.questions.together():
            self._remember(looked)
            context.pulls.adopted(now, issue.id, decision.head)
            if proves:
                context.set_status(issue.id, IssueStatus.LANDING, decision.reason)
        if proves:
            self.queue.add(QueueEntry(issue, number, decision.head))

    def _prove_again(self, issue: Issue, looked: PullSnapshot, decision: Outdated) -> None:
        context, before = self.context, looked.followed
        past = context.reader.past(issue.id)
        candidate = next((attempt.candidate for attempt in past if attempt.number == before.attempt), None)
        if candidate is None:
            return
        context.set_status(issue.id, IssueStatus.LANDING, decision.reason)
        self.queue.add(QueueEntry(issue, before.attempt, candidate))
