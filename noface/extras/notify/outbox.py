"""Tells people what happens in a run, by the services of `[notify]` and by `on_event`.

Each has a story of its own, so that one that does not answer holds up no other, and the loop none of them. Its cursor
in the events moves once a message was taken: a kill in between repeats that one message, and loses none.
"""

import hashlib
import json
import secrets
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from noface.engine.context import RunContext
from noface.engine.outages import PUSH_PAUSES_S, Outage
from noface.engine.stations import Station, Steps, Tick, call
from noface.errors import NofaceError, RemoteError
from noface.extras.notify.services import MAIL, NTFY, TELEGRAM, Message, Service, carry_out, deliver
from noface.model.codec import encode
from noface.process.apart import run_apart
from noface.process.failpoints import hit
from noface.process.fed import end_all, run_fed
from noface.store.overview import NOTIFY_AWAY
from noface.store.records import EventRow, IssueRow
from noface.ui.blocked import blocked_document
from noface.ui.blocked_page import blocked_page
from noface.ui.narrate import EventFacts, printable, words
from noface.ui.text import count

CODE_CHARS = 10
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # without those that look alike
_FACT = "answer_codes"
_KEPT_MAX = 500


class Codes:
    """Makes codes and takes them; each change is part of the caller's transaction, or one of its own."""

    def __init__(self, context: RunContext) -> None:
        self._context = context

    def new(self, row: IssueRow) -> str:
        code = "".join(secrets.choice(_LETTERS) for _ in range(CODE_CHARS))
        self._write({**self._known(), _digest(code): [row.id, *self._mark(row)]})
        return code

    def take(self, code: str) -> tuple[IssueRow | None, str]:
        """Return the issue that a code stands for, or why it cannot be answered by it; the code is used up."""
        known = self._known()
        issue_id, *mark = known.get(_digest(code), [""])
        row = self._context.reader.issue(str(issue_id)) if issue_id else None
        if row is None:
            return None, "there is no such code"
        if not mark:
            return None, f"that was answered already: {row.id} is {row.status}"
        self._write({**known, _digest(code): [issue_id]})
        if mark != self._mark(row):
            return None, f"{row.id} has gone on since: it is {row.status}"
        return row, ""

    def _mark(self, row: IssueRow) -> list[object]:
        return [row.status, row.epoch, self._context.reader.next_number(row.id)]

    def _known(self) -> dict[str, list[object]]:
        known: dict[str, list[object]] = json.loads(self._context.reader.fact(_FACT) or "{}")
        return known

    def _write(self, codes: Mapping[str, list[object]]) -> None:
        self._context.journal.fact(_FACT, json.dumps(dict([*codes.items()][-_KEPT_MAX:])))


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


TOPICS = ("issue_blocked", "issue_approval", "overage_asked", "provider_away", "main_red", "run_ended")
"""The events that are told."""
DIGEST_S = 300.0
"""One message in this time at most: what happens meanwhile is told together."""
_WIDTH = 72
_BODY_CHARS_MAX = 3000
"""ntfy takes 4,096 bytes, Telegram as many characters."""
_CODED_MAX = 8


def due(events: Iterable[EventRow], cursor: int, sent_at: float, now: float, *, final: bool = False) -> list[EventRow]:
    """Return what one message has to tell now: all since the cursor, nothing while it is too early for a message."""
    new = [event for event in events if event.id > cursor and event.kind in TOPICS]
    gathering = sent_at <= now < sent_at + DIGEST_S  # a clock that was set back waits for nothing
    return new if final or not gathering else []


def quiet_until(hours: str, here: datetime) -> float | None:
    """Return when the quiet hours end in which it is `here` (local time), None if nobody sleeps."""
    if not hours:
        return None
    start, end = (datetime.strptime(each, "%H:%M").time() for each in hours.split("-"))  # noqa: DTZ007 - of a clock
    clock = here.time()
    if not (start <= clock < end if start < end else clock >= start or clock < end):
        return None
    return (datetime.combine(here.date(), end, here.tzinfo) + timedelta(days=end <= clock)).timestamp()


def waiting_of_events(events: Iterable[EventRow], rows: Iterable[IssueRow]) -> list[IssueRow]:
    named = {event.issue_id for event in events if event.issue_id}
    return [row for row in rows if row.id in named and row.status in ("blocked", "approval")]


