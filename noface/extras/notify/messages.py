"""What is told, and when: pure, of the journal's events, of what waits for a person, and of the clock.

The events are all the record there is of what has to be told: whoever is told has a cursor in them. What waits is read
when a message is made, so one that comes late tells how things are then, in the words of `noface blocked`.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta

from noface.extras.notify.services import Message
from noface.store.records import EventRow, IssueRow
from noface.ui.blocked import blocked_document
from noface.ui.blocked_page import blocked_page
from noface.ui.narrate import EventFacts, printable, words
from noface.ui.text import count

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
    room = _BODY_CHARS_MAX - sum(map(len, answers))
    text = _cut("\n".join(body), room)
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