def message(
    project: str,
    events: Sequence[EventRow],
    rows: Sequence[IssueRow],
    landed: int = 0,
    code: Callable[[IssueRow], str] | None = None,
) -> Message | None:
    """Return the message that tells of events, None if nothing of them is true any more."""
    lines = _lines((event for event in events if not event.issue_id), landed)
    if not lines and not rows:
        return None
    many = f"{count(len(rows), 'issue')} {'needs' if len(rows) == 1 else 'need'} you" if rows else ""
    ended = any(event.kind == "run_ended" for event in events)
    title = f"{project}: {', '.join(filter(None, ('the run has ended' if ended else '', many)))}".removesuffix(": ")
    body, answers, buttons = list(lines), list[str](), list[tuple[str, str]]()
    for row in rows[:_CODED_MAX]:
        if code is None:
            break
        secret, verbs = code(row), (*(("approve",) if row.takes_yes else ()), "retry", "skip")
        answers.append(f"{printable(row.id)}: {secret} and {', '.join(verbs[:-1])} or {verbs[-1]}, or your words")
        buttons += [(verb.capitalize() + (f" {row.id}" if len(rows) > 1 else ""), f"{secret} {verb}") for verb in verbs]
    if rows:
        body += [*([""] if body else []), *blocked_page(blocked_document(rows, ()), _WIDTH)]
    text = _cut("\n".join(body), _BODY_CHARS_MAX - sum(map(len, answers)))
    if answers:
        text += "\n\nTo answer, write\n" + "\n".join(answers)
    return Message(title, text, tuple(buttons))


def _lines(events: Iterable[EventRow], landed: int) -> list[str]:
    lines: dict[str, float] = {}
    for event in events:
        line = words(event.kind, EventFacts("", "", event.data, event.at))
        ended = f"{landed} landed; {event.data.get('why')}" if event.kind == "run_ended" else ""
        lines[printable(ended or event.data.get("text") or (line.text if line is not None else event.kind))] = event.at
    return [f"{time.strftime('%H:%M', time.localtime(at))} {text}" for text, at in lines.items()]


def _cut(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    return f"{text[:room].rpartition(chr(10))[0]}\n… all of it: noface blocked"


ON_EVENT_SECONDS_MAX = 30.0
LAST_WORDS_S = 10.0
_HUSHED = (*NTFY, TELEGRAM, *MAIL)
"""Services that can bring a message without waking anybody."""


@dataclass(slots=True, eq=False)
class Destination:
    """Who is told: a service, or with None `on_event`. `cursor` is the last event that it knows of."""

    service: Service | None
    outage: Outage
    cursor: int
    sent_at: float = 0.0
    under_way: bool = False

    @property
    def name(self) -> str:
        return self.service.name if self.service is not None else "on_event"

    @property
    def fact(self) -> str:
        return f"notify:{self.service.key if self.service is not None else 'on_event'}"


Sending = tuple[Callable[[], str | None], int]
"""What is to be done in a thread, which returns what is wrong with it though it is done; and the cursor then."""


class Outbox(Station):
    """Sends what is due; `answers` are the services from which answers come."""

    last_s = LAST_WORDS_S

    def __init__(
        self, context: RunContext, quiet_hours: str, urls: Iterable[Service], answers: Iterable[Service], on_event: str
    ) -> None:
        self._context, self._quiet_hours, self._on_event = context, quiet_hours, on_event
        self.answers = tuple(answers)
        self.codes = Codes(context)
        self._root = context.env.plumbing.repository.root
        self._events: list[EventRow] = []
        self._ending = False
        services: list[Service | None] = [*urls, *([None] if on_event else [])]
        before = self._began = context.reader.newest_event()
        self.destinations = [self._destination(service, before) for service in services]
        self._read = min((each.cursor for each in self.destinations), default=before)

    def _destination(self, service: Service | None, before: int) -> Destination:
        made = Destination(service, Outage(self._context.clock, PUSH_PAUSES_S, PUSH_PAUSES_S), before)
        made.outage.tell = lambda error, _until, _issue_id: self.away(made.name, error)
        made.cursor = int(self._context.reader.fact(made.fact) or before)
        self._context.journal.fact(made.fact, str(made.cursor))  # a kill before the first message must not lose it
        return made

    def stories(self) -> Iterable[Steps[None]]:
        return [self._tell(each) for each in self.destinations]

    def ending(self) -> None:
        self._ending = True

    def _tell(self, to: Destination) -> Steps[None]:
        while True:
            yield Tick()
            if self._ending or self._context.clock.now() < to.outage.until:
                continue
            sending = self._due(to)
            if sending is None:
                continue
            to.under_way = True
            try:
                problem = yield from call(partial(carry_out, to.name, sending[0]))
            except RemoteError as error:
                to.outage.met(error)
            else:
                self._sent(to, sending, problem)
            finally:
                to.under_way = False

    def last_words(self) -> None:
        """Send what is due once the run has ended, for a bounded time; the next run sends what is left."""
        deadline = time.monotonic() + LAST_WORDS_S
        open_: dict[Future[str | None], tuple[Destination, Sending]] = {}
        idle = [each for each in self.destinations if not each.under_way]
        while True:
            for to in tuple(idle):
                idle.remove(to)
                if (sending := self._due(to, final=True)) is not None:
                    open_[run_apart(partial(carry_out, to.name, sending[0]), "remote")] = to, sending
            done, _ = wait(open_, max(0.0, deadline - time.monotonic()), FIRST_COMPLETED) if open_ else (set(), set())
            if not done:
                end_all()
                return
            for future in done:
                to, sending = open_.pop(future)
                error = future.exception()
                if isinstance(error, RemoteError):
                    to.outage.met(error)
                elif error is None:
                    self._sent(to, sending, future.result())
                    idle.append(to)

    def _due(self, to: Destination, *, final: bool = False) -> Sending | None:
        if new := self._context.reader.events_after(self._read, TOPICS):
            self._events += new
            self._read = new[-1].id
        now = self._context.clock.now()
        if to.service is None:
            events = due(self._events, to.cursor, 0.0, now, final=True)
            if not events:
                return None
            event = events[0]
            about = {"at": event.at, "event": event.kind, "issue": event.issue_id, **event.data}
            return partial(run_on_event, self._on_event, about), event.id
        quiet = quiet_until(self._quiet_hours, datetime.fromtimestamp(now).astimezone())
        if quiet is not None and not (final and to.service.scheme in _HUSHED):
            return None
        events = due(self._events, to.cursor, to.sent_at, now, final=final)
        made = self._message(to.service, events) if events else None
        if made is None:
            to.cursor = max([to.cursor, *(event.id for event in events)])
            return None
        hushed = replace(made, quiet_until=quiet)
        return partial(deliver, to.service, hushed, self._answers_of(to.service)), events[-1].id

    def _message(self, service: Service, events: list[EventRow]) -> Message | None:
        reader, masker = self._context.reader, self._context.env.masker
        away = reader.waits()
        standing = [e for e in events if e.kind != "provider_away" or str(e.data.get("model")) in away]
        rows = waiting_of_events(events, reader.waiting_for_a_person())
        code: Callable[[IssueRow], str] | None = self.codes.new if self._answers_of(service) is not None else None
        landed = len(reader.events_after(self._began, ("issue_merged",)))
        made = message(self._root.name, standing, rows, landed, code)
        return replace(made, title=masker.text(made.title), body=masker.text(made.body)) if made is not None else None

    def _answers_of(self, service: Service) -> Service | None:
        kind = NTFY if service.scheme in NTFY else (service.scheme,)
        return next((each for each in self.answers if each.scheme in kind), None)

    def of_kind(self, schemes: Collection[str]) -> Service | None:
        services = (each.service for each in self.destinations)
        return next((each for each in services if each and each.scheme in schemes), None)

    def _sent(self, to: Destination, sending: Sending, problem: str | None) -> None:
        hit("message_sent")
        to.cursor, to.sent_at = sending[1], self._context.clock.now()
        self._context.journal.fact(to.fact, str(to.cursor))
        to.outage.over()
        known = any(each.service == to.name for each in self._context.reader.notify_away())
        if bool(problem) != known:
            self.away(to.name, RemoteError(problem) if problem else None)

    def away(self, name: str, error: NofaceError | None) -> None:
        """Keep for whoever looks that a service takes nothing, or with None that it does again."""
        known = {each.service: each for each in self._context.reader.notify_away()}
        known.pop(name, None)
        entries = [each._asdict() for each in known.values()]
        if error is not None:
            why = self._context.env.masker.text(error.message)
            entries.append({"service": name, "since": self._context.clock.now(), "why": why})
            self._context.announce("notify_away", None, {"service": name, "why": why})
        self._context.journal.fact(NOTIFY_AWAY, json.dumps(entries))


def run_on_event(command: str, event: Mapping[str, object]) -> str | None:
    """Run `on_event` on an event; return how it failed, which keeps nobody from anything."""
    document = json.dumps(encode({"schema": 1, **event}))
    code, _ = run_fed(("/bin/sh", "-c", command), document, ON_EVENT_SECONDS_MAX, quiet=True)
    how = f"exit code {code}" if code is not None else f"it took more than {ON_EVENT_SECONDS_MAX:g} s"
    return f"on_event: {how}" if code != 0 else None
